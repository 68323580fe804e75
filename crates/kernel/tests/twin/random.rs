//! Random events, which no real network needs to cause: first a plausible stream of events, then numbers of any size.

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, Duration, Lost, Rate, RateSample,
    Recovery, RttSample, Time,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::event::Event;
use crate::twins::Twins;

/// The number of events of a connection, and of all comparisons together.
const LENGTH: usize = 1_000;
const AT_ONCE: usize = 100_000;

/// Compares over this many events.
pub fn compare(twins: &Twins, count: usize) {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(17));
    for _ in 0..count.div_ceil(AT_ONCE) {
        let mut events = Vec::with_capacity(AT_ONCE);
        for number in 0..AT_ONCE / LENGTH {
            connection(twins, &mut random, number % 3 == 2, &mut events);
        }
        twins.compare(&events);
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound.max(1)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Numbers of any size, each size with the same probability.
    fn wild(&mut self) -> u64 {
        let size = self.below(64);
        self.0.next_u64() >> size
    }
}

/// A connection's totals and inflight.
struct Stream {
    is_wild: bool,
    /// The application limits every sample, so the pipe is never found full.
    is_limited: bool,
    now: Time,
    mss: u64,
    delivered: u64,
    lost: u64,
    newly_lost: u64,
    marked: u64,
    sequence: u64,
}

fn connection(twins: &Twins, random: &mut Random, is_wild: bool, events: &mut Vec<Event>) {
    let mut stream = Stream {
        is_wild,
        is_limited: random.one_in(4),
        now: Time::from_nanos(random.wild() >> 4),
        mss: [1, 536, 1_448, 1_500, 9_000, 65_000][random.below(6) as usize],
        delivered: 0,
        lost: 0,
        newly_lost: 0,
        marked: 0,
        sequence: 0,
    };
    let mut connection = Connection::new(
        stream.now,
        Bytes::new(stream.mss),
        Bytes::new(stream.mss * random.below(50)),
    );
    connection.seed = random.0.next_u64();
    connection.has_selective_acks = !random.one_in(4);
    let mut controller = twins.any();
    let mut tell = |event: Event, controller: &mut AnyController| {
        event.happen(controller, |connection| twins.make(connection));
        events.push(event);
    };
    tell(Event::New(connection), &mut controller);
    for _ in 1..LENGTH {
        let event = stream.next(random, &controller);
        tell(event, &mut controller);
    }
}

impl Stream {
    fn next(&mut self, random: &mut Random, controller: &AnyController) -> Event {
        let cwnd = controller.cwnd().get().max(1);
        self.now += self.pause(random);
        let inflight = Bytes::new(if self.is_wild {
            random.wild()
        } else {
            random.below(cwnd.saturating_add(cwnd / 8))
        });
        match random.below(400) {
            0..=9 => Event::Recovery(self.now, Recovery::Entered(Cause::Loss), inflight),
            10..=19 => Event::Recovery(self.now, Recovery::Left, inflight),
            20 => Event::Recovery(self.now, Recovery::Undone, inflight),
            21 if random.one_in(2) => {
                Event::Recovery(self.now, Recovery::Entered(Cause::RepairedLoss), inflight)
            }
            21 => Event::Recovery(self.now, Recovery::Entered(Cause::Ecn), inflight),
            22 => Event::Timeout(self.now, inflight),
            23 => Event::Handshake(self.now, self.rtt(random)),
            24 if random.one_in(4) => {
                self.mss = 1 + random.below(10_000);
                Event::MtuChange(Bytes::new(self.mss))
            }
            24..=29 => Event::IdleRestart(self.now),
            30..=60 => self.lose(random, inflight),
            _ => Event::Ack(Box::new(self.ack(random, inflight))),
        }
    }

    /// Mostly short times. Now and then, the time is longer than any window of time.
    fn pause(&self, random: &mut Random) -> Duration {
        let most = match random.below(300) {
            0 => 11_000_000_000,
            1..=9 => 300_000_000,
            10..=99 => 0,
            _ => 3_000_000,
        };
        Duration::from_nanos(random.below(most))
    }

