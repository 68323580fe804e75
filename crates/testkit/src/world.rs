//! A transport over an emulated path, in virtual time.

use congestion::{Bytes, Duration, Time};
use path::{Path, PathConfig};

use crate::transport::{End, Transport};
use crate::witness::{Probe, Told};

/// What wants to leave at one instant is cut off here.
const MOST_AT_ONCE: usize = 20_000;
/// Data packets are at least so large on the wire; handshakes and acknowledgements mostly are not.
const DATA: Bytes = Bytes::new(600);

/// What happened on one course.
pub(crate) struct World<T: Transport> {
    probe: Probe,
    pub(crate) transport: T,
    path: Path<T::Packet>,
    pub(crate) now: Time,
    /// The sender's data packets, with their size on the wire.
    pub(crate) departures: Vec<(Time, Bytes)>,
    /// Of these, those that reached the receiver.
    pub(crate) arrivals: u64,
    /// What both ends put on the wire vanishes.
    pub(crate) is_cut: bool,
    pub(crate) never_stops: bool,
}

impl<T: Transport> World<T> {
    /// The configuration is one of the kit's own, and valid.
    pub(crate) fn new(probe: Probe, transport: T, path: PathConfig) -> Option<World<T>> {
        Some(World {
            probe,
            transport,
            path: Path::new(path, 1).ok()?,
            now: Time::ZERO,
            departures: Vec::new(),
            arrivals: 0,
            is_cut: false,
            never_stops: false,
        })
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.probe.log().now = self.now;
        self.transport.write(self.now, bytes);
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
                    self.never_stops |= at_once > MOST_AT_ONCE;
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
            self.arrivals += u64::from(arrival.size >= DATA);
            self.transport.receive(now, End::Receiver, arrival.packet);
        }
        while let Some(arrival) = self.path.reverse.receive(now) {
            self.transport.receive(now, End::Sender, arrival.packet);
        }
        if self.transport.next_timer().is_some_and(|at| at <= now) {
            self.transport.on_timer(now);
        }
        for end in [End::Sender, End::Receiver] {
            for sent in 0.. {
                let Some((size, packet)) = self.transport.poll_transmit(now, end) else {
                    break;
                };
                if sent > MOST_AT_ONCE {
                    self.never_stops = true;
                    return;
                }
                if end == End::Sender && size >= DATA {
                    self.departures.push((now, size));
                }
                if self.is_cut {
                    continue;
                }
                match end {
                    End::Sender => self.path.forward.send(now, size, packet),
                    End::Receiver => self.path.reverse.send(now, size, packet),
                }
            }
        }
    }

    /// All that the controller was told, with the time at which it was.
    pub(crate) fn told(&self) -> Vec<(Time, Told)> {
        self.probe.log().told.clone()
    }
}
