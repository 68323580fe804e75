//! The peak rates of a flow, without outliers.
//!
//! When the network or the capturing machine releases acknowledgements in a burst, the path looks fast. BBR's filter
//! forgets such a peak after ten rounds, but the maximum over a connection would keep it for ever. So the estimate is the
//! rate that one in ten of these windows exceeds.

use congestion::Rate;

use crate::memory::reserve;

/// The length of a window in rounds.
const WINDOW_ROUNDS: u64 = 10;

/// One window in this many may be wrong.
const OUTLIER_DIVISOR: usize = 10;

/// The most windows that are kept, the fastest ones: there may be 100,000 flows.
const MAX_WINDOWS: usize = 64;

/// The peak rates of windows.
#[derive(Debug, Clone, Default)]
pub struct Peaks {
    /// The peaks of past windows, the greatest first.
    greatest: Vec<Rate>,
    windows: usize,
    present: Rate,
    /// The first round of the present window.
    since: u64,
}

impl Peaks {
    pub fn on_rate(&mut self, round: u64, rate: Rate) {
        if round >= self.since + WINDOW_ROUNDS {
            let place = self.greatest.partition_point(|one| *one > self.present);
            if place < MAX_WINDOWS {
                self.greatest.truncate(MAX_WINDOWS - 1);
                reserve(&mut self.greatest);
                self.greatest.insert(place, self.present);
            }
            self.windows += 1;
            self.present = Rate::ZERO;
            self.since = round;
        }
        self.present = self.present.max(rate);
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.greatest.capacity() * size_of::<Rate>()
    }

    /// The peak rate without outliers.
    pub fn get(&self) -> Rate {
        let wrong = (self.windows / OUTLIER_DIVISOR).min(MAX_WINDOWS - 1);
        let kept = self.greatest.get(wrong).copied().unwrap_or_default();
        if wrong == 0 {
            kept.max(self.present)
        } else {
            kept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_window_of_ten_is_not_believed() {
        let rate = Rate::from_bytes_per_sec;
        let mut peaks = Peaks::default();
        peaks.on_rate(1, rate(10));
        assert_eq!(peaks.get(), rate(10));
        for round in 2..150 {
            peaks.on_rate(round, rate(if round == 30 { 90 } else { 10 }));
        }
        assert_eq!(peaks.get(), rate(10));
    }
}
