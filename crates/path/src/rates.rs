//! A recorded rate over time, and a bottleneck that follows it.

use std::sync::Arc;

use units::{Bytes, Duration, Rate, Time};

use crate::line::Line;

/// A recorded rate over time, which repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rates {
    /// The rates with their start times, in the order of time. The first is at zero.
    steps: Arc<[Step]>,
    period: Duration,
}

/// A rate from a given time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its start, from the start of the trace.
    pub(crate) at: Duration,
    pub(crate) rate: Rate,
}

impl Rates {
    /// Makes a trace of steps, the first at zero, in the order of their times, all before the end of the period. `None`
    /// if no rate is above zero: nothing would ever move.
    ///
    /// A step with the rate of the one before is left out, so an outage is one step however finely it was recorded.
    pub(crate) fn new(mut steps: Vec<Step>, period: Duration) -> Option<Rates> {
        steps.dedup_by_key(|step| step.rate);
        let is_alive = steps.iter().any(|step| !step.rate.is_zero());
        (is_alive && !period.is_zero()).then(|| Rates {
            steps: steps.into(),
            period,
        })
    }

    pub(crate) fn period(&self) -> Duration {
        self.period
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The mean rate over one period.
    pub(crate) fn mean_rate(&self) -> Rate {
        let ends = self.steps.iter().skip(1).map(|step| step.at);
        let ends = ends.chain([self.period]);
        // A short step may carry less than a byte, so only the sum is rounded.
        let carried = self.steps.iter().zip(ends).map(|(step, end)| {
            let span = end.saturating_sub(step.at).as_nanos();
            u128::from(step.rate.bytes_per_sec()) * u128::from(span)
        });
        let mean = carried.sum::<u128>() / u128::from(self.period.as_nanos());
        Rate::from_bytes_per_sec(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    fn step(&self, index: usize) -> Step {
        let first = Step {
            at: Duration::ZERO,
            rate: Rate::ZERO,
        };
        self.steps.get(index).copied().unwrap_or(first)
    }
}

/// A line at the recorded rate.
#[derive(Debug, Clone)]
pub(crate) struct Follower {
    rates: Rates,
    line: Line,
    /// The start of the present repetition.
    base: Time,
    /// The index of the present step.
    present: usize,
    /// True if packets wait or are in transmission. Otherwise the rate is not needed.
    is_busy: bool,
}

impl Follower {
    pub(crate) fn new(rates: Rates) -> Follower {
        Follower {
            line: Line::new(rates.step(0).rate, Time::ZERO),
            rates,
            base: Time::ZERO,
            present: 0,
            is_busy: false,
        }
    }

    /// Records that the bottleneck was idle until `now`.
    pub(crate) fn wake(&mut self, now: Time) {
        self.seek(now);
        self.line = Line::new(self.rates.step(self.present).rate, now);
        self.is_busy = true;
    }

    /// Moves to the step at `now`, which is not before the present one.
    fn seek(&mut self, now: Time) {
        if now < self.next_at() {
            return;
        }
        let period = self.rates.period.as_nanos();
        let since = now.since(self.base).as_nanos();
        self.base += Duration::from_nanos(since - since % period);
        let within = now.since(self.base);
        let begun = self.rates.steps.partition_point(|step| step.at <= within);
        self.present = begun.saturating_sub(1);
    }

    /// The start of the next step.
    fn next_at(&self) -> Time {
        let next = self.rates.steps.get(self.present + 1);
        self.base + next.map_or(self.rates.period, |step| step.at)
    }

    /// The time at which the rate next changes for waiting packets.
    pub(crate) fn next_look(&self) -> Option<Time> {
        self.is_busy.then(|| self.next_at())
    }

    /// Begins the next step, with `backlog` waiting or in transmission.
    pub(crate) fn look(&mut self, backlog: Bytes) {
        let at = self.next_at();
        self.present += 1;
        if self.present >= self.rates.len() {
            self.present = 0;
            self.base = at;
        }
        self.is_busy = !backlog.is_zero();
        self.line
            .change_rate(at, self.rates.step(self.present).rate);
    }

    pub(crate) fn carry(&mut self, size: Bytes) -> Time {
        self.line.carry(size)
    }

    /// The time at which the packets carried so far are through, at the present step's rate.
    pub(crate) fn finish(&self) -> Time {
        self.line.finish()
    }

    /// The start of a packet if the bottleneck was idle until `now`.
    pub(crate) fn start_after_idle(&self, now: Time) -> Time {
        let mut later = self.clone();
        later.wake(now);
        later.start_behind(Bytes::ZERO)
    }

    /// The start of a packet behind this many waiting bytes: at the present rate, or in an outage at the rate that ends
    /// it.
    pub(crate) fn start_behind(&self, waiting: Bytes) -> Time {
        let mut later = self.clone();
        later.carry(waiting);
        // Some rate of the trace is above zero, so this ends within a period.
        while later.line.is_stalled() && later.base < Time::MAX {
            later.look(waiting);
        }
        later.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of 1000 bytes per second, an outage, and 2000, each for a second.
    fn follower() -> Follower {
        let step = |at, rate| Step {
            at: Duration::from_secs(at),
            rate: Rate::from_bytes_per_sec(rate),
        };
        let steps = vec![step(0, 1_000), step(1, 0), step(2, 2_000)];
        Follower::new(Rates::new(steps, Duration::from_secs(3)).unwrap())
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_trace_has_a_mean_and_moves() {
        let rates = follower().rates;
        assert_eq!(rates.mean_rate(), Rate::from_bytes_per_sec(1_000));
        let silent = rates.steps.iter().map(|step| Step {
            rate: Rate::ZERO,
            ..*step
        });
        assert_eq!(Rates::new(silent.collect(), Duration::from_secs(3)), None);
    }

    #[test]
    fn short_steps_count_in_the_mean() {
        let steps = (0..1_000).map(|at| Step {
            at: Duration::from_millis(at),
            rate: Rate::from_bytes_per_sec(874 + at % 2 * 2),
        });
        let rates = Rates::new(steps.collect(), Duration::from_secs(1)).unwrap();
        assert_eq!(rates.mean_rate(), Rate::from_bytes_per_sec(875));
    }

    #[test]
    fn an_outage_is_one_step_however_fine_its_rows() {
        let steps = (0..200_002).map(|at| Step {
            at: Duration::from_millis(at),
            rate: Rate::from_bytes_per_sec(u64::from(at == 0 || at == 200_001)),
        });
        let rates = Rates::new(steps.collect(), Duration::from_millis(200_002)).unwrap();
        assert_eq!(rates.len(), 3);
        assert_eq!(rates.period(), Duration::from_millis(200_002));
    }

    #[test]
    fn what_is_under_way_goes_at_each_rate_in_turn() {
        let mut follower = follower();
        follower.wake(at(500));
        assert_eq!(follower.carry(Bytes::new(1_500)), at(2_000));
        assert_eq!(follower.next_look(), Some(at(1_000)));
        follower.look(Bytes::new(1_500));
        assert_eq!(follower.finish(), Time::MAX);
        assert_eq!(follower.start_behind(Bytes::new(500)), at(2_750));
        follower.look(Bytes::new(1_500));
        assert_eq!(follower.finish(), at(2_500));
        follower.look(Bytes::ZERO);
        assert_eq!(follower.next_look(), None, "nobody needs the rate");
    }

    #[test]
    fn it_repeats_and_finds_its_place_after_a_pause() {
        let mut follower = follower();
        follower.wake(at(3_000_500));
        assert_eq!(follower.carry(Bytes::new(100)), at(3_000_600));
        assert_eq!(follower.start_after_idle(at(3_001_200)), at(3_002_000));
        assert_eq!(follower.start_after_idle(at(3_002_200)), at(3_002_200));
        follower.wake(Time::MAX);
        assert_eq!(follower.carry(Bytes::new(1)), Time::MAX);
    }
}
