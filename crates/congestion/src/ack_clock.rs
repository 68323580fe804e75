//! Test support for loss-based controllers: a steady stream of ACKs from a path that needs no event queue.

extern crate std;

use std::collections::VecDeque;

use units::{Bytes, Duration, Rate, Time};

use crate::controller::{Ack, Cause, Connection, Controller, Recovery, RttSample};
use crate::sampling::RateSample;

pub const MSS: Bytes = Bytes::new(1_500);

/// A new connection with a window of ten packets.
pub const CONNECTION: Connection = Connection {
    is_paced: false,
    ..Connection::new(Time::ZERO, MSS, Bytes::new(15_000))
};

/// A sender whose window is always full, on a path with an infinite buffer. Each RTT brings ACKs for one window, evenly
/// spaced. The part of the window beyond the BDP queues.
pub struct AckClock<C> {
    pub controller: C,
    pub now: Time,
    pub rtprop: Duration,
    pub bottleneck: Rate,
    pub is_cwnd_limited: bool,
    pub is_progress: bool,
    /// Whether the network marks the packets that are acknowledged.
    pub is_marked: bool,
    delivered: Bytes,
    /// The bytes delivered when each packet in flight was sent.
    inflight: VecDeque<Bytes>,
}

impl<C: Controller> AckClock<C> {
    /// A path without a bottleneck, and so without a queue.
    pub fn new(controller: C, rtprop: Duration) -> AckClock<C> {
        let mut clock = AckClock {
            controller,
            now: Time::ZERO,
            rtprop,
            bottleneck: Rate::MAX,
            is_cwnd_limited: true,
            is_progress: true,
            is_marked: false,
            delivered: Bytes::ZERO,
            inflight: VecDeque::new(),
        };
        clock.send();
        clock
    }

    /// Sends until the window is full.
    fn send(&mut self) {
        while (self.inflight.len() as u64) < self.packets() {
            self.inflight.push_back(self.delivered);
        }
    }

    /// Acknowledges one packet.
    pub fn ack(&mut self) {
        let cwnd = self.controller.cwnd();
        let rtt = self.rtprop.max(self.bottleneck.time_for(cwnd));
        self.now += Rate::from_transfer(cwnd, rtt).time_for(MSS);
        let prior_delivered = self.inflight.pop_front().unwrap_or(self.delivered);
        self.delivered += MSS;
        let mut ack = Ack::new(
            self.now,
            MSS,
            cwnd,
            cwnd - MSS,
            RateSample {
                prior_delivered,
                total_delivered: self.delivered,
                ..RateSample::default()
            },
        );
        ack.rtt = Some(RttSample {
            rtt,
            is_ack_delayed: false,
        });
        ack.is_cwnd_limited = self.is_cwnd_limited;
        ack.is_progress = self.is_progress;
        if self.is_marked {
            ack.ce_marked = MSS;
        }
        self.controller.on_ack(&ack);
        self.send();
    }

    /// Acknowledges one window of packets, which takes a round trip.
    pub fn round(&mut self) {
        for _ in 0..self.packets() {
            self.ack();
        }
    }

    /// Acknowledges packets for the time `span`.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.ack();
        }
    }

    /// Changes the transport's recovery state.
    pub fn recovery(&mut self, recovery: Recovery) {
        let inflight = self.controller.cwnd();
        self.controller.on_recovery(self.now, recovery, inflight);
    }

    /// Loses a packet, and recovers from it within a round trip.
    pub fn lose(&mut self) {
        self.recovery(Recovery::Entered(Cause::Loss));
        self.round();
        self.recovery(Recovery::Left);
    }

    /// The window in packets.
    pub fn packets(&self) -> u64 {
        self.controller.cwnd().get() / MSS.get()
    }

    /// The name of the controller's state.
    pub fn state(&self) -> &'static str {
        self.controller.snapshot().state.name
    }

    /// The mean window over time in packets, if every `period`th packet is lost once the window has reached `first`
    /// packets. Measured from the twentieth loss to the sixtieth.
    pub fn mean_window(&mut self, first: u64, period: u64) -> f64 {
        while self.packets() < first {
            self.ack();
        }
        self.recovery(Recovery::Entered(Cause::Loss));
        let mut sum = 0.0;
        let mut start = self.now;
        for loss in 0..60 {
            if loss == 20 {
                sum = 0.0;
                start = self.now;
            }
            let recovered_at = self.packets();
            for packet in 0..period {
                let before = self.now;
                let cwnd = self.controller.cwnd().get() as f64 / MSS.get() as f64;
                self.ack();
                sum += cwnd * self.now.since(before).as_secs_f64();
                if packet == recovered_at {
                    self.recovery(Recovery::Left);
                }
            }
            self.recovery(Recovery::Entered(Cause::Loss));
        }
        sum / self.now.since(start).as_secs_f64()
    }
}

/// Whether `actual` is within `tolerance` (a share) of `expected`.
#[track_caller]
pub fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual / expected - 1.0).abs() <= tolerance,
        "{actual}, not {expected} ± {} %",
        tolerance * 100.0
    );
}
