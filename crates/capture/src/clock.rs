//! The clock of a capture, which may be set back while packets are captured.

use units::{Duration, Time};

/// Packets of several queues are out of order by less than this. A clock that runs back further was set.
const MAX_REORDERING: Duration = Duration::from_millis(100);

/// A clock is hardly ever set more often. Times that still run back are those of several clocks.
const MAX_STEPS: u8 = 8;

/// Packets that were late, and not of a clock that was set, are fewer than this in a row: as many as one poll of a card's
/// queue takes (Linux `NAPI_POLL_WEIGHT`).
const MAX_LATE_PACKETS: u8 = 64;

/// The latest step back, which may turn out to be late packets alone.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// By how much the clock had been set back before.
    before: Duration,
    /// The size of this step.
    size: Duration,
    /// The latest time before it.
    latest: Time,
    /// The packets that may still be late.
    left: u8,
}

/// The times of packets in the order of the capture.
#[derive(Debug, Default)]
pub struct Clock {
    latest: Option<Time>,
    /// By how much the clock was set back so far.
    back: Duration,
    steps: u8,
    step: Option<Step>,
    /// Packets whose time is before that of the packet before.
    pub backward: u64,
    /// By how much at most, if the clock was not set back.
    pub most: Duration,
    /// How often it was set back.
    pub set_back: u64,
}

impl Clock {
    /// The time of the next packet as if the clock had not been set back, and whether it was set back just now.
    #[inline]
    pub fn on_packet(&mut self, at: Time) -> (Time, bool) {
        if self.step.is_some() {
            self.look_back(at);
        }
        let mut at = at + self.back;
        let mut is_step = false;
        if let Some(latest) = self.latest.filter(|latest| at < *latest) {
            self.backward += 1;
            let back = latest.since(at);
            // A second step would hide that the first was late packets.
            is_step = back > MAX_REORDERING && self.steps < MAX_STEPS && self.step.is_none();
            if is_step {
                self.steps += 1;
                self.set_back += 1;
                self.step = Some(Step {
                    before: self.back,
                    size: back,
                    latest,
                    left: MAX_LATE_PACKETS,
                });
                self.back = self.back + back;
                at = latest;
            } else {
                self.most = self.most.max(back);
            }
        }
        self.latest = Some(at);
        (at, is_step)
    }

    /// The clock was not set back if the next packets are where it was before.
    #[cold]
    fn look_back(&mut self, at: Time) {
        let Some(step) = &mut self.step else { return };
        let jump = self
            .latest
            .map_or(Duration::ZERO, |latest| (at + self.back).since(latest));
        let has_returned =
            at + step.before + MAX_REORDERING >= step.latest && jump + MAX_REORDERING >= step.size;
        step.left -= 1;
        let is_over = step.left == 0;
        if has_returned {
            self.back = step.before;
            self.most = self.most.max(step.size);
            self.set_back -= 1;
        }
        if has_returned || is_over {
            self.step = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times in milliseconds as the clock gives them.
    fn times(clock: &mut Clock, at_ms: &[u64]) -> Vec<u64> {
        let millis = |ms: &u64| Time::ZERO + Duration::from_millis(*ms);
        let times = at_ms.iter().map(|ms| clock.on_packet(millis(ms)).0);
        times
            .map(|at| at.since(Time::ZERO).as_nanos() / 1_000_000)
            .collect()
    }

    #[test]
    fn late_packets_do_not_set_the_clock() {
        let mut clock = Clock::default();
        let late = [5_000, 5_001, 4_000, 4_001, 5_002, 5_100, 5_050];
        assert_eq!(times(&mut clock, &late)[4..], [5_002, 5_100, 5_050]);
        assert_eq!((clock.set_back, clock.backward), (0, 2));
        assert_eq!(clock.most, Duration::from_millis(1_001));
    }

    #[test]
    fn two_bursts_of_late_packets_do_not_set_the_clock() {
        let mut clock = Clock::default();
        let late = [5_000, 4_000, 4_001, 3_500, 3_501, 5_002, 4_002, 5_003];
        let told = times(&mut clock, &late);
        assert_eq!((told[5], told[7]), (5_002, 5_003));
        assert_eq!(clock.set_back, 0);
    }

    #[test]
    fn a_clock_that_is_set_back_stays_there() {
        let mut clock = Clock::default();
        let set: Vec<u64> = (5_000..5_010).chain(4_000..6_000).collect();
        assert_eq!(times(&mut clock, &set).last(), Some(&(5_009 + 1_999)));
        assert_eq!((clock.set_back, clock.backward), (1, 1));
        assert_eq!(clock.most, Duration::ZERO);
    }
}
