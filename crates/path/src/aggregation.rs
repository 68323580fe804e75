//! Aggregation: packets held and released together.

use serde::{Deserialize, Serialize};
use units::{Duration, Time};

/// Packets are held until the next whole multiple of the interval (counted from [`Time::ZERO`]) and released together,
/// in their order: the slotted medium of a cellular or cable uplink, or the frame aggregation of Wi-Fi.
///
/// On the reverse link it makes aggregated ACKs. A packet waits between zero and one interval, so the smallest round trip
/// stays the same. There is no limit on how many are released at once.
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
    /// When a packet that is ready at `at` is released: never before `at`, and never after a packet that is ready later.
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
