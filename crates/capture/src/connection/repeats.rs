//! Which retransmissions were needed: all, but those that D-SACK (RFC 2883, RFC 3708), timestamps (RFC 3522) or an earlier
//! acknowledgement prove to have been spurious.

use std::collections::VecDeque;
use std::ops::Range;

/// No more retransmissions are remembered; a D-SACK comes a round trip later.
const MOST: usize = 4096;

/// And so many if there is little memory.
const FEW: usize = 64;

/// A retransmission.
#[derive(Debug, Clone)]
struct Repeat {
    range: Range<u64>,
    is_spurious: bool,
}

/// The retransmissions of late, and how many there were.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    recent: VecDeque<Repeat>,
    /// Packets that were sent again.
    pub packets: u64,
    /// Their payload.
    pub bytes: u64,
    /// Those that were not needed.
    pub spurious: u64,
    /// Packets that arrived twice although they were sent once.
    pub duplicated: u64,
}

impl Repeats {
    /// A packet is sent again, for nothing if it `has_arrived`.
    pub fn on_repeat(&mut self, range: Range<u64>, has_arrived: bool) {
        self.packets += 1;
        self.bytes += range.end - range.start;
        self.spurious += u64::from(has_arrived);
        if self.recent.len() >= MOST {
            self.recent.pop_front();
        }
        self.recent.push_back(Repeat {
            range,
            is_spurious: has_arrived,
        });
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.recent.capacity() * size_of::<Repeat>()
    }

    /// Keeps the latest ones.
    pub fn thin(&mut self) {
        let gone = self.recent.len().saturating_sub(FEW);
        self.recent.drain(..gone);
        self.recent.shrink_to_fit();
    }

    /// This range was in no need to be sent again: its latest repeat that is not known to be spurious is.
    pub fn on_needless(&mut self, range: &Range<u64>) {
        let of_range =
            |repeat: &&mut Repeat| repeat.range.start < range.end && range.start < repeat.range.end;
        let mut repeats = self.recent.iter_mut().rev().filter(of_range);
        if let Some(repeat) = repeats.find(|repeat| !repeat.is_spurious) {
            repeat.is_spurious = true;
            self.spurious += 1;
        }
    }

    /// The receiver says that this range arrived twice.
    pub fn on_duplicate(&mut self, range: &Range<u64>) {
        let of_range =
            |repeat: &&Repeat| repeat.range.start < range.end && range.start < repeat.range.end;
        if self.recent.iter().rev().any(|repeat| of_range(&repeat)) {
            self.on_needless(range);
        } else {
            self.duplicated += 1;
        }
    }

    /// Packets that were sent again because they were lost.
    pub fn lost(&self) -> u64 {
        self.packets - self.spurious
    }
}

#[cfg(test)]
mod tests {
    use super::Repeats;

    #[test]
    fn each_repeat_is_needless_once() {
        let mut repeats = Repeats::default();
        repeats.on_repeat(0..10, false);
        repeats.on_repeat(10..20, true);
        repeats.on_duplicate(&(10..20));
        assert_eq!((repeats.packets, repeats.lost()), (2, 1));
        repeats.on_duplicate(&(0..10));
        repeats.on_duplicate(&(0..10));
        assert_eq!((repeats.lost(), repeats.duplicated), (0, 0));
        repeats.on_duplicate(&(50..60));
        assert_eq!(repeats.duplicated, 1);
    }
}
