//! BtlBw, the bottleneck's bandwidth: the greatest delivery rate of the last rounds.

use units::Rate;

use super::Config;
use crate::filter::WindowedMax;

/// The estimate of BtlBw.
#[derive(Debug, Clone)]
pub struct BtlBw {
    filter: WindowedMax<Rate, u64>,
    does_equal_rate_renew: bool,
}

impl BtlBw {
    /// Without an estimate.
    pub fn new(config: &Config) -> BtlBw {
        BtlBw {
            filter: WindowedMax::new(config.btl_bw_window),
            does_equal_rate_renew: config.does_equal_rate_renew,
        }
    }

    /// Takes a delivery rate. What the application limited says nothing about the path, unless it is more than was
    /// known.
    pub fn update(&mut self, round: u64, delivery_rate: Rate, is_app_limited: bool) {
        let is_news =
            delivery_rate > self.get() || self.does_equal_rate_renew && delivery_rate == self.get();
        if !is_app_limited || is_news {
            self.filter.update(round, delivery_rate);
        }
    }

    /// The estimate; zero before the first sample.
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
        let mut btl_bw = BtlBw::new(&Config::linux());
        btl_bw.update(1, rate(100), false);
        for round in 2..1_000 {
            btl_bw.update(round, rate(10), true);
        }
        assert_eq!(btl_bw.get(), rate(100));
        btl_bw.update(1_000, rate(110), true);
        assert_eq!(btl_bw.get(), rate(110));
        btl_bw.update(1_011, rate(50), false);
        assert_eq!(btl_bw.get(), rate(50));
    }

    #[test]
    fn it_remembers_for_as_many_rounds_as_it_is_told() {
        let rate = Rate::from_bytes_per_sec;
        for window in [1, 3, 10, 40] {
            let config = Config {
                btl_bw_window: window,
                ..Config::linux()
            };
            let mut btl_bw = BtlBw::new(&config);
            btl_bw.update(1, rate(100), false);
            for round in 2..=1 + window {
                btl_bw.update(round, rate(50), false);
                assert_eq!(btl_bw.get(), rate(100), "{window} rounds, {round}");
            }
            btl_bw.update(2 + window, rate(50), false);
            assert_eq!(btl_bw.get(), rate(50), "{window} rounds");
        }
    }

    #[test]
    fn a_rate_that_the_application_limited_and_that_is_known_renews_it_in_linux_only() {
        let rate = Rate::from_bytes_per_sec;
        for (config, kept) in [(Config::linux(), 100), (Config::paper(), 50)] {
            let mut btl_bw = BtlBw::new(&config);
            btl_bw.update(1, rate(100), false);
            btl_bw.update(8, rate(100), true);
            btl_bw.update(12, rate(50), false);
            assert_eq!(btl_bw.get(), rate(kept));
        }
    }
}
