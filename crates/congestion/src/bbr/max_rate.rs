//! The bottleneck bandwidth: the greatest delivery rate of a window, counted in rounds by BBRv1 and in cycles of probes
//! by BBRv3.

use units::Rate;

use crate::filter::WindowedMax;

/// The bandwidth estimate.
#[derive(Debug, Clone)]
pub struct MaxRate {
    filter: WindowedMax<Rate, u64>,
    does_equal_rate_renew: bool,
}

impl MaxRate {
    /// Starts without an estimate. A rate is remembered for `window` counts of the clock. `does_equal_rate_renew` says
    /// whether an application-limited rate equal to the estimate renews it.
    pub fn new(window: u64, does_equal_rate_renew: bool) -> MaxRate {
        MaxRate {
            filter: WindowedMax::new(window),
            does_equal_rate_renew,
        }
    }

    /// Takes the delivery rate of an ACK at this count of the clock. An application-limited rate says nothing about the
    /// path, unless it reaches the estimate.
    pub fn update(&mut self, at: u64, delivery_rate: Rate, is_app_limited: bool) {
        let is_news =
            delivery_rate > self.get() || self.does_equal_rate_renew && delivery_rate == self.get();
        if !is_app_limited || is_news {
            self.filter.update(at, delivery_rate);
        }
    }

    /// The estimate. Zero before the first sample.
    pub fn get(&self) -> Rate {
        self.filter.get().unwrap_or(Rate::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_raises_but_never_lowers_it() {
        let rate = Rate::from_bytes_per_sec;
        let mut max = MaxRate::new(10, true);
        max.update(1, rate(100), false);
        for round in 2..1_000 {
            max.update(round, rate(10), true);
        }
        assert_eq!(max.get(), rate(100));
        max.update(1_000, rate(110), true);
        assert_eq!(max.get(), rate(110));
        max.update(1_011, rate(50), false);
        assert_eq!(max.get(), rate(50));
    }

    #[test]
    fn it_remembers_for_as_many_rounds_as_it_is_told() {
        let rate = Rate::from_bytes_per_sec;
        for window in [1, 3, 10, 40] {
            let mut max = MaxRate::new(window, true);
            max.update(1, rate(100), false);
            for round in 2..=1 + window {
                max.update(round, rate(50), false);
                assert_eq!(max.get(), rate(100), "window {window}, {round}");
            }
            max.update(2 + window, rate(50), false);
            assert_eq!(max.get(), rate(50), "window {window}");
        }
    }

    #[test]
    fn a_rate_that_the_application_limited_and_that_is_known_renews_it_if_it_shall() {
        let rate = Rate::from_bytes_per_sec;
        for (does_equal_rate_renew, kept) in [(true, 100), (false, 50)] {
            let mut max = MaxRate::new(10, does_equal_rate_renew);
            max.update(1, rate(100), false);
            max.update(8, rate(100), true);
            max.update(12, rate(50), false);
            assert_eq!(max.get(), rate(kept));
        }
    }
}
