//! UP (BBR draft, "ProbeBW_UP").

use units::{Bytes, Rate, Ratio};

use super::AckPhase;
use crate::bbr3::{Bbr3, State};
use crate::controller::Ack;

/// A quarter more than the path is known to deliver ("Accelerating to Probe for Bandwidth").
pub const PACING_GAIN: Ratio = Ratio::new(5, 4);
/// The window gain that leaves room for it.
pub const CWND_GAIN: Ratio = Ratio::new(9, 4);

/// The most doublings of the growth per round.
const MAX_DOUBLINGS: u32 = 30;

/// The growth of the long-term bound: by one packet in the first round, then by 2, 4, 8 …, spread over the round.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    /// Rounds of growth in this probe (`BBR.bw_probe_up_rounds`).
    rounds: u32,
    /// Bytes acknowledged since the bound last grew (`BBR.bw_probe_up_acked`).
    acked: Bytes,
    /// Bytes to be acknowledged for a packet of growth (`BBR.probe_up_acked_per_inc`). `None` while the bound does not grow.
    acked_per_packet: Option<Bytes>,
}

impl Growth {
    pub fn stop(&mut self) {
        self.acked_per_packet = None;
    }

    pub fn restart(&mut self, doublings: u32) {
        self.rounds = doublings.min(MAX_DOUBLINGS);
        self.acked = Bytes::ZERO;
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self, cwnd: Bytes, mss: Bytes) {
        let packets = 1_u64 << self.rounds;
        self.rounds = (self.rounds + 1).min(MAX_DOUBLINGS);
        let share = Bytes::new(cwnd.get() / packets);
        self.acked_per_packet = Some(share.max(mss));
    }

    /// The packets by which the bound grows after `acked` bytes.
    fn on_acked(&mut self, acked: Bytes) -> u64 {
        let Some(per_packet) = self.acked_per_packet else {
            return 0;
        };
        self.acked += acked;
        let packets = self.acked.get().checked_div(per_packet.get()).unwrap_or(0);
        self.acked -= per_packet * packets;
        packets
    }
}

impl Bbr3 {
    /// `StartProbeBW_UP`.
    pub(super) fn start_up(&mut self, ack: &Ack) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round.restart(self.delivered);
        self.full_pipe
            .restart(ack.rate.delivery_rate.unwrap_or(Rate::ZERO));
        self.state = State::Up;
        self.growth.raise_slope(self.control.cwnd, self.control.mss);
    }

    pub(super) fn check_up(&mut self, ack: &Ack) {
        if self.is_time_to_go_down(ack) {
            self.caution.was_too_high = false; // as far as is known yet
            self.start_down(ack.now);
        }
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        let bound = self.inflight_long_term.unwrap_or(Bytes::MAX);
        // "Precautionary Bandwidth Probing: Deceleration".
        if self.caution.was_too_high && ack.inflight >= bound {
            self.caution.is_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited(ack) && self.control.cwnd >= bound {
            // The bound limits the flow, rather than the path.
            self.full_pipe
                .restart(ack.rate.delivery_rate.unwrap_or(Rate::ZERO));
            return false;
        }
        self.full_pipe.is_now()
    }

    /// `C.is_cwnd_limited`.
    fn is_cwnd_limited(&self, ack: &Ack) -> bool {
        self.window_use.was_full_since(ack.rate.prior_delivered)
    }

    /// `ProbeInflightLongtermUpward`.
    pub(in crate::bbr3) fn raise_long_term_bound(&mut self, ack: &Ack, bound: Bytes) {
        if !self.is_cwnd_limited(ack) || self.control.cwnd < bound {
            return;
        }
        let packets = self.growth.on_acked(ack.newly_acked);
        self.inflight_long_term = Some(bound + self.control.mss * packets);
        if self.round.has_just_started() {
            self.growth.raise_slope(self.control.cwnd, self.control.mss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn the_growth_doubles_each_round() {
        let mut growth = Growth::default();
        for packets in [1, 2, 4, 8, 16] {
            growth.raise_slope(MSS * 64, MSS);
            let grown: u64 = (0..64).map(|_| growth.on_acked(MSS)).sum();
            assert_eq!(grown, packets);
        }
    }

    #[test]
    fn it_grows_by_no_more_than_what_is_acknowledged() {
        let mut growth = Growth::default();
        (0..100).for_each(|_| growth.raise_slope(MSS * 10, MSS));
        assert_eq!(growth.on_acked(MSS * 10), 10);
        growth.stop();
        assert_eq!(growth.on_acked(MSS * 10), 0);
    }
}
