//! Windowed maximum and minimum filters: the extreme of the recent past in constant space and time.
//!
//! Kathleen Nichols' algorithm: instead of every sample of the window, keep the best sample and the best of what came
//! after it, twice over. A new best makes all older samples irrelevant; when the best leaves the window the second
//! takes its place. The second and third choice are renewed once a quarter and half of the window have passed without
//! a better sample, so that there is always a recent successor. The answer is exact whenever the extreme is in the
//! window's newer part, and otherwise errs only by giving up an old extreme for a slightly lesser, newer one.

use core::cmp::Reverse;
use core::fmt::Debug;
use core::ops::Div;

use units::{Duration, Time};

/// What a filter's window is measured with: a point on the window's clock.
pub trait Stamp: Copy + PartialEq + Debug {
    /// The distance between two points.
    type Span: Copy + PartialOrd + Debug + Div<u64, Output = Self::Span>;

    /// How far `self` is behind `earlier`; nothing if the order is reversed.
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
    /// A filter without samples that remembers for `window`.
    pub fn new(window: S::Span) -> WindowedMax<V, S> {
        WindowedMax { window, best: None }
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

        // Whatever has left the window makes room for its successors.
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
    /// A filter without samples that remembers for `window`.
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
        /// Against a filter that remembers everything: never below what the newest quarter of the window holds, never
        /// above what the whole window holds, and always a value that was sampled within it.
        #[test]
        fn close_to_the_exact_filter(steps in prop::collection::vec((0_u64..6, 0_u64..100), 1..200)) {
            let window = 20;
            let mut filter = WindowedMax::new(window);
            let mut history = Vec::new();
            let mut at = 0;
            for (step, value) in steps {
                at += step;
                history.push((at, value));
                let got = filter.update(at, value);
                let within = |span| {
                    history.iter().filter(move |(t, _)| at - t <= span).map(|(_, v)| *v)
                };
                prop_assert!(within(window).any(|v| v == got));
                prop_assert!(got >= within(window / 4).max().unwrap_or(0));
                prop_assert!(got <= within(window).max().unwrap_or(0));
            }
        }
    }
}
