//! The answer to ECN marks that Linux's BBRv3 has, where a queue marks at a shallow threshold, as in a data centre (Linux v3
//! `bbr_update_ecn_alpha` and those around it). The BBR draft has none ("ECN"), so this is a setting, and off unless asked for.
//!
//! Marks must be counted, as a share of what was delivered. That share, averaged over rounds, is alpha. A round with a mark lowers
//! the short-term bound on what is in flight by a third of alpha; a probe of which half was marked went too far, and two such rounds
//! end Startup. When the marks are gone, the next probe begins at once and grows fast: whoever was beside the flow may be gone, too.

use units::{Bytes, Duration};

use super::Bbr3;
use super::long_term::BETA;
use crate::controller::Ack;

/// What a share of one is (Linux `BBR_UNIT`).
const UNIT: u64 = 256;
/// The weight of the latest round in alpha: 1/16 (`bbr_ecn_alpha_gain`).
const GAIN: u64 = UNIT / 16;
/// How much of the bound goes if all is marked: a third (`bbr_ecn_factor`).
const FACTOR: u64 = UNIT / 3;
/// The share of marked data that shows a probe to have gone too far: more than half (`bbr_ecn_thresh`).
const THRESHOLD: u64 = UNIT / 2;
/// Rounds in a row with as much that end Startup (`bbr_full_ecn_cnt`).
const STARTUP_ROUNDS: u8 = 2;

/// The setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Marks are answered once the least RTT has been this short: only there is a mark the sign of a shallow queue.
    pub max_rtt: Duration,
}

impl Config {
    /// As in Linux's BBRv3 (`bbr_ecn_max_rtt_us`). There the route must say, too, that its queues mark early.
    pub const fn linux() -> Config {
        Config {
            max_rtt: Duration::from_millis(5),
        }
    }
}

/// What is known of marks.
#[derive(Debug, Clone, Copy)]
pub struct Ecn {
    /// The path is short enough (`ecn_eligible`). Stays so.
    is_eligible: bool,
    /// The share of marks, averaged over rounds. One at first, so that the first marks are answered in full.
    alpha: u64,
    /// What was delivered, and marked of that, when alpha was last updated.
    delivered: Bytes,
    delivered_ce: Bytes,
    startup_rounds: u8,
    is_in_round: bool,
    is_in_cycle: bool,
    is_loss_in_cycle: bool,
    /// The transport tells of a round trip with marks (Linux `TCP_CA_CWR`).
    pub is_reduced: bool,
}

impl Ecn {
    pub fn new() -> Ecn {
        Ecn {
            is_eligible: false,
            alpha: UNIT,
            delivered: Bytes::ZERO,
            delivered_ce: Bytes::ZERO,
            startup_rounds: 0,
            is_in_round: false,
            is_in_cycle: false,
            is_loss_in_cycle: false,
            is_reduced: false,
        }
    }

    /// A packet was lost.
    pub fn note_loss(&mut self) {
        self.is_loss_in_cycle = true;
    }

    /// A cycle begins (`bbr_reset_congestion_signals`).
    pub fn start_cycle(&mut self) {
        self.is_in_round = false;
        self.is_in_cycle = false;
        self.is_loss_in_cycle = false;
    }

    /// The share that was marked since the last time, of [`UNIT`]; `None` if nothing was delivered.
    fn next_share(&mut self, ack: &Ack) -> Option<u64> {
        let (delivered, marked) = (ack.rate.total_delivered, ack.rate.total_delivered_ce);
        let marked_now = (marked - self.delivered_ce).get();
        let delivered_now = (delivered - self.delivered).get();
        let share = (marked_now.saturating_mul(UNIT)).checked_div(delivered_now)?;
        (self.delivered, self.delivered_ce) = (delivered, marked);
        Some(share.min(UNIT))
    }

    /// `bbr_update_ecn_alpha`.
    fn average(&mut self, share: u64) {
        self.alpha = ((UNIT - GAIN) * self.alpha + GAIN * share) / UNIT;
    }

    /// What is left of a bound (`bbr_ecn_lower_bounds`).
    fn cut(&self, bound: Bytes) -> Bytes {
        let kept = UNIT - self.alpha * FACTOR / UNIT;
        Bytes::new(bound.get().saturating_mul(kept) / UNIT)
    }
}

impl Bbr3 {
    /// Once an ACK, as soon as it is known whether it starts a round.
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
        self.ecn.startup_rounds = if share >= THRESHOLD {
            self.ecn.startup_rounds + 1
        } else {
            0
        };
        if self.ecn.startup_rounds >= STARTUP_ROUNDS {
            self.set_pipe_full();
        }
    }

    /// At the end of a round in which the flow did not probe: the bound on what is in flight that its marks leave.
    pub(super) fn inflight_after_marks(&self) -> Option<Bytes> {
        let bound = self.short_term.inflight.unwrap_or(self.control.cwnd);
        self.ecn.is_in_round.then(|| self.ecn.cut(bound))
    }

    pub(super) fn end_round_of_marks(&mut self) {
        self.ecn.is_in_round = false;
    }

    /// Whether too much of what was delivered since this packet left was marked (`bbr_is_inflight_too_high`).
    pub(super) fn is_marked_too_much(&self, ack: &Ack) -> bool {
        let marked = ack.rate.delivered_ce.get().saturating_mul(UNIT);
        self.ecn.is_eligible && marked > ack.rate.delivered.get().saturating_mul(THRESHOLD)
    }

    /// What may be in flight after that: what was, and at least 0.7 of what the flow aims at. In Linux it aims at the BDP with the
    /// offload budget (`bbr_target_inflight`), so that a flow with little keeps room for a few bursts.
    pub(super) fn bound_after_marks(&self, ack: &Ack) -> Bytes {
        let target = self.inflight_at(self.bw()).min(self.control.cwnd);
        ack.rate.inflight_at_send.max(BETA.of_bytes(target))
    }

    /// At the end of an ACK. The marks and losses of a probe count towards the cycle that its end begins, too.
    pub(super) fn note_marks(&mut self, ack: &Ack) {
        self.ecn.is_in_cycle |= !ack.rate.delivered_ce.is_zero();
        self.ecn.is_loss_in_cycle |= !ack.rate.lost_since_send.is_zero();
    }

    /// The doublings to begin the next probe with, if marks alone have held this cycle back and are gone: enough to grow by about
    /// half of the bound in its first round (`bbr_check_time_to_probe_bw`, `bbr_ecn_reprobe_gain`).
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
        assert_eq!(ecn.alpha, UNIT * 15 / 16);
        (0..100).for_each(|_| ecn.average(0));
        assert_eq!(ecn.alpha, 0);
        assert_eq!(ecn.cut(Bytes::new(256_000)), Bytes::new(256_000));
        (0..100).for_each(|_| ecn.average(UNIT / 2));
        assert!((110..=128).contains(&ecn.alpha), "{}", ecn.alpha);
    }
}
