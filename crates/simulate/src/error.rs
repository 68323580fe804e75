//! Errors of runs in virtual time.

use ::sim::Excess;
use document::DocumentError;

/// A reason why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] DocumentError),
    /// A scenario that ends when everything has arrived makes no progress.
    #[error(
        "nothing has arrived for {silence} of the scenario's time; does its path let anything through? Give it a duration"
    )]
    Stalled {
        /// The time in which nothing has arrived.
        silence: units::Duration,
    },
    /// There are too many packets.
    #[error(
        "{held} packets are under way or not acknowledged at {at}: at most {most} here; give lower rates, shorter delays, \
         smaller buffers, fewer connections, or fewer runs at a time"
    )]
    Packets {
        /// Their number, in all runs that share the room.
        held: u64,
        /// The maximum.
        most: u64,
        /// The time in the scenario.
        at: units::Duration,
    },
    /// Links have transmitted too many packets.
    #[error(
        "links have transmitted {count} packets by {at}: at most {most} here; give lower rates, or a shorter duration"
    )]
    Transmissions {
        /// Their number.
        count: u64,
        /// The maximum.
        most: u64,
        /// The time in the scenario.
        at: units::Duration,
    },
}

impl RunError {
    pub(crate) fn excess(excess: Excess, at: units::Duration) -> RunError {
        match excess {
            Excess::Packets { held, most } => RunError::Packets { held, most, at },
            Excess::Transmissions { count, most } => RunError::Transmissions { count, most, at },
        }
    }
}
