//! Drain: removes the queue that Startup created (BBR draft, "Drain").

use units::Ratio;

use super::{Bbr3, State};
use crate::controller::Ack;

/// Half, to empty a queue of a BDP in a round (`BBR.DrainPacingGain`).
pub const PACING_GAIN: Ratio = Ratio::new(1, 2);

/// The most rounds, whatever is in flight. Startup may have overestimated the bandwidth beside other flows, and only
/// the next probe corrects that.
const MAX_ROUNDS: u64 = 3;

impl Bbr3 {
    /// `EnterDrain`.
    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain {
            start_round: self.round.count(),
        };
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let State::Drain { start_round } = self.state else {
            return;
        };
        let is_empty = ack.inflight <= self.inflight_at(self.bw);
        if is_empty || self.round.count() > start_round + MAX_ROUNDS {
            self.start_down(ack.now);
        }
    }
}
