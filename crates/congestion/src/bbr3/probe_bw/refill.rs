//! REFILL (BBR draft, "ProbeBW_REFILL").

use super::AckPhase;
use crate::bbr3::{Bbr3, State};
use crate::controller::Ack;

impl Bbr3 {
    /// `StartProbeBW_REFILL`.
    pub(in crate::bbr3) fn start_refill(&mut self) {
        self.refill_and_grow_from(0);
    }

    /// Starts REFILL for a probe that grows as after this many doublings.
    pub(super) fn refill_and_grow_from(&mut self, doublings: u32) {
        self.short_term.reset();
        self.growth.restart(doublings);
        self.caution.is_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.round.restart(self.delivered);
        self.state = State::Refill;
    }

    /// After a round, ACKs and losses are those of the refilled pipe.
    pub(super) fn check_refill(&mut self, ack: &Ack) {
        if self.round.has_just_started() {
            self.is_probe_sample = true;
            self.start_up(ack);
        }
    }
}
