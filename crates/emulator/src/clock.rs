//! The clock of a relay or tunnel: the path's times, read from the machine's monotonic clock.

use std::time::Instant;

use units::{Duration, Time};

/// Time since the relay or tunnel started. All times that a path sees come from here, so they never jump and never drift
/// against each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock whose zero is now.
    pub(crate) fn start() -> Clock {
        Clock {
            epoch: Instant::now(),
        }
    }

    /// Its zero.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The time now.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Duration::from(self.epoch.elapsed())
    }
}
