//! The frequency of ACKs to request in each state (BBR draft, "Impact of changing ACK frequency").

use super::{Bbr3, State};
use crate::controller::AckFrequency;

impl Bbr3 {
    /// The guidance for each phase. The draft does not name Drain, which ends only when ACKs arrive.
    ///
    /// "If a sender that has requested reduced ACK frequency observes that it frequently exhausts C.cwnd before the next ACK
    /// arrives, it SHOULD increase the requested ACK frequency": here, if the window was full in the latest round trip.
    pub(super) fn wanted_ack_frequency(&self) -> AckFrequency {
        match self.state {
            State::Down | State::Cruise if !self.is_window_short => AckFrequency::Rare,
            State::ProbeRtt(_) => AckFrequency::Prompt,
            State::Startup
            | State::Drain { .. }
            | State::Down
            | State::Cruise
            | State::Refill
            | State::Up => AckFrequency::Frequent,
        }
    }
}
