//! The congestion window: a bound for delayed ACKs; normally it does not determine the rate.

use units::{Bytes, Rate, Ratio};

use super::{Bbr1, State};
use crate::controller::Ack;

/// The send quanta allowed for beyond the path's own BDP: one being scheduled, one in the sending host's offload
/// engine, one in the receiving host's (Linux `bbr_quantization_budget`).
const END_HOST_QUANTA: u64 = 3;

/// The packets for one ACK at a receiver that acknowledges every other one.
const PACKETS_PER_ACK: u64 = 2;

impl Bbr1 {
    /// Raises the window towards the target by the bytes delivered.
    pub(super) fn set_cwnd(&mut self, ack: &Ack) {
        if !self.conserve_packets(ack) {
            let target = self.target_cwnd();
            let is_full = self.full_pipe.is_reached();
            self.control.approach(target, ack, is_full);
        }
        if self.is_in_probe_rtt() {
            self.control.cwnd = self.control.cwnd.min(self.control.least_cwnd());
        }
    }

    fn target_cwnd(&self) -> Bytes {
        let bw = self.bw();
        let mut target = self.bdp(bw, self.cwnd_gain());
        if self.full_pipe.is_reached() {
            target += self
                .ack_aggregation
                .allowance(bw, self.config.extra_acked_gain);
        }
        if self.config.is_end_host_budgeted {
            self.with_end_host_budget(target)
        } else {
            self.in_whole_packets(target)
        }
    }

    /// The window with which a packet leaves as long as less than `bound` is in flight (paper, `send`).
    fn in_whole_packets(&self, bound: Bytes) -> Bytes {
        let whole = bound.get().checked_next_multiple_of(self.control.mss.get());
        whole.map_or(bound, Bytes::new)
    }

    /// The bytes in flight when the path holds `gain` BDP.
    pub(super) fn inflight_at(&self, gain: Ratio) -> Bytes {
        let bdp = self.bdp(self.btl_bw(), gain);
        if self.config.are_phase_ends_budgeted {
            self.with_end_host_budget(bdp)
        } else {
            bdp
        }
    }

    /// The bytes in the network when the next packet leaves: `inflight` without the whole packets delivered until then, and
    /// with the next burst if BBR sends faster (Linux `bbr_packets_in_net_at_edt`). Scheduled departures cannot be changed
    /// any more, so a decision now takes effect only from that packet on.
    pub(super) fn in_network(&self, ack: &Ack, inflight: Bytes) -> Bytes {
        if !self.config.has_departure_model {
            return inflight;
        }
        let next_burst = if self.pacing_gain() > Ratio::ONE {
            self.control.pacing.quantum()
        } else {
            Bytes::ZERO
        };
        let delivered = self.bw().bytes_in(ack.next_departure.since(ack.now));
        inflight + next_burst - self.control.mss * (delivered.get() / self.control.mss.get())
    }

    fn bdp(&self, bw: Rate, gain: Ratio) -> Bytes {
        self.control.bdp(bw, self.rtprop.get(), gain)
    }

    fn with_end_host_budget(&self, inflight: Bytes) -> Bytes {
        let pair = self.control.mss * PACKETS_PER_ACK;
        let inflight = (inflight + self.control.pacing.quantum() * END_HOST_QUANTA).get();
        let even = inflight
            .checked_next_multiple_of(pair.get())
            .unwrap_or(inflight);
        match &self.state {
            // With a small BDP a quarter more may be less than a packet.
            State::ProbeBw(cycle) if cycle.is_up() && self.config.has_probe_room => {
                Bytes::new(even) + pair
            }
            _ => Bytes::new(even),
        }
    }
}
