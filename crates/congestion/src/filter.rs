//! Windowed maximum and minimum filters: the extreme value of the recent past in constant space and time.
//!
//! Kathleen Nichols' algorithm: instead of every sample of the window, keep the best sample and the best of what came
//! after it, twice over. A new best makes all older samples irrelevant; when the best leaves the window the second
//! takes its place. The second and third choice are renewed once a quarter and half of the window have passed without
//! a better sample, so that the successors are spread over the window. The answer is exact from the arrival of an extreme
//! until it leaves the window; its successor may then be less than the exact one, as of all that came after the third
//! choice nothing is known. (Linux `win_minmax.c`.)

use core::cmp::Reverse;
use core::fmt::Debug;
use core::ops::Div;

use units::{Duration, Time};

/// A point on the clock of a filter's window.
pub trait Stamp: Copy + PartialEq + Debug {
    /// The distance between two points.
    type Span: Copy + PartialOrd + Debug + Div<u64, Output = Self::Span>;

    /// The distance from `earlier`, or zero if the order is reversed.
    fn since(self, earlier: Self) -> Self::Span;
}

/// A count, such as that of packet-timed rounds.
impl Stamp for u64 {
    type Span = u64;

    fn since(self, earlier: u64) -> u64 {
        self.saturating_sub(earlier)
    }
}

impl Stamp for Time {
    type Span = Duration;

    fn since(self, earlier: Time) -> Duration {
        self.since(earlier)
    }
}

#[derive(Debug, Clone, Copy)]
struct Sample<V, S> {
    at: S,
    value: V,
}

/// The greatest value of a sliding window.
#[derive(Debug, Clone, Copy)]
pub struct WindowedMax<V, S: Stamp> {
    window: S::Span,
    /// The best sample, the best since that one, the best since the second. `None` before the first sample.
    best: Option<[Sample<V, S>; 3]>,
}

impl<V: Copy + Ord, S: Stamp> WindowedMax<V, S> {
    /// A filter without samples, with this window.
    pub fn new(window: S::Span) -> WindowedMax<V, S> {
        WindowedMax { window, best: None }
    }

    /// Changes the window, from the next sample on.
    pub fn set_window(&mut self, window: S::Span) {
        self.window = window;
    }

    /// The greatest value of the window that ended with the latest update.
    pub fn get(&self) -> Option<V> {
        self.best.map(|[first, ..]| first.value)
    }

    /// Takes a sample at `at`, not before the previous one, and returns the greatest value of the window that ends
    /// there.
    pub fn update(&mut self, at: S, value: V) -> V {
        let sample = Sample { at, value };
        let [first, second, third] = match self.best {
            Some(best) => self.insert(best, sample),
            None => [sample; 3],
        };
        self.best = Some([first, second, third]);
        first.value
    }

    fn insert(&self, best: [Sample<V, S>; 3], new: Sample<V, S>) -> [Sample<V, S>; 3] {
        let [first, second, third] = best;
        let is_expired = |sample: Sample<V, S>| new.at.since(sample.at) > self.window;

        if new.value >= first.value || is_expired(third) {
            return [new; 3];
        }
        let [second, third] = if new.value >= second.value {
            [new; 2]
        } else if new.value >= third.value {
            [second, new]
        } else {
            [second, third]
        };

        // Samples that left the window make room for their successors.
        if is_expired(first) && is_expired(second) {
            return [third, new, new];
        }
        if is_expired(first) {
            return [second, third, new];
        }

        // A successor that is as old as its predecessor would leave the window with it.
        let age = new.at.since(first.at);
        if second.at == first.at && age > self.window / 4 {
            return [first, new, new];
        }
        if third.at == second.at && age > self.window / 2 {
            return [first, second, new];
        }
        [first, second, third]
    }
}

/// The least value of a sliding window.
#[derive(Debug, Clone, Copy)]
pub struct WindowedMin<V, S: Stamp>(WindowedMax<Reverse<V>, S>);

impl<V: Copy + Ord, S: Stamp> WindowedMin<V, S> {
    /// A filter without samples, with this window.
    pub fn new(window: S::Span) -> WindowedMin<V, S> {
        WindowedMin(WindowedMax::new(window))
    }

    /// The least value of the window that ended with the latest update.
    pub fn get(&self) -> Option<V> {
        self.0.get().map(|Reverse(value)| value)
    }

    /// Takes a sample at `at`, not before the previous one, and returns the least value of the window that ends there.
    pub fn update(&mut self, at: S, value: V) -> V {
        self.0.update(at, Reverse(value)).0
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_until_the_first_sample() {
        let mut filter = WindowedMax::<u64, u64>::new(10);
        assert_eq!(filter.get(), None);
        assert_eq!(filter.update(3, 7), 7);
        assert_eq!(filter.get(), Some(7));
    }

    #[test]
    fn the_maximum_leaves_with_its_window() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100);
        for round in 1..=10 {
            assert_eq!(filter.update(round, 50), 100, "round {round}");
        }
        assert_eq!(filter.update(11, 50), 50);
    }

    #[test]
    fn another_window_counts_from_the_next_sample_on() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100);
        filter.set_window(2);
        assert_eq!(filter.get(), Some(100));
        assert_eq!(filter.update(3, 50), 50);
    }

    #[test]
    fn successors_take_over_in_order() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100);
        filter.update(4, 80);
        filter.update(8, 60);
        assert_eq!(filter.update(11, 10), 80);
        assert_eq!(filter.update(15, 10), 60);
        assert_eq!(filter.update(19, 10), 10);
    }

    #[test]
    fn after_silence_only_the_newest_counts() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100);
        filter.update(1, 90);
        assert_eq!(filter.update(1_000, 1), 1);
    }

    #[test]
    fn the_minimum_over_time() {
        let ms = Duration::from_millis;
        let mut filter = WindowedMin::new(Duration::from_secs(10));
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        filter.update(at(0), ms(40));
        filter.update(at(3), ms(50));
        assert_eq!(filter.update(at(10), ms(60)), ms(40));
        assert_eq!(filter.update(at(11), ms(60)), ms(50));
        assert_eq!(filter.update(at(12), ms(30)), ms(30));
        assert_eq!(filter.get(), Some(ms(30)));
    }

    proptest! {
        /// Against a filter that remembers everything: always a value that was sampled within the window, and exact from
        /// the arrival of a maximum until it leaves.
        #[test]
        fn close_to_the_exact_filter(steps in prop::collection::vec((0_u64..6, 0_u64..100), 1..200)) {
            let window = 20;
            let mut filter = WindowedMax::new(window);
            let mut history = Vec::new();
            let mut at = 0;
            let mut maximum = (0, 0);
            for (step, value) in steps {
                at += step;
                history.push((at, value));
                let got = filter.update(at, value);
                let mut within = history.iter().filter(|(t, _)| at - t <= window).map(|(_, v)| *v);
                let exact = within.clone().max();
                prop_assert!(within.any(|v| v == got));
                if exact == Some(value) {
                    maximum = (at, value);
                }
                if at - maximum.0 <= window {
                    prop_assert_eq!(exact, Some(maximum.1));
                    prop_assert_eq!(got, maximum.1);
                }
            }
        }
    }
}
