//! A sender that can be interrupted in time: packets leave on a thread of their own, which does not wait for a test.

use congestion::{
    Ack, AnyController, Bytes, Controller, ControllerKind, Lost, Rate, Recovery, Sent, Snapshot,
    Time,
};
use quic::controller::factory_with;

use super::*;

/// A configuration that sends at 80 Mbit/s.
pub fn slow() -> SenderConfig {
    let make = |connection| Slow(AnyController::new(ControllerKind::Cubic, connection));
    SenderConfig {
        controllers: factory_with(make, 1, None),
        restart: false,
        skip: false,
    }
}

#[derive(Debug, Clone)]
struct Slow(AnyController);

impl Controller for Slow {
    fn on_idle_restart(&mut self, now: Time) {
        self.0.on_idle_restart(now);
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.0.on_packet_sent(sent);
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.0.on_packet_lost(lost);
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.0.on_recovery(now, recovery, inflight);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.0.on_timeout(now, inflight);
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.0.on_mtu_change(mss);
    }

    fn cwnd(&self) -> Bytes {
        self.0.cwnd()
    }

    fn pacing_rate(&self) -> Rate {
        Rate::from_bits_per_sec(80_000_000)
    }

    fn send_quantum(&self) -> Bytes {
        Bytes::new(12_000)
    }

    fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }
}
