//! The stay in ProbeRTT: until little is in flight, and then for a time and a round.

use units::{Bytes, Time};

use crate::round::Round;

/// The progress of ProbeRTT.
#[derive(Debug, Clone)]
pub enum Stay {
    /// More is in flight than ProbeRTT wants.
    Draining,
    /// Little is in flight, until that time and until a round has passed.
    Until { end: Time, has_round_passed: bool },
}

impl Stay {
    /// Takes an ACK with the total `delivered`. When what is in flight `is_low` for the first time, the stay lasts at
    /// least until `end`. Returns whether a round has passed since.
    pub fn on_ack(&mut self, is_low: bool, end: Time, round: &mut Round, delivered: Bytes) -> bool {
        match self {
            Stay::Draining if is_low => {
                round.restart(delivered);
                *self = Stay::Until {
                    end,
                    has_round_passed: false,
                };
                false
            }
            Stay::Draining => false,
            Stay::Until {
                has_round_passed, ..
            } => {
                *has_round_passed |= round.has_just_started();
                *has_round_passed
            }
        }
    }

    /// Whether the time with little in flight is over. After an idle period this alone ends the stay, since no round
    /// can pass with nothing in flight.
    pub fn is_time_over(&self, now: Time) -> bool {
        matches!(self, Stay::Until { end, .. } if now > *end)
    }
}
