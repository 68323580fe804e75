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
        let bdp = self.bdp(self.bw(), self.cwnd_gain());
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
        self.bdp(self.bw(), probe_rtt::CWND_GAIN)
            .max(self.control.least_cwnd())
    }

    /// The part of `inflight` that will be in the network when the next packet leaves, where the host's scheduler holds
    /// packets that count as in flight (Linux `bbr_packets_in_net_at_edt`; not in the draft). Elsewhere it is all of
    /// it.
    pub(super) fn in_network(&self, ack: &Ack, inflight: Bytes) -> Bytes {
        let delivered = self.bw().bytes_in(ack.next_departure.since(ack.now));
        inflight - delivered
    }

    /// `SaveCwnd` ("Modulating cwnd in Loss Recovery").
    pub(super) fn save_cwnd(&mut self) {
        let is_cut = self.is_recovering || matches!(self.state, State::ProbeRtt(_));
        self.control.save_cwnd(is_cut);
    }
}

/// Whether the window itself limited the flow within the latest round (BBR draft, "Transport Connection State",
/// `C.is_cwnd_limited`). The transport reports the time since the previous ACK; this keeps it for a round.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowUse {
    in_this_round: bool,
    in_the_round_before: bool,
}

impl WindowUse {
    pub fn update(&mut self, is_full: bool, is_round_start: bool) {
        if is_round_start {
            self.in_the_round_before = self.in_this_round;
            self.in_this_round = false;
        }
        self.in_this_round |= is_full;
    }

    pub fn was_full(&self) -> bool {
        self.in_this_round || self.in_the_round_before
    }
}
