//! The greatest delivery rate of this and the previous cycle of probes (BBR draft, "BBR.max_bw: Estimated Maximum Bandwidth").

use units::Rate;

use crate::bbr::max_rate::MaxRate;

/// The cycles before the present one that are remembered: two slots in all (`BBR.MaxBwFilterLen`).
const CYCLES_BEFORE: u64 = 1;

/// The bandwidth estimate.
#[derive(Debug, Clone)]
pub struct MaxBw {
    max: MaxRate,
    /// Its clock (`BBR.cycle_count`).
    cycle: u64,
}

impl MaxBw {
    pub fn new() -> MaxBw {
        MaxBw {
            max: MaxRate::new(CYCLES_BEFORE, true),
            cycle: 0,
        }
    }

    /// `UpdateMaxBw`.
    pub fn update(&mut self, rate: Rate, is_app_limited: bool) {
        if !rate.is_zero() {
            self.max.update(self.cycle, rate, is_app_limited);
        }
    }

    /// `AdvanceMaxBwFilter`: a cycle has ended.
    pub fn advance(&mut self) {
        self.cycle = self.cycle.saturating_add(1);
    }

    /// The estimate; zero without one.
    pub fn get(&self) -> Rate {
        self.max.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_remembered_for_a_cycle_after_its_own() {
        let rate = Rate::from_bytes_per_sec;
        let mut max_bw = MaxBw::new();
        max_bw.update(rate(100), false);
        max_bw.advance();
        max_bw.update(rate(10), false);
        assert_eq!(max_bw.get(), rate(100));
        max_bw.advance();
        max_bw.update(rate(9), false);
        assert_eq!(max_bw.get(), rate(10));
    }

    #[test]
    fn an_application_limited_rate_counts_only_if_it_is_news() {
        let rate = Rate::from_bytes_per_sec;
        let mut max_bw = MaxBw::new();
        max_bw.update(rate(50), true);
        assert_eq!(max_bw.get(), rate(50));
        (0..5).for_each(|_| {
            max_bw.advance();
            max_bw.update(rate(49), true);
        });
        assert_eq!(max_bw.get(), rate(50));
    }
}
