//! Startup: finds the bandwidth by doubling the sending rate every round.

use super::{Bbr1, State};

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
