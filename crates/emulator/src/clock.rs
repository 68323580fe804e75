//! The clock of a relay or tunnel: the path's times, read from the machine's monotonic clock.

use std::time::Instant;

use units::{Duration, Time};

/// The time since the relay or tunnel started. It is the only source of a path's times, so they never jump and never
/// drift against each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    /// Starts a clock at zero.
    pub(crate) fn start() -> Clock {
        Clock {
            epoch: Instant::now(),
        }
    }

    /// The time of its zero.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The time now.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Duration::from(self.epoch.elapsed())
    }
}
