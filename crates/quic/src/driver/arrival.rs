//! Arrival times of datagrams.

use std::time::{Duration, Instant, SystemTime};

/// The maximum time between the reads of the two clocks. To read one clock takes much less than a microsecond.
const MAX_READ_GAP: Duration = Duration::from_micros(5);

/// The maximum number of attempts to meet [`MAX_READ_GAP`]. If the thread loses the processor each time, the last
/// result is used.
const MAX_READS: usize = 4;

/// A larger change of the difference between the clocks shows that they were not read together, or that the time of day
/// was set. A correction of the clock's frequency affects both clocks alike (`adjtimex(2)`).
const MAX_CLOCK_CHANGE: Duration = Duration::from_micros(50);

/// The present on both clocks: the clock of the kernel's time stamps (the time of day), and ours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Present {
    day: SystemTime,
    now: Instant,
}

impl Present {
    /// Reads both clocks. The time of day is read first. If the thread loses the processor between the two, arrivals
    /// seem later than they were. They never seem earlier, which would make RTTs shorter than the path's.
    pub(super) fn look() -> Present {
        let mut present = Present::once();
        for _ in 1..MAX_READS {
            if present.1 <= MAX_READ_GAP {
                break;
            }
            present = Present::once();
        }
        present.0
    }

    /// Reads both clocks. Also returns the time that this took.
    fn once() -> (Present, Duration) {
        let before = Instant::now();
        let day = SystemTime::now();
        let now = Instant::now();
        (Present { day, now }, now - before)
    }

    /// True if the time of day was set since `before`.
    fn is_set_since(&self, before: &Present) -> bool {
        let passed = self.now.saturating_duration_since(before.now);
        let went = self.day.duration_since(before.day);
        !went.is_ok_and(|went| went.abs_diff(passed) <= MAX_CLOCK_CHANGE)
    }

    /// Returns the arrival of a datagram that the kernel stamped with the time of day `stamp` (since 1970). The
    /// datagram was not there at `empty`, and is there at the present. Without a valid stamp, or if the time of day was
    /// set meanwhile, the arrival is the present.
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

    /// Both clocks at one time, and both clocks 50 ms later, with the time of day since 1970.
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
        // An earlier datagram would have been there at `empty`.
        assert_eq!(arrival(Some(since - ms(70))), empty.now);
        assert_eq!(arrival(Some(since + ms(3))), present.now);
        assert_eq!(arrival(None), present.now);
    }

    /// The step may have any size. No stamp from before it changes an RTT.
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
