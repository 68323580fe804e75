//! When datagrams came.

use std::time::{Duration, Instant, SystemTime};

/// As close together as the two clocks should be read. To read one takes far less than a microsecond.
const APART: Duration = Duration::from_micros(5);

/// How often they are read for that. A thread that loses its processor each time takes what it has got.
const TRIES: usize = 4;

/// Clocks that are further apart than they were, by more than this, were not read together, or the time of day was set. What
/// speeds it up or slows it down does the same to our clock (`adjtimex(2)`).
const STEP: Duration = Duration::from_micros(50);

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

    /// Whether the time of day was set since `before`.
    fn is_set_since(&self, before: &Present) -> bool {
        let passed = self.now.saturating_duration_since(before.now);
        let went = self.day.duration_since(before.day);
        !went.is_ok_and(|went| went.abs_diff(passed) <= STEP)
    }

    /// When a datagram came that the kernel stamped with the time of day `stamp` (since 1970). It was not there at `empty`,
    /// and is now. Without a stamp, with one that cannot be, or if the time of day was set meanwhile, it came just now.
    pub(super) fn arrival(&self, stamp: Option<Duration>, empty: &Present) -> Instant {
        let stamp = stamp.filter(|_| !self.is_set_since(empty));
        let age = stamp.and_then(|stamp| {
            let received = SystemTime::UNIX_EPOCH.checked_add(stamp)?;
            self.day.duration_since(received).ok()
        });
        let at = age.and_then(|age| self.now.checked_sub(age));
        at.unwrap_or(self.now).max(empty.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// The clocks at a time, and 50 ms later by both; the time of day also since 1970.
    fn clocks() -> (Present, Present, Duration) {
        let since = ms(1_700_000_000_000);
        let now = Instant::now() + ms(10_000);
        let day = SystemTime::UNIX_EPOCH + since;
        let empty = Present {
            day: day - ms(50),
            now: now - ms(50),
        };
        (empty, Present { day, now }, since)
    }

    #[test]
    fn an_arrival_lies_between_the_last_look_and_the_present() {
        let (empty, present, since) = clocks();
        let arrival = |stamp| present.arrival(stamp, &empty);
        assert_eq!(arrival(Some(since - ms(7))), present.now - ms(7));
        assert_eq!(arrival(Some(since)), present.now);
        // It would have been there.
        assert_eq!(arrival(Some(since - ms(70))), empty.now);
        assert_eq!(arrival(Some(since + ms(3))), present.now);
        assert_eq!(arrival(None), present.now);
    }

    /// By whatever it is set: no time stamp of before makes a round-trip time other than it is.
    #[test]
    fn a_step_of_the_time_of_day_is_seen() {
        let (empty, present, since) = clocks();
        for step in [ms(1) / 10, ms(3), ms(300), ms(3_600_000)] {
            for day in [present.day + step, present.day - step] {
                let set = Present { day, ..present };
                let stamp = Some(since - ms(7));
                assert_eq!(set.arrival(stamp, &empty), present.now, "{step:?}");
            }
        }
        let nearly = Present {
            day: present.day + ms(1) / 50,
            ..present
        };
        let at = nearly.arrival(Some(since - ms(7)), &empty);
        assert_eq!(at, present.now - ms(7) - ms(1) / 50);
    }
}
