//! Whether the pipe is full: the delivery rate no longer grows although the sending rate does.
//!
//! BBRv1 asks in Startup only, and with the greatest rate so far. BBRv3 asks with the rate of the round, and asks again each
//! time that it probes for bandwidth.

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
    /// It was full since the search began.
    is_now: bool,
    /// It was full once.
    is_reached: bool,
}

impl FullPipe {
    pub fn new() -> FullPipe {
        FullPipe {
            baseline: Rate::ZERO,
            rounds_without_growth: 0,
            is_now: false,
            is_reached: false,
        }
    }

    /// A round has ended that the application did not limit, with this delivery rate.
    pub fn on_round(&mut self, rate: Rate) {
        if self.is_now {
            return;
        }
        if rate >= self.baseline.scale(GROWTH) {
            self.baseline = rate;
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.is_now = self.rounds_without_growth >= ROUNDS;
        self.is_reached |= self.is_now;
    }

    /// A timeout: whatever stopped the growth may be over.
    pub fn forget_baseline(&mut self) {
        self.baseline = Rate::ZERO;
    }

    /// The search for the plateau begins again, from `baseline`.
    pub fn restart(&mut self, baseline: Rate) {
        self.baseline = baseline;
        self.rounds_without_growth = 0;
        self.is_now = false;
    }

    /// Losses show that the pipe is full.
    pub fn set_reached(&mut self) {
        self.is_now = true;
        self.is_reached = true;
    }

    /// The losses that showed it were none.
    pub fn unset_reached(&mut self) {
        self.is_reached = false;
    }

    /// Whether the pipe was full since the search last began.
    pub fn is_now(&self) -> bool {
        self.is_now
    }

    /// Whether the pipe was full once. Stays so, unless it was [unset](FullPipe::unset_reached).
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
    fn a_new_search_starts_from_its_baseline_and_forgets_no_success() {
        let rate = Rate::from_bytes_per_sec(100);
        let mut full_pipe = FullPipe::new();
        (0..4).for_each(|_| full_pipe.on_round(rate));
        assert!(full_pipe.is_now());
        full_pipe.restart(rate);
        assert!(!full_pipe.is_now() && full_pipe.is_reached());
        (0..2).for_each(|_| full_pipe.on_round(rate));
        assert!(!full_pipe.is_now(), "two rounds without growth");
        full_pipe.on_round(rate);
        assert!(full_pipe.is_now());
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
