//! A controller with a fixed rate.

use congestion::{
    Ack, Bytes, Connection, Controller, Lost, Phase, Rate, Recovery, Sent, Snapshot, State, Time,
};

/// The window, in bytes: more than is ever in flight.
const WINDOW: Bytes = Bytes::new(1 << 20);

/// A controller that only limits the rate. It sends two packets at a time: the smallest burst of BBRv3, and of Linux
/// (`tcp_min_tso_segs`).
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    rate: Rate,
    mss: Bytes,
}

impl Fixed {
    pub fn new(rate: Rate, connection: Connection) -> Fixed {
        Fixed {
            rate,
            mss: connection.mss,
        }
    }
}

impl Controller for Fixed {
    fn on_idle_restart(&mut self, _: Time) {}
    fn on_packet_sent(&mut self, _: &Sent) {}
    fn on_packet_lost(&mut self, _: &Lost) {}
    fn on_recovery(&mut self, _: Time, _: Recovery, _: Bytes) {}
    fn on_ack(&mut self, _: &Ack) {}
    fn on_timeout(&mut self, _: Time, _: Bytes) {}

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
    }

    fn cwnd(&self) -> Bytes {
        WINDOW
    }

    fn pacing_rate(&self) -> Rate {
        self.rate
    }

    fn send_quantum(&self) -> Bytes {
        self.mss * 2
    }

    fn snapshot(&self) -> Snapshot {
        let state = State {
            name: "Fixed",
            phase: Phase::Avoidance,
        };
        Snapshot::new("fixed", state, WINDOW, self.rate)
    }
}