    fn rtt(&self, random: &mut Random) -> Duration {
        Duration::from_nanos(if self.is_wild {
            random.wild()
        } else {
            20_000_000 + random.below(2_000_000)
        })
    }

    fn bytes(&self, random: &mut Random) -> u64 {
        if self.is_wild && random.one_in(4) {
            random.wild()
        } else {
            self.mss * (1 + random.below(20))
        }
    }

    /// Less than the maximum, because in C the greatest number means no bound.
    fn inflight_at_send(&self, random: &mut Random) -> Bytes {
        Bytes::new(if self.is_wild {
            random.wild() >> 2
        } else {
            random.below(self.mss * 80)
        })
    }

    fn lose(&mut self, random: &mut Random, inflight: Bytes) -> Event {
        let bytes = Bytes::new(self.bytes(random));
        self.lost = self.lost.saturating_add(bytes.get());
        self.newly_lost = self.newly_lost.saturating_add(bytes.get());
        let mut sampler = Sampler::new(self.now);
        let mut packet = sampler.on_packet_sent(self.now, bytes, Outstanding::Nothing);
        self.sequence += 1 + random.below(2);
        packet.sequence = self.sequence;
        packet.delivered = Bytes::new(self.delivered.saturating_sub(random.below(self.mss * 60)));
        packet.lost = Bytes::new(self.lost.saturating_sub(random.below(self.mss * 10)));
        packet.inflight = self.inflight_at_send(random);
        packet.is_app_limited = random.one_in(20);
        let mut lost = Lost::new(self.now, packet, inflight, &sampler);
        lost.total_delivered = Bytes::new(self.delivered);
        lost.total_lost = Bytes::new(self.lost);
        Event::Lost(lost)
    }

    fn ack(&mut self, random: &mut Random, inflight: Bytes) -> Ack {
        let acked = self.bytes(random);
        self.delivered = self.delivered.saturating_add(acked);
        let mut rate = RateSample::default();
        if !random.one_in(50) {
            let most = if random.one_in(3) {
                2_000_000
            } else {
                1_300_000
            };
            rate.delivery_rate = Some(Rate::from_bytes_per_sec(if self.is_wild {
                random.wild()
            } else {
                1_000_000 + random.below(most)
            }));
        }
        let window = if self.is_wild {
            random.wild()
        } else {
            self.mss * 40
        };
        rate.prior_delivered = Bytes::new(self.delivered.saturating_sub(window));
        rate.total_delivered = Bytes::new(self.delivered);
        rate.total_lost = Bytes::new(self.lost);
        rate.delivered = Bytes::new(window.min(self.delivered));
        rate.inflight_at_send = self.inflight_at_send(random);
        rate.lost_since_send = Bytes::new(random.below(self.mss * 2));
        rate.newly_lost = Bytes::new(std::mem::take(&mut self.newly_lost));
        rate.is_app_limited = self.is_limited || random.one_in(20);
        let marked = if random.one_in(3) {
            random.below(acked.saturating_add(1))
        } else {
            0
        };
        self.marked = self.marked.saturating_add(marked);
        rate.total_delivered_ce = Bytes::new(self.marked);
        rate.delivered_ce = Bytes::new(random.below(self.mss * 40) * u64::from(marked > 0));
        let newly_acked = Bytes::new(acked);
        let prior_inflight = inflight + newly_acked;
        let mut ack = Ack::new(self.now, newly_acked, prior_inflight, inflight, rate);
        if !random.one_in(10) {
            ack.rtt = Some(RttSample {
                rtt: self.rtt(random),
                is_ack_delayed: random.one_in(5),
            });
        }
        ack.ce_marked = Bytes::new(marked);
        ack.is_window_full = random.one_in(2);
        if random.one_in(2) {
            ack.next_departure = self.now + Duration::from_nanos(random.below(3_000_000));
        }
        ack
    }
}
