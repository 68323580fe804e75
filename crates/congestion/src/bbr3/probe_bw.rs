//! ProbeBW: the steady state. Goes through four states in turn (BBR draft, "ProbeBW"):
//!
//! - DOWN sends slower than the path delivers, until the queue is gone and there is room for others;
//! - CRUISE sends as fast as the path delivers, until it is time to probe;
//! - REFILL fills the pipe for a round, after the short-term bounds are forgotten;
//! - UP sends faster, until the rate no longer grows, too much is lost, or what is in flight is at the level that was too much
//!   the last time.
//!
//! `long_term` draws the conclusions from a probe's losses.

mod cruise;
mod down;
mod refill;
mod up;

pub use down::PACING_GAIN as DOWN_PACING_GAIN;
pub use up::{CWND_GAIN as UP_CWND_GAIN, Growth, PACING_GAIN as UP_PACING_GAIN};

use units::Time;

use super::{Bbr3, State};
use crate::controller::Ack;

/// The relation of incoming ACKs to a probe (BBR draft, "ProbeBW State", `BBR.ack_phase`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckPhase {
    /// No probe.
    Init,
    /// The probe fills the pipe.
    Refilling,
    /// The probe sends more, but no ACK reflects it yet.
    ProbeStarting,
    /// ACKs reflect the probe.
    ProbeFeedback,
    /// The probe has ended, but ACKs still reflect it.
    ProbeStopping,
}

impl Bbr3 {
    /// `IsInAProbeBWState`.
    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// `IsTimeToProbeBW`. Starts a probe if it is time, and returns whether it does.
    fn probe_if_it_is_time(&mut self, now: Time) -> bool {
        if let Some(doublings) = self.doublings_after_marks() {
            self.refill_and_grow_from(doublings);
            return true;
        }
        let is_time = self.is_time_to_probe(now);
        if is_time {
            self.start_refill();
        }
        is_time
    }

    /// `IsProbingBW`.
    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// `UpdateProbeBWCyclePhase` ("ProbeBW Algorithm Details").
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if !self.full_pipe.is_reached() || self.adapt_long_term_model(ack) {
            return;
        }
        match self.state {
            State::Down => self.check_down(ack),
            State::Cruise => self.check_cruise(ack),
            State::Refill => self.check_refill(ack),
            State::Up => self.check_up(ack),
            State::Startup | State::Drain { .. } | State::ProbeRtt(_) => {}
        }
    }
}
