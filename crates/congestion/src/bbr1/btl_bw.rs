//! BtlBw, the bottleneck's bandwidth: the greatest delivery rate of the last ten rounds.

use units::Rate;

use crate::filter::WindowedMax;

/// How many rounds a delivery rate is remembered: a gain cycle of eight, in which the bottleneck is surely filled once,
/// and two for the samples to return (paper, "Characterizing the Bottleneck"; Linux `bbr_bw_rtts`).
const WINDOW_ROUNDS: u64 = 10;

/// The estimate of BtlBw.
#[derive(Debug, Clone)]
pub struct BtlBw(WindowedMax<Rate, u64>);

impl BtlBw {
    pub fn new() -> BtlBw {
        BtlBw(WindowedMax::new(WINDOW_ROUNDS))
    }

    /// Takes a delivery rate. What the application limited says nothing about the path, unless it is more than was
    /// known.
    pub fn update(&mut self, round: u64, delivery_rate: Rate, is_app_limited: bool) {
        if !is_app_limited || delivery_rate >= self.get() {
            self.0.update(round, delivery_rate);
        }
    }

    /// The estimate; zero before the first sample.
    pub fn get(&self) -> Rate {
        self.0.get().unwrap_or(Rate::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_raises_but_never_lowers_it() {
        let rate = Rate::from_bytes_per_sec;
        let mut btl_bw = BtlBw::new();
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
}
