//! CRUISE (BBR draft, "ProbeBW_CRUISE").

use crate::bbr3::{Bbr3, State};
use crate::controller::Ack;

impl Bbr3 {
    /// `StartProbeBW_CRUISE`.
    pub(in crate::bbr3) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn check_cruise(&mut self, ack: &Ack) {
        self.probe_if_it_is_time(ack.now);
    }
}
