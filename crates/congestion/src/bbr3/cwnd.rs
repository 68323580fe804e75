//! The congestion window (BBR draft, "Congestion Window").

use units::{Bytes, Rate, Ratio};

use super::{Bbr3, State, probe_rtt};
use crate::controller::Ack;

/// The extra packets while probing for bandwidth: with a small BDP a quarter more may be less than a packet.
const UP_PACKETS: u64 = 2;

impl Bbr3 {
    /// `SetCwnd` ("cwnd Adjustment Mechanism").
    pub(super) fn set_cwnd(&mut self, ack: &Ack) {
        let most = self.max_inflight();
        let is_full = self.full_pipe.is_reached();
        self.control.approach(most, ack, is_full);
        if matches!(self.state, State::ProbeRtt(_)) {
            self.control.cwnd = self.control.cwnd.min(self.probe_rtt_cwnd());
        }
        self.control.cwnd = self.control.cwnd.min(self.model_bound());
    }

    /// `BoundCwndForModel` ("Bounding cwnd Based on Recent Congestion").
    fn model_bound(&self) -> Bytes {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_long_term,
            State::Cruise | State::ProbeRtt(_) => self.inflight_with_headroom(),
            State::Startup | State::Drain { .. } => None,
        };
        long_term
            .unwrap_or(Bytes::MAX)
            .min(self.short_term.inflight.unwrap_or(Bytes::MAX))
            .max(self.control.least_cwnd())
    }

    /// `UpdateMaxInflight` ("Computing BBR.max_inflight").
    fn max_inflight(&self) -> Bytes {
        let bdp = self.bdp(self.bw, self.cwnd_gain());
        self.with_budget(bdp + self.extra_acked.get())
    }

    /// `Inflight(1.0)`: the bytes in flight when the pipe is full at this bandwidth without a queue.
    pub(super) fn inflight_at(&self, bw: Rate) -> Bytes {
        self.with_budget(self.bdp(bw, Ratio::ONE))
    }

    /// `QuantizationBudget`.
    fn with_budget(&self, inflight: Bytes) -> Bytes {
        let offload = self.control.pacing.quantum() * u64::from(self.config.offload_quanta);
        let inflight = inflight.max(offload).max(self.control.least_cwnd());
        match self.state {
            State::Up => inflight + self.control.mss * UP_PACKETS,
            _ => inflight,
        }
    }

    /// `BDPMultiple`.
    pub(super) fn bdp(&self, bw: Rate, gain: Ratio) -> Bytes {
        self.control.bdp(bw, self.min_rtt.get(), gain)
    }

    /// `ProbeRTTCwnd` ("Modulating cwnd in ProbeRTT").
    pub(super) fn probe_rtt_cwnd(&self) -> Bytes {
        self.held_probe_rtt_cwnd
            .unwrap_or_else(|| self.present_probe_rtt_cwnd())
    }

    fn present_probe_rtt_cwnd(&self) -> Bytes {
        self.bdp(self.bw, probe_rtt::CWND_GAIN)
            .max(self.control.least_cwnd())
    }

    /// With one clock, the estimate ends as ProbeRTT begins. So this notes its window before, and ProbeRTT keeps it.
    pub(super) fn hold_probe_rtt_cwnd(&mut self) {
        if self.config.bbr1_min_rtt && !matches!(self.state, State::ProbeRtt(_)) {
            self.held_probe_rtt_cwnd = Some(self.present_probe_rtt_cwnd());
        }
    }

    /// `SaveCwnd` ("Modulating cwnd in Loss Recovery").
    pub(super) fn save_cwnd(&mut self) {
        let is_cut = self.is_recovering || matches!(self.state, State::ProbeRtt(_));
        self.control.save_cwnd(is_cut);
    }
}

/// Whether the window itself limited the flow "at any point in the last packet-timed round trip" (BBR draft, "Transport
/// Connection State", `C.is_cwnd_limited`). The transport reports the time since the previous ACK; this keeps it for a
/// round.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowUse {
    /// The bytes delivered when the window was last full.
    full_at: Option<Bytes>,
}

impl WindowUse {
    /// Takes whether the window was full since the previous ACK, after which so much was delivered.
    pub fn update(&mut self, is_full: bool, delivered: Bytes) {
        if is_full {
            self.full_at = Some(delivered);
        }
    }

    /// Whether it was full in the round trip of a packet that left at this total of delivered bytes.
    pub fn was_full_since(&self, prior_delivered: Bytes) -> bool {
        self.full_at.is_some_and(|at| at >= prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_is_kept_for_a_round_trip() {
        let bytes = Bytes::new;
        let mut window = WindowUse::default();
        assert!(!window.was_full_since(bytes(0)));
        window.update(true, bytes(1_000));
        window.update(false, bytes(2_000));
        assert!(window.was_full_since(bytes(1_000)), "it left before that");
        assert!(!window.was_full_since(bytes(1_001)), "it left after that");
    }
}
