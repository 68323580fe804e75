//! A transport over an emulated path, in virtual time.

use congestion::{Bytes, Duration, Time};
use path::{Path, PathConfig};

use crate::transport::{End, Transport};
use crate::witness::{Probe, Told};

/// The most packets that may leave at one instant.
const MAX_AT_ONCE: usize = 20_000;
/// The packet size of a transport that has not reported one.
const DEFAULT_MSS: Bytes = Bytes::new(1_200);

/// The fate of packets that the ends put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The path carries them.
    Open,
    /// They are lost.
    Cut,
    /// Only the sender's packets are lost.
    LosesSent,
    /// They wait until the wire is open again.
    Held,
}

/// A data packet of the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) at: Time,
    /// The size on the wire.
    pub(crate) size: Bytes,
    pub(crate) has_arrived: bool,
}

/// A packet on the path, with the index of its departure if it is data.
#[derive(Clone)]
struct Parcel<P> {
    departure: Option<usize>,
    packet: P,
}

/// The events on one course.
pub(crate) struct World<T: Transport> {
    probe: Probe,
    pub(crate) transport: T,
    path: Path<Parcel<T::Packet>>,
    pub(crate) now: Time,
    pub(crate) departures: Vec<Departure>,
    /// The bytes that the application has written.
    pub(crate) written: u64,
    wire: Wire,
    /// The number of data packets that will be lost next.
    to_lose: u32,
    held: Vec<(End, Bytes, Parcel<T::Packet>)>,
    pub(crate) never_stops: bool,
}

impl<T: Transport> World<T> {
    /// `path` is a configuration of the kit, and therefore valid.
    pub(crate) fn new(probe: Probe, transport: T, path: PathConfig) -> Option<World<T>> {
        Some(World {
            probe,
            transport,
            path: Path::new(path, 1).ok()?,
            now: Time::ZERO,
            departures: Vec::new(),
            written: 0,
            wire: Wire::Open,
            to_lose: 0,
            held: Vec::new(),
            never_stops: false,
        })
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.probe.log().now = self.now;
        self.written = self.written.saturating_add(bytes);
        self.transport.write(self.now, bytes);
    }

    /// Sets the wire from now on. Held packets leave if the wire is open.
    pub(crate) fn set(&mut self, wire: Wire) {
        self.wire = wire;
        if wire == Wire::Open {
            for (end, size, parcel) in core::mem::take(&mut self.held) {
                self.carry(end, size, parcel);
            }
        }
    }

    /// The transport's largest packet.
    pub(crate) fn mss(&self) -> Bytes {
        let mss = self.probe.log().mss;
        if mss.is_zero() { DEFAULT_MSS } else { mss }
    }

    /// The next `count` data packets are lost.
    pub(crate) fn lose_next(&mut self, count: u32) {
        self.to_lose = count;
    }

    /// Runs for a span of virtual time.
    pub(crate) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        let mut at_once = 0;
        self.step();
        while !self.never_stops {
            let next = [
                self.path.forward.next_event(),
                self.path.reverse.next_event(),
                self.transport.next_timer(),
            ];
            match next.into_iter().flatten().min() {
                Some(next) if next <= end => {
                    at_once = if next > self.now { 0 } else { at_once + 1 };
                    self.never_stops |= at_once > MAX_AT_ONCE;
                    self.now = self.now.max(next);
                }
                _ => break,
            }
            self.step();
        }
        self.now = end;
    }

    fn step(&mut self) {
        let now = self.now;
        self.probe.log().now = now;
        while let Some(arrival) = self.path.forward.receive(now) {
            if arrival.corrupted {
                continue;
            }
            let Parcel { departure, packet } = arrival.packet;
            let departure = departure.and_then(|index| self.departures.get_mut(index));
            if let Some(departure) = departure {
                departure.has_arrived = true;
            }
            self.transport.receive(now, End::Receiver, packet);
        }
        while let Some(arrival) = self.path.reverse.receive(now) {
            if arrival.corrupted {
                continue;
            }
            self.transport
                .receive(now, End::Sender, arrival.packet.packet);
        }
        if self.transport.next_timer().is_some_and(|at| at <= now) {
            self.transport.on_timer(now);
        }
        for end in [End::Sender, End::Receiver] {
            for sent in 0.. {
                let Some((size, packet)) = self.transport.poll_transmit(now, end) else {
                    break;
                };
                if sent > MAX_AT_ONCE {
                    self.never_stops = true;
                    return;
                }
                self.put_on_wire(end, size, packet);
            }
        }
    }

    fn put_on_wire(&mut self, end: End, size: Bytes, packet: T::Packet) {
        // Packets of handshakes and acknowledgements are usually smaller.
        let is_data = end == End::Sender && size * 2 >= self.mss();
        let departure = is_data.then_some(self.departures.len());
        if is_data {
            self.departures.push(Departure {
                at: self.now,
                size,
                has_arrived: false,
            });
        }
        let parcel = Parcel { departure, packet };
        if is_data && self.to_lose > 0 {
            self.to_lose -= 1;
            return;
        }
        match self.wire {
            Wire::Cut => {}
            Wire::LosesSent if end == End::Sender => {}
            Wire::Held => self.held.push((end, size, parcel)),
            Wire::Open | Wire::LosesSent => self.carry(end, size, parcel),
        }
    }

    fn carry(&mut self, end: End, size: Bytes, parcel: Parcel<T::Packet>) {
        let way = match end {
            End::Sender => &mut self.path.forward,
            End::Receiver => &mut self.path.reverse,
        };
        way.send(self.now, size, parcel);
    }

    /// All events that the controller received, each with its real time.
    pub(crate) fn told(&self) -> Vec<(Time, Told)> {
        self.probe.log().told.clone()
    }
}
