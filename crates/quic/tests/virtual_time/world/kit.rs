//! The conformance kit finds no errors in how noq drives a controller.

use congestion::{Bytes, Time};
use quic::controller::factory_with;
use testkit::{End, Knows, Probe, Transport};

use super::{Datagram, HEADERS, Host, World, simple_path};

/// Both hosts without their path. The kit has the path.
struct Noq(World);

impl Noq {
    fn new(probe: Probe) -> Noq {
        let make = move |about| probe.controller(about);
        let unused = simple_path("1gbit", 1, 1, "0%");
        Noq(World::new(unused, 1, factory_with(make, 1, None)))
    }

    fn at(&mut self, now: Time) -> std::time::Instant {
        self.0.now = now;
        self.0.instant()
    }

    fn host(&mut self, end: End) -> &mut Host {
        match end {
            End::Sender => &mut self.0.sender,
            End::Receiver => &mut self.0.receiver,
        }
    }
}

impl Transport for Noq {
    type Packet = Datagram;

    fn write(&mut self, now: Time, bytes: u64) {
        self.0.now = now;
        self.0.write(bytes);
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Datagram)> {
        let now = self.at(now);
        if self.host(end).outbox.is_empty() {
            if end == End::Sender {
                self.0.write_backlog();
            }
            self.host(end).transmit(now);
            self.host(end).outbox.reverse();
        }
        let datagram = self.host(end).outbox.pop()?;
        let size = datagram.0.len() as u64 + u64::from(HEADERS);
        Some((Bytes::new(size), datagram))
    }

    fn receive(&mut self, now: Time, end: End, datagram: Datagram) {
        let now = self.at(now);
        let from = match end {
            End::Sender => self.0.receiver.address,
            End::Receiver => self.0.sender.address,
        };
        self.host(end).receive(now, from, &datagram);
        if end == End::Receiver {
            self.0.read();
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let timers = [self.0.sender.timeout(), self.0.receiver.timeout()];
        let at = timers.into_iter().flatten().min()?;
        Some(Time::ZERO + at.saturating_duration_since(self.0.base).into())
    }

    fn on_timer(&mut self, now: Time) {
        let now = self.at(now);
        for end in [End::Sender, End::Receiver] {
            let host = self.host(end);
            if host.timeout().is_some_and(|at| at <= now) {
                host.connection().handle_timeout(now);
            }
        }
    }

    fn received(&self) -> u64 {
        self.0.received
    }
}

#[test]
fn the_conformance_kit_finds_nothing() {
    let report = testkit::check(&Knows::everything(), Noq::new);
    println!("{report}");
    assert!(report.findings.is_empty(), "{report}");
}
