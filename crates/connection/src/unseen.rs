//! Data that were acknowledged and not captured. They may be recorded later than their acknowledgement, and are no
//! retransmissions then.

use std::collections::VecDeque;
use std::ops::Range;

/// The number of holes that are remembered. Data are hardly ever recorded later than these.
const MAX_HOLES: usize = 256;

/// The latest holes.
#[derive(Debug, Clone, Default)]
pub struct Unseen {
    holes: VecDeque<Range<u64>>,
}

impl Unseen {
    /// These data were acknowledged and not captured.
    pub fn add(&mut self, hole: Range<u64>) {
        match self.holes.back_mut() {
            Some(last) if last.end == hole.start => last.end = hole.end,
            _ => {
                if self.holes.len() == MAX_HOLES {
                    self.holes.pop_front();
                }
                self.holes.push_back(hole);
            }
        }
    }

    /// These data are captured. Returns how many of them fill a hole.
    pub fn take(&mut self, range: &Range<u64>) -> u64 {
        let mut taken = 0;
        let mut behind = None;
        for hole in &mut self.holes {
            let from = hole.start.max(range.start);
            let to = hole.end.min(range.end);
            if from >= to {
                continue;
            }
            taken += to - from;
            if from == hole.start {
                hole.start = to;
            } else {
                behind = Some(to..hole.end).filter(|rest| !rest.is_empty());
                hole.end = from;
            }
        }
        if taken > 0 {
            self.holes.retain(|hole| !hole.is_empty());
            self.holes
                .extend(behind.filter(|_| self.holes.len() < MAX_HOLES));
        }
        taken
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.holes.capacity() * size_of::<Range<u64>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_fills_a_hole_once() {
        let mut unseen = Unseen::default();
        unseen.add(10..20);
        unseen.add(20..30);
        unseen.add(50..60);
        assert_eq!(unseen.take(&(15..25)), 10);
        assert_eq!(unseen.take(&(0..100)), 20);
        assert_eq!(unseen.take(&(0..100)), 0);
        for hole in 0..1_000 {
            unseen.add(hole * 10..hole * 10 + 5);
        }
        assert_eq!(unseen.take(&(0..10_000)), 5 * MAX_HOLES as u64);
    }
}
