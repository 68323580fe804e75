//! Drain: gets rid of the queue that Startup has created while its last rounds found no more bandwidth.

use units::Ratio;

use super::{Bbr1, State, startup};
use crate::controller::Ack;

/// The exact inverse of Startup's gain: what a round at that gain has queued up, a round at this one lets flow off
/// (paper, "Single BBR Flow Startup Behavior"; Linux `bbr_drain_gain`).
pub const PACING_GAIN: Ratio = Ratio::new(
    startup::PACING_GAIN.denominator(),
    startup::PACING_GAIN.numerator(),
);

/// Startup's: the queue must drain by slower sending, not by a window that stops it.
pub const CWND_GAIN: Ratio = startup::CWND_GAIN;

impl Bbr1 {
    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
    }

    /// The queue is gone once no more is in flight than the pipe holds.
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        if matches!(self.state, State::Drain)
            && self.in_network(ack, ack.inflight) <= self.inflight_at(Ratio::ONE)
        {
            self.enter_probe_bw(ack.now);
        }
    }
}
