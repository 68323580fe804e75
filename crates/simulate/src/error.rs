//! Errors of runs in virtual time.

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
}
