//! Startup: finds the bandwidth by doubling the sending rate every round.

use units::Ratio;

use super::{Bbr1, State};

/// 2/ln 2, the least gain at which the rate can double each round: as a round's samples lag by a round, the rate grows
/// as the solution of r' = gain · r(t − RTT) (paper, "Single BBR Flow Startup Behavior"; Linux `bbr_high_gain`).
pub const PACING_GAIN: Ratio = Ratio::new(2885, 1000);

/// Room for what the pacing gain sends before its ACKs return; also bounds the queue at the end of Startup to
/// gain − 1 BDP.
pub const CWND_GAIN: Ratio = PACING_GAIN;

impl Bbr1 {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    pub(super) fn check_startup_done(&mut self) {
        if matches!(self.state, State::Startup) && self.full_pipe.is_reached() {
            self.enter_drain();
        }
    }
}
