//! How long ProbeRTT stays: until little is in flight, and from then on for a time and a round.

use units::{Bytes, Time};

use crate::round::Round;

/// How far ProbeRTT has got.
#[derive(Debug, Clone)]
pub enum Stay {
    /// More is still in flight than it wants.
    Draining,
    /// Until that time, and until a round has passed.
    Until { end: Time, has_round_passed: bool },
}

impl Stay {
    /// An ACK has arrived, with so much delivered. If what is in flight `is_low` for the first time, the stay ends no sooner than
    /// `end`. Returns whether a round has passed since.
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

    /// Whether the time at little in flight is over. By itself this is enough after an idle period, in which nothing was in
    /// flight and no round could pass.
    pub fn is_time_over(&self, now: Time) -> bool {
        matches!(self, Stay::Until { end, .. } if now > *end)
    }
}
