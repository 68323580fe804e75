//! DOWN (BBR draft, "ProbeBW_DOWN").

use units::{Ratio, Time};

use super::AckPhase;
use crate::bbr3::{Bbr3, State};
use crate::controller::Ack;

/// The least gain that still lets flows converge to fair shares, given the gain of UP.
pub const PACING_GAIN: Ratio = Ratio::new(9, 10);

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(in crate::bbr3) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.growth.stop();
        self.probe_timing.pick_wait(now);
        self.ack_phase = AckPhase::ProbeStopping;
        self.round.restart(self.delivered);
        self.state = State::Down;
    }

    pub(super) fn check_down(&mut self, ack: &Ack) {
        if !self.probe_if_it_is_time(ack.now) && self.is_time_to_cruise(ack) {
            self.start_cruise();
        }
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let has_headroom = self
            .inflight_with_headroom()
            .is_none_or(|most| ack.inflight <= most);
        has_headroom && ack.inflight <= self.inflight_at(self.max_bw())
    }
}
