//! The greatest rates of a flow, without those that are too good to be true.
//!
//! One burst of acknowledgements that were held back, in the network or by the machine that captured, looks like a fast path, and
//! BBR's filter forgets it after ten rounds. Over a whole connection it would never be forgotten. So the greatest rate is the one
//! that one of ten such windows exceeds.

use crate::memory::reserve;
use congestion::Rate;

/// A window: so many rounds.
const WINDOW: u64 = 10;

/// One of so many windows may be wrong.
const SHARE: usize = 10;

/// No more windows are kept, the greatest ones: there may be 100,000 flows.
const MOST: usize = 64;

/// The greatest rates of windows of rounds.
#[derive(Debug, Clone, Default)]
pub struct Peaks {
    /// Those of the windows that are over, the greatest first.
    greatest: Vec<Rate>,
    windows: usize,
    present: Rate,
    /// When the present window began.
    since: u64,
}

impl Peaks {
    /// A rate in this round.
    pub fn on_rate(&mut self, round: u64, rate: Rate) {
        if round >= self.since + WINDOW {
            let place = self.greatest.partition_point(|one| *one > self.present);
            if place < MOST {
                self.greatest.truncate(MOST - 1);
                reserve(&mut self.greatest);
                self.greatest.insert(place, self.present);
            }
            self.windows += 1;
            self.present = Rate::ZERO;
            self.since = round;
        }
        self.present = self.present.max(rate);
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.greatest.capacity() * size_of::<Rate>()
    }

    /// The greatest rate that is to be believed.
    pub fn get(&self) -> Rate {
        let wrong = (self.windows / SHARE).min(MOST - 1);
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
