//! The round trip from the latency spin bit (RFC 9000, section 17.4; RFC 9312, section 3.8.2).
//!
//! The server echoes the bit, and the client inverts it. So each direction has an edge once a round trip, as long as there
//! is something to send.

use connection::memory::{Room, reserve};
use units::{Duration, Time};

/// The most samples that are kept. When they are full, every second one is dropped, and half as many of the later ones are
/// kept.
const MAX_SAMPLES: usize = 512;

/// The number of samples that stay when memory is short.
const MIN_SAMPLES: usize = 16;

/// An edge that follows another within less than one part in this many of the round trip is due to reordering.
const REORDERING_DIVISOR: u64 = 4;

/// With fewer samples, the round trip is unknown.
const MIN_TELLING_SAMPLES: u64 = 2;

/// The bit of one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    value: Option<bool>,
    /// The time of its last edge.
    edge: Option<Time>,
    packets: u64,
    flips: u64,
}

/// The spin bits of a connection.
#[derive(Debug, Clone, Default)]
pub struct Spin {
    ways: [Way; 2],
    /// Round trips from both directions.
    samples: Vec<Duration>,
    every: u64,
    accepted: u64,
    rejected: u64,
    /// The time from an edge in one direction to the edge that it causes in the other: to the server and back, and to the
    /// client and back.
    halves: [Option<Duration>; 2],
    mean: Option<Duration>,
}

/// The round trips that the bits show.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Round trips, sorted.
    pub sorted: Vec<Duration>,
    /// The number of round trips.
    pub count: u64,
    /// The least round-trip times from the capture to the server, and to the client.
    pub halves: [Option<Duration>; 2],
}

impl Spin {
    /// Takes in a packet of this side (0: the client). `handshake` is the handshake's round trip.
    #[inline]
    pub fn on_packet(
        &mut self,
        at: Time,
        side: usize,
        value: bool,
        handshake: Option<Duration>,
        room: Room,
    ) {
        let way = &mut self.ways[side];
        way.packets += 1;
        let before = way.value.replace(value);
        if before.is_some_and(|before| before != value) {
            way.flips += 1;
            self.on_edge(at, side, handshake, room);
        }
    }

    fn on_edge(&mut self, at: Time, side: usize, handshake: Option<Duration>, room: Room) {
        let edge = self.ways[side].edge;
        if let Some(edge) = edge {
            let span = at.since(edge);
            let least = handshake.or(self.mean).unwrap_or_default() / REORDERING_DIVISOR;
            if span < least {
                self.rejected += 1;
                return;
            }
            self.accept(span, room);
        }
        self.ways[side].edge = Some(at);
        let made_by = self.ways[1 - side].edge;
        if let Some(half) = made_by.map(|made_by| at.since(made_by))
            && edge.is_none_or(|edge| made_by >= Some(edge))
        {
            let least = &mut self.halves[side];
            *least = Some(least.map_or(half, |least| least.min(half)));
        }
    }

    fn accept(&mut self, span: Duration, room: Room) {
        self.accepted += 1;
        let mean = self.mean.unwrap_or(span);
        self.mean = Some(mean * 7 / 8 + span / 8);
        self.every = self.every.max(1);
        if self.accepted.is_multiple_of(self.every) && room == Room::Plenty {
            reserve(&mut self.samples);
            self.samples.push(span);
        }
        if self.samples.len() >= MAX_SAMPLES {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut place = 0_usize;
        self.samples.retain(|_| {
            place += 1;
            place.is_multiple_of(2)
        });
        self.every = self.every.max(1) * 2;
    }

    /// The number of bytes that its samples hold.
    pub fn held(&self) -> usize {
        self.samples.capacity() * size_of::<Duration>()
    }

    /// Reduces the samples to this many bytes, or to few.
    pub fn thin(&mut self, most: usize) {
        while self.samples.len() > MIN_SAMPLES.max(most / size_of::<Duration>()) {
            self.halve();
        }
        self.samples.shrink_to_fit();
    }

    /// The round trips, if the ends use the bit. A constant bit shows nothing. A random bit flips at every second packet
    /// (RFC 9000 allows both).
    pub fn shown(&self) -> Option<Shown> {
        let flips: u64 = self.ways.iter().map(|way| way.flips).sum();
        let packets: u64 = self.ways.iter().map(|way| way.packets).sum();
        let is_random = self.rejected > self.accepted * 2 || packets > 64 && flips * 3 > packets;
        if self.accepted < MIN_TELLING_SAMPLES || is_random {
            return None;
        }
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        // An edge from the client follows one from the server, and the other way round.
        let [to_client, to_server] = self.halves;
        Some(Shown {
            sorted,
            count: self.accepted,
            halves: [to_server, to_client],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Both directions send every millisecond. The round trip from the capture to the server is 10 ms, and to the client 30
    /// ms.
    fn spinning(late_each: u64) -> Spin {
        let mut spin = Spin::default();
        let value = |at: u64| (at / 40).is_multiple_of(2);
        for at in 0..2000 {
            let late = late_each > 0 && at % late_each == 0;
            let of_client = value(if late { at.saturating_sub(3) } else { at });
            let room = Room::Plenty;
            spin.on_packet(Time::from_nanos(at * MS), 0, of_client, None, room);
            if at >= 10 {
                let time = Time::from_nanos(at * MS + 1);
                spin.on_packet(time, 1, value(at - 10), None, room);
            }
        }
        spin
    }

    #[test]
    fn edges_are_a_round_trip_apart() {
        for late_each in [0, 41] {
            let shown = spinning(late_each).shown().expect("it spins");
            assert_eq!(
                shown.sorted[shown.sorted.len() / 2],
                Duration::from_millis(40)
            );
            let [to_server, to_client] =
                shown.halves.map(|half| half.expect("both").as_millis_f64());
            assert!(to_server <= 11.0 && to_client >= 27.0, "{:?}", shown.halves);
        }
    }

    #[test]
    fn a_bit_that_stands_or_is_random_shows_nothing() {
        let mut random = 1_u64;
        let (mut stands, mut falls) = (Spin::default(), Spin::default());
        for at in 0..2000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let time = Time::from_nanos(at * MS);
            for side in 0..2 {
                let is_random = random >> (60 + side) & 1 != 0;
                stands.on_packet(time, side, true, None, Room::Plenty);
                falls.on_packet(time, side, is_random, None, Room::Plenty);
            }
        }
        assert!(stands.shown().is_none());
        assert!(falls.shown().is_none());
    }
}
