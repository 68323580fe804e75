//! When datagrams came.

use std::time::{Duration, Instant, SystemTime};

/// As close together as the two clocks should be read. To read one takes far less than a microsecond.
const APART: Duration = Duration::from_micros(5);

/// How often they are read for that. A thread that loses its processor each time takes what it has got.
const TRIES: usize = 4;

/// A datagram that waited for longer than that was not left unread: the time of day was set.
const OLDEST: Duration = Duration::from_secs(1);

/// The present, on the clock of the kernel's time stamps (the time of day) and on ours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Present {
    day: SystemTime,
    now: Instant,
}

impl Present {
    /// Looks at both clocks. The time of day comes first: a thread that loses its processor between the two takes arrivals
    /// for later than they were, and never for earlier, which would make round-trip times shorter than the path's.
    pub(super) fn look() -> Present {
        let mut present = Present::once();
        for _ in 1..TRIES {
            if present.1 <= APART {
                break;
            }
            present = Present::once();
        }
        present.0
    }

    /// Both clocks, and how long it took to read them.
    fn once() -> (Present, Duration) {
        let before = Instant::now();
        let day = SystemTime::now();
        let now = Instant::now();
        (Present { day, now }, now - before)
    }

    /// When a datagram came that the kernel stamped with the time of day `stamp` (since 1970). It was not there at `empty`,
    /// and is now. Without a stamp, or with one that cannot be, it came just now.
    pub(super) fn arrival(&self, stamp: Option<Duration>, empty: Instant) -> Instant {
        let age = stamp.and_then(|stamp| {
            let received = SystemTime::UNIX_EPOCH.checked_add(stamp)?;
            self.day.duration_since(received).ok()
        });
        let at = age
            .filter(|age| *age < OLDEST)
            .and_then(|age| self.now.checked_sub(age));
        at.unwrap_or(self.now).max(empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_lies_between_the_last_look_and_the_present() {
        let ms = Duration::from_millis;
        let now = Instant::now() + ms(10_000);
        let since = ms(1_700_000_000_000);
        let day = SystemTime::UNIX_EPOCH + since;
        let present = Present { day, now };
        let empty = now - ms(50);
        let arrival = |stamp| present.arrival(stamp, empty);
        assert_eq!(arrival(Some(since - ms(7))), now - ms(7));
        assert_eq!(arrival(Some(since)), now);
        // It would have been there.
        assert_eq!(arrival(Some(since - ms(70))), empty);
        // The time of day was set.
        assert_eq!(arrival(Some(since + ms(3))), now);
        assert_eq!(arrival(Some(since - ms(3_600_000))), now);
        assert_eq!(arrival(None), now);
    }
}
