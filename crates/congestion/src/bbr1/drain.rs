//! Drain: removes the queue that Startup created while its last rounds found no more bandwidth.

use units::Ratio;

use super::{Bbr1, State};
use crate::controller::Ack;

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
