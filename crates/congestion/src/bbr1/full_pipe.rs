//! Whether Startup has filled the pipe: the delivery rate no longer grows although the sending rate does.

use units::{Rate, Ratio};

/// Growth in a round that shows there may be more bandwidth. Startup doubles the rate each round, so less than a
/// quarter means that it is limited by something else than the sender (paper, appendix, "Startup Behavior"; Linux
/// `bbr_full_bw_thresh`).
const GROWTH: Ratio = Ratio::new(5, 4);

/// Rounds without growth that show the pipe to be full. Three, because a receiver's window tuning needs one to open the
/// window, one to have it filled and one to show the rate that this allows (paper, appendix, "Startup Behavior"; Linux
/// `bbr_full_bw_cnt`).
const ROUNDS: u8 = 3;

/// Looks for the plateau of the delivery rate.
#[derive(Debug, Clone)]
pub struct FullPipe {
    baseline: Rate,
    rounds_without_growth: u8,
    is_reached: bool,
}

impl FullPipe {
    pub fn new() -> FullPipe {
        FullPipe {
            baseline: Rate::ZERO,
            rounds_without_growth: 0,
            is_reached: false,
        }
    }

    /// A round has ended that the application did not limit, with `btl_bw` as the greatest delivery rate.
    pub fn on_round(&mut self, btl_bw: Rate) {
        if self.is_reached {
            return;
        }
        if btl_bw >= self.baseline.scale(GROWTH) {
            self.baseline = btl_bw;
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.is_reached = self.rounds_without_growth >= ROUNDS;
    }

    /// A timeout: whatever stopped the growth may be over.
    pub fn forget_baseline(&mut self) {
        self.baseline = Rate::ZERO;
    }

    /// The slow-down was spurious: the search for the plateau begins again.
    pub fn restart(&mut self) {
        self.baseline = Rate::ZERO;
        self.rounds_without_growth = 0;
    }

    /// Whether the pipe was full once. Stays so.
    pub fn is_reached(&self) -> bool {
        self.is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached_after(rates: &[u64]) -> Option<usize> {
        let mut full_pipe = FullPipe::new();
        for (i, rate) in rates.iter().enumerate() {
            full_pipe.on_round(Rate::from_bytes_per_sec(*rate));
            if full_pipe.is_reached() {
                return Some(i);
            }
        }
        None
    }

    #[test]
    fn three_rounds_without_a_quarter_more() {
        assert_eq!(reached_after(&[100, 200, 400, 400, 410, 420]), Some(5));
        assert_eq!(reached_after(&[100, 124, 124, 125, 125, 125]), None);
        assert_eq!(reached_after(&[100, 124, 124, 125, 125, 125, 125]), Some(6));
    }

    #[test]
    fn a_timeout_gives_it_another_chance() {
        let mut full_pipe = FullPipe::new();
        let rate = Rate::from_bytes_per_sec(100);
        for _ in 0..3 {
            full_pipe.on_round(rate);
        }
        full_pipe.forget_baseline();
        full_pipe.on_round(rate);
        full_pipe.on_round(rate);
        full_pipe.on_round(rate);
        assert!(!full_pipe.is_reached());
        full_pipe.on_round(rate);
        assert!(full_pipe.is_reached());
    }
}
