//! Detection of a full pipe: the delivery rate stops growing although the sending rate grows.
//!
//! BBRv1 checks only in Startup, with the greatest rate so far. BBRv3 uses the rate of the round, and checks again in
//! each probe for bandwidth.

use units::{Rate, Ratio};

/// The least growth in a round that may show more bandwidth. Startup doubles the rate each round, so less than a
/// quarter means that something other than the sender limits it (paper, appendix, "Startup Behavior"; Linux
/// `bbr_full_bw_thresh`).
const MIN_GROWTH: Ratio = Ratio::new(5, 4);

/// The rounds without growth that show a full pipe. Three, because a receiver's window tuning needs one to open the
/// window, one to have it filled and one to show the resulting rate (paper, appendix, "Startup Behavior"; Linux
/// `bbr_full_bw_cnt`).
pub const PLATEAU_ROUNDS: u8 = 3;

/// Detects the plateau of the delivery rate.
#[derive(Debug, Clone)]
pub struct FullPipe {
    baseline: Rate,
    rounds_without_growth: u8,
    /// The rounds without growth that show a full pipe.
    plateau_rounds: u8,
    /// Whether the pipe was full since the search began.
    is_now: bool,
    /// Whether the pipe was ever full.
    is_reached: bool,
}

impl FullPipe {
    pub fn new() -> FullPipe {
        FullPipe::after(PLATEAU_ROUNDS)
    }

    /// One that takes the pipe for full after so many rounds without growth.
    pub fn after(plateau_rounds: u8) -> FullPipe {
        FullPipe {
            baseline: Rate::ZERO,
            rounds_without_growth: 0,
            plateau_rounds,
            is_now: false,
            is_reached: false,
        }
    }

    /// Takes the delivery rate of a round that the application did not limit.
    pub fn on_round(&mut self, rate: Rate) {
        if self.is_now {
            return;
        }
        if rate >= self.baseline.scale(MIN_GROWTH) {
            self.baseline = rate;
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.is_now = self.rounds_without_growth >= self.plateau_rounds;
        self.is_reached |= self.is_now;
    }

    /// Forgets the baseline after a timeout, since the cause of the plateau may be gone.
    pub fn forget_baseline(&mut self) {
        self.baseline = Rate::ZERO;
    }

    /// Restarts the search for the plateau from `baseline`.
    pub fn restart(&mut self, baseline: Rate) {
        self.baseline = baseline;
        self.rounds_without_growth = 0;
        self.is_now = false;
    }

    /// Notes that losses show a full pipe.
    pub fn set_reached(&mut self) {
        self.is_now = true;
        self.is_reached = true;
    }

    /// Reverts [`set_reached`](FullPipe::set_reached), since the losses were spurious.
    pub fn unset_reached(&mut self) {
        self.is_reached = false;
    }

    /// Whether the pipe was full since the search last began.
    pub fn is_now(&self) -> bool {
        self.is_now
    }

    /// Whether the pipe was ever full. Stays true unless [unset](FullPipe::unset_reached).
    pub fn is_reached(&self) -> bool {
        self.is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached_after(rates: &[u64]) -> Option<usize> {
        reached_by(FullPipe::new(), rates)
    }

    fn reached_by(mut full_pipe: FullPipe, rates: &[u64]) -> Option<usize> {
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
    fn as_many_rounds_as_it_is_told() {
        for (rounds, end) in [(1, 1), (2, 2), (5, 5)] {
            assert_eq!(reached_by(FullPipe::after(rounds), &[100; 9]), Some(end));
        }
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
