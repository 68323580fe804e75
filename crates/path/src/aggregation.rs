//! Aggregation: packets held and released together.

use serde::{Deserialize, Serialize};
use units::{Duration, Time};

/// Holds packets until the next whole multiple of the interval (counted from [`Time::ZERO`]) and releases them
/// together, in their order, as the slotted medium of a cellular or cable uplink does, or the frame aggregation of
/// Wi-Fi.
///
/// On the reverse link, it causes aggregated ACKs. A packet waits between zero and one interval, so the minimum round
/// trip stays the same. The number of packets released at once has no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { interval = \"10ms\" }"
)]
pub struct Aggregation {
    /// The time from one release to the next. Zero holds nothing.
    pub interval: Duration,
}

impl Aggregation {
    /// The time at which a packet that is ready at `at` is released: never before `at`, and never after a packet that
    /// is ready later.
    pub(crate) fn release(&self, at: Time) -> Time {
        let interval = self.interval.as_nanos();
        match at.as_nanos().checked_rem(interval) {
            None | Some(0) => at,
            Some(since) => at + Duration::from_nanos(interval - since),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_at_whole_multiples() {
        let aggregation = Aggregation {
            interval: Duration::from_millis(10),
        };
        let release = |nanos| aggregation.release(Time::from_nanos(nanos)).as_nanos();
        assert_eq!(release(0), 0);
        assert_eq!(release(1), 10_000_000);
        assert_eq!(release(9_999_999), 10_000_000);
        assert_eq!(release(10_000_000), 10_000_000);
        assert_eq!(release(10_000_001), 20_000_000);
        assert_eq!(aggregation.release(Time::MAX), Time::MAX);
        let none = Aggregation {
            interval: Duration::ZERO,
        };
        assert_eq!(none.release(Time::from_nanos(3)), Time::from_nanos(3));
    }
}
