//! Drain: gets rid of the queue that Startup has created while its last rounds found no more bandwidth.

use units::{Bytes, Ratio, Time};

use super::{Bbr1, State, startup};

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
    pub(super) fn check_drain_done(&mut self, now: Time, inflight: Bytes) {
        if matches!(self.state, State::Drain) && inflight <= self.inflight_at(Ratio::ONE) {
            self.enter_probe_bw(now);
        }
    }
}
