//! The response to ECN marks of Linux's BBRv3, for queues with a shallow marking threshold, as in a data centre (Linux
//! v3 `bbr_update_ecn_alpha` and related functions). The BBR draft has none ("ECN"), so this is a setting, and off by
//! default.
//!
//! Marks must be counted, as a share of the bytes delivered. That share, averaged over rounds, is alpha. A round with a
//! mark lowers the short-term bound on what is in flight by a third of alpha. A probe with more than half marked went
//! too far, and two such rounds end Startup. When the marks cease, the next probe begins at once and grows fast, since
//! competing flows may be gone.

use units::{Bytes, Duration};

use super::{BETA, Bbr3};
use crate::controller::Ack;

/// The fixed-point one of shares (Linux `BBR_UNIT`).
const FIXED_POINT_ONE: u64 = 256;
/// The weight of the latest round in alpha: 1/16 (`bbr_ecn_alpha_gain`).
const ALPHA_GAIN: u64 = FIXED_POINT_ONE / 16;
/// The largest cut of the bound, if everything is marked: a third (`bbr_ecn_factor`).
const MAX_CUT: u64 = FIXED_POINT_ONE / 3;
/// The share of marked bytes above which a probe went too far: a half (`bbr_ecn_thresh`).
const MAX_MARKED_SHARE: u64 = FIXED_POINT_ONE / 2;
/// The successive rounds with such a share that end Startup (`bbr_full_ecn_cnt`).
const MARKED_STARTUP_ROUNDS: u8 = 2;

/// The settings of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The RTT below which marks are answered, once the least RTT has been this short: only there does a mark mean a
    /// shallow queue.
    pub max_rtt: Duration,
}

impl Config {
    /// The settings of Linux's BBRv3 (`bbr_ecn_max_rtt_us`). In Linux the route must also say that its queues mark
    /// early.
    pub const fn linux() -> Config {
        Config {
            max_rtt: Duration::from_millis(5),
        }
    }
}

/// The state of the response to marks.
#[derive(Debug, Clone, Copy)]
pub struct Ecn {
    /// Whether the path is short enough (`ecn_eligible`). Stays true.
    is_eligible: bool,
    /// The average share of marks over rounds. Initially one, so that the first marks are answered in full.
    alpha: u64,
    /// The bytes delivered, and of those marked, when alpha was last updated.
    delivered: Bytes,
    delivered_ce: Bytes,
    startup_rounds: u8,
    is_in_round: bool,
    is_in_cycle: bool,
    is_loss_in_cycle: bool,
    /// Whether the transport reports a round trip with marks (Linux `TCP_CA_CWR`).
    pub is_reduced: bool,
}

impl Ecn {
    pub fn new() -> Ecn {
        Ecn {
            is_eligible: false,
            alpha: FIXED_POINT_ONE,
            delivered: Bytes::ZERO,
            delivered_ce: Bytes::ZERO,
            startup_rounds: 0,
            is_in_round: false,
            is_in_cycle: false,
            is_loss_in_cycle: false,
            is_reduced: false,
        }
    }

    /// Notes a lost packet.
    pub fn note_loss(&mut self) {
        self.is_loss_in_cycle = true;
    }

    /// Starts a cycle (`bbr_reset_congestion_signals`).
    pub fn start_cycle(&mut self) {
        self.is_in_round = false;
        self.is_in_cycle = false;
        self.is_loss_in_cycle = false;
    }

    /// The share marked since the last call, in units of 1/[`FIXED_POINT_ONE`]. `None` if nothing was delivered.
    fn next_share(&mut self, ack: &Ack) -> Option<u64> {
        let (delivered, marked) = (ack.rate.total_delivered, ack.rate.total_delivered_ce);
        let marked_now = (marked - self.delivered_ce).get();
        let delivered_now = (delivered - self.delivered).get();
        let share = (marked_now.saturating_mul(FIXED_POINT_ONE)).checked_div(delivered_now)?;
        (self.delivered, self.delivered_ce) = (delivered, marked);
        Some(share.min(FIXED_POINT_ONE))
    }

    /// `bbr_update_ecn_alpha`.
    fn average(&mut self, share: u64) {
        self.alpha =
            ((FIXED_POINT_ONE - ALPHA_GAIN) * self.alpha + ALPHA_GAIN * share) / FIXED_POINT_ONE;
    }

