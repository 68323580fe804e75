//! The capacity of a bottleneck.

use units::{ConfigError, Rate};

use crate::trace::Trace;

/// The capacity of a link.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Capacity {
    /// No limit: packets never wait.
    #[default]
    Unlimited,
    /// A rate in bits per second.
    Rate(Rate),
    /// Recorded delivery opportunities.
    Trace(Trace),
}

impl Capacity {
    /// The mean rate, if there is a limit.
    pub fn mean_rate(&self) -> Option<Rate> {
        match self {
            Capacity::Unlimited => None,
            Capacity::Rate(rate) => Some(*rate),
            Capacity::Trace(trace) => Some(trace.mean_rate()),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Capacity::Rate(Rate::ZERO) => Err(ConfigError::new(
                "rate",
                "is zero: nothing would move; give a rate such as 20mbit",
            )),
            _ => Ok(()),
        }
    }
}
