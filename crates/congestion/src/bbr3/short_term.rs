//! The short-term model: safe bounds after the losses of the present cycle, `BBR.bw_shortterm` and
//! `BBR.inflight_shortterm` (BBR draft, "When not Probing for Bandwidth").
//!
//! A flow that does not probe did not cause the losses that it sees. The path has changed, or other flows have started.
//! The flow then slows down towards the deliveries of the latest round, to no less than 0.7 of its bounds in each
//! round, until its next probe.
//!
//! Deliveries also depend on the flow's own sending rate. Drain, DOWN and ProbeRTT send slower than the path delivers,
//! and a loss then makes this rate the bound. The [setting](super::Config::ignore_self_limited) excludes such samples.

use units::{Bytes, Rate};

use super::{BETA, Bbr3, State};
use crate::controller::Ack;
use crate::sampling::RateSample;

/// The bounds; `None` is the draft's infinity.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShortTerm {
    pub bw: Option<Rate>,
    pub inflight: Option<Bytes>,
}

impl ShortTerm {
    /// `ResetShortTermModel`.
    pub fn reset(&mut self) {
        *self = ShortTerm::default();
    }
}

/// The greatest deliveries of the latest round (BBR draft, "State for Responding to Congestion").
#[derive(Debug, Clone, Copy)]
pub struct Latest {
    pub bw: Rate,
    pub inflight: Bytes,
}

impl Latest {
    fn of(rate: &RateSample) -> Latest {
        Latest {
            bw: rate.delivery_rate.unwrap_or(Rate::ZERO),
            inflight: rate.delivered,
        }
    }

    fn max(self, other: Latest) -> Latest {
        Latest {
            bw: self.bw.max(other.bw),
            inflight: self.inflight.max(other.inflight),
        }
    }
}

/// Rounds that begin at the first loss.
#[derive(Debug, Clone, Copy, Default)]
pub struct LossRound {
    /// The delivered bytes at the end: a packet sent at or after this total belongs to the next round
    /// (`BBR.loss_round_delivered`).
    end: Bytes,
    has_just_started: bool,
    /// Whether something was lost in this round (`BBR.is_loss_in_round`).
    pub is_lossy: bool,
}

impl LossRound {
    /// Starts a new round with the next packet sent.
    pub fn restart(&mut self, delivered: Bytes) {
        self.end = delivered;
    }

    /// Whether the ACK in progress starts a round (`BBR.loss_round_start`).
    pub fn has_just_started(&self) -> bool {
        self.has_just_started
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, ack: &Ack) {
        self.loss_round.has_just_started = false;
        self.latest = match (self.latest, self.of_the_path(ack)) {
            (Some(latest), Some(sample)) => Some(latest.max(sample)),
            (latest, sample) => latest.or(sample),
        };
        if ack.rate.prior_delivered >= self.loss_round.end {
            self.loss_round.end = ack.rate.total_delivered;
            self.loss_round.has_just_started = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest(&mut self, ack: &Ack) {
        if self.loss_round.has_just_started {
            self.latest = self.of_the_path(ack);
        }
    }

    /// The deliveries that the ACK shows of the path, unless the flow's own slow sending limited them.
    fn of_the_path(&self, ack: &Ack) -> Option<Latest> {
        let is_self_limited =
            self.config.ignore_self_limited && self.self_limited.contains(ack.rate.prior_delivered);
        (!is_self_limited).then(|| Latest::of(&ack.rate))
    }

    /// Whether the state sends slower than the path delivers.
    pub(super) fn is_slow_on_purpose(&self) -> bool {
        matches!(
            self.state,
            State::Drain { .. } | State::Down | State::ProbeRtt(_)
        )
    }

    /// `BBR.inflight_latest`.
    pub(super) fn latest_inflight(&self) -> Bytes {
        self.latest.map_or(Bytes::ZERO, |latest| latest.inflight)
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_round.is_lossy = false;
        self.latest = None;
        self.ecn.start_cycle();
    }

    /// `UpdateCongestionSignals`, after the bandwidth: once a round.
    pub(super) fn respond_to_congestion(&mut self) {
        if !self.loss_round.has_just_started {
            return;
        }
        if !self.is_probing_bw() {
            let after_marks = self.inflight_after_marks();
            if let (true, Some(latest)) = (self.loss_round.is_lossy, self.latest) {
                self.lower_short_term_bounds(latest);
            }
            if let Some(most) = after_marks {
                let bound = self.short_term.inflight.unwrap_or(Bytes::MAX);
                self.short_term.inflight = Some(bound.min(most));
            }
        }
        self.loss_round.is_lossy = false;
        self.end_round_of_marks();
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_short_term_bounds(&mut self, latest: Latest) {
        let bw = self.short_term.bw.unwrap_or(self.max_bw());
        let inflight = self.short_term.inflight.unwrap_or(self.control.cwnd);
        self.short_term = ShortTerm {
            bw: Some(latest.bw.max(bw.scale(BETA))),
            inflight: Some(latest.inflight.max(BETA.of_bytes(inflight))),
        };
    }
}