    /// The bound after a cut (`bbr_ecn_lower_bounds`).
    fn cut(&self, bound: Bytes) -> Bytes {
        let kept = FIXED_POINT_ONE - self.alpha * MAX_CUT / FIXED_POINT_ONE;
        Bytes::new(bound.get().saturating_mul(kept) / FIXED_POINT_ONE)
    }
}

impl Bbr3 {
    /// Called once per ACK, as soon as it is known whether it starts a round.
    pub(super) fn update_ecn(&mut self, ack: &Ack) {
        let Some(config) = self.config.ecn else {
            return;
        };
        let min_rtt = self.min_rtt.get();
        self.ecn.is_eligible |= min_rtt.is_some_and(|rtt| rtt <= config.max_rtt);
        if !self.ecn.is_eligible {
            return;
        }
        if self.round.has_just_started()
            && let Some(share) = self.ecn.next_share(ack)
        {
            self.ecn.average(share);
            self.check_startup_marks(share);
        }
        self.ecn.is_in_round |= !ack.ce_marked.is_zero();
    }

    /// `bbr_check_ecn_too_high_in_startup`.
    fn check_startup_marks(&mut self, share: u64) {
        if self.full_pipe.is_reached() {
            return;
        }
        self.ecn.startup_rounds = if share >= MAX_MARKED_SHARE {
            self.ecn.startup_rounds + 1
        } else {
            0
        };
        if self.ecn.startup_rounds >= MARKED_STARTUP_ROUNDS {
            self.set_pipe_full();
        }
    }

    /// The bound on what is in flight after a round with marks, at the end of a round without a probe.
    pub(super) fn inflight_after_marks(&self) -> Option<Bytes> {
        let bound = self.short_term.inflight.unwrap_or(self.control.cwnd);
        self.ecn.is_in_round.then(|| self.ecn.cut(bound))
    }

    pub(super) fn end_round_of_marks(&mut self) {
        self.ecn.is_in_round = false;
    }

    /// Whether too much of the bytes delivered since this packet left was marked (`bbr_is_inflight_too_high`).
    pub(super) fn is_marked_too_much(&self, ack: &Ack) -> bool {
        let marked = ack.rate.delivered_ce.get().saturating_mul(FIXED_POINT_ONE);
        self.ecn.is_eligible && marked > ack.rate.delivered.get().saturating_mul(MAX_MARKED_SHARE)
    }

    /// The bound on what is in flight after too many marks: what was in flight, and at least 0.7 of the flow's target.
    /// In Linux the target is the BDP with the offload budget (`bbr_target_inflight`), so that a small flow keeps room
    /// for a few bursts.
    pub(super) fn bound_after_marks(&self, ack: &Ack) -> Bytes {
        let target = self.inflight_at(self.bw).min(self.control.cwnd);
        ack.rate.inflight_at_send.max(BETA.of_bytes(target))
    }

    /// Called at the end of an ACK. A probe's marks and losses also count towards the cycle that begins at its end.
    pub(super) fn note_marks(&mut self, ack: &Ack) {
        self.ecn.is_in_cycle |= !ack.rate.delivered_ce.is_zero();
        self.ecn.is_loss_in_cycle |= !ack.rate.lost_since_send.is_zero();
    }

    /// The doublings with which the next probe begins, if only marks held this cycle back and have ceased. They grow
    /// the bound by about half in the first round (`bbr_check_time_to_probe_bw`, `bbr_ecn_reprobe_gain`).
    pub(super) fn doublings_after_marks(&self) -> Option<u32> {
        let ecn = &self.ecn;
        let is_over = ecn.is_eligible
            && ecn.is_in_cycle
            && !ecn.is_loss_in_cycle
            && !ecn.is_reduced
            && !self.is_recovering;
        let bound = self.inflight_long_term.unwrap_or(Bytes::ZERO);
        let packets = bound.get() / self.control.mss.get() / 2;
        is_over.then(|| packets.checked_ilog2().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_forgets_a_sixteenth_a_round() {
        let mut ecn = Ecn::new();
        assert_eq!(ecn.cut(Bytes::new(256_000)), Bytes::new(171_000), "a third");
        ecn.average(0);
        assert_eq!(ecn.alpha, FIXED_POINT_ONE * 15 / 16);
        (0..100).for_each(|_| ecn.average(0));
        assert_eq!(ecn.alpha, 0);
        assert_eq!(ecn.cut(Bytes::new(256_000)), Bytes::new(256_000));
        (0..100).for_each(|_| ecn.average(FIXED_POINT_ONE / 2));
        assert!((110..=128).contains(&ecn.alpha), "{}", ecn.alpha);
    }
}
