//! BtlBw, the bottleneck's bandwidth: the greatest delivery rate of the last ten rounds.

use units::Rate;

use crate::filter::WindowedMax;

/// How many rounds a delivery rate is remembered: a gain cycle of eight, in which the bottleneck is surely filled once,
/// and two for the samples to return (paper, "Characterizing the Bottleneck"; Linux `bbr_bw_rtts`).
const WINDOW_ROUNDS: u64 = 10;

/// The estimate of BtlBw.
#[derive(Debug, Clone)]
pub struct BtlBw {
    filter: WindowedMax<Rate, u64>,
    does_equal_rate_renew: bool,
}

impl BtlBw {
    /// Without an estimate. `does_equal_rate_renew`: see
    /// [`Config::does_equal_rate_renew`](super::Config::does_equal_rate_renew).
    pub fn new(does_equal_rate_renew: bool) -> BtlBw {
        BtlBw {
            filter: WindowedMax::new(WINDOW_ROUNDS),
            does_equal_rate_renew,
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
        let mut btl_bw = BtlBw::new(true);
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
    fn a_rate_that_the_application_limited_and_that_is_known_renews_it_in_linux_only() {
        let rate = Rate::from_bytes_per_sec;
        for (does_equal_rate_renew, kept) in [(true, 100), (false, 50)] {
            let mut btl_bw = BtlBw::new(does_equal_rate_renew);
            btl_bw.update(1, rate(100), false);
            btl_bw.update(8, rate(100), true);
            btl_bw.update(12, rate(50), false);
            assert_eq!(btl_bw.get(), rate(kept));
        }
    }
}
