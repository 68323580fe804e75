//! The retransmissions, and which of them were needed. A retransmission is spurious if D-SACK (RFC 2883, RFC 3708),
//! timestamps (RFC 3522) or an earlier acknowledgement prove it.

use std::collections::VecDeque;
use std::ops::Range;

/// The most retransmissions that are remembered. A D-SACK comes a round trip later.
const MAX_REPEATS: usize = 4096;

/// The same when memory is short.
const MAX_REPEATS_WHEN_SHORT: usize = 64;

/// Retransmitted packets of one segment, either all needed or all spurious.
#[derive(Debug, Clone)]
struct Repeat {
    range: Range<u64>,
    packets: u64,
    /// The payload of each packet but the last.
    full: u64,
    is_spurious: bool,
}

impl Repeat {
    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.range.start < range.end && range.start < self.range.end
    }

    /// Splits the packets into those before `range`, those that overlap it, and those behind it.
    fn parts(&self, range: &Range<u64>) -> [Repeat; 3] {
        let Range { start, end } = self.range;
        let from = start + (range.start.max(start) - start) / self.full * self.full;
        let to = start + (range.end.min(end) - start).next_multiple_of(self.full);
        let to = to.min(end);
        let mut left = self.packets;
        let mut part = |range: Range<u64>| {
            let packets = (range.end - range.start).div_ceil(self.full).min(left);
            left -= packets;
            Repeat {
                range,
                packets,
                ..*self
            }
        };
        let (within, before) = (part(from..to), part(start..from));
        [before, within, part(to..end)]
    }
}

/// The recent retransmissions, and counters of all.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    recent: VecDeque<Repeat>,
    /// Retransmitted packets.
    pub packets: u64,
    /// Retransmitted payload.
    pub bytes: u64,
    /// Spurious retransmissions, in packets.
    pub spurious: u64,
    /// Packets that arrived twice although they were sent once.
    pub duplicated: u64,
}

impl Repeats {
    /// Adds a retransmission of this many packets, each of `full` bytes but the last. It is spurious if they
    /// `have_arrived`.
    fn add(&mut self, range: Range<u64>, packets: u64, full: u64, have_arrived: bool) {
        self.packets += packets;
        self.bytes += range.end - range.start;
        if packets == 0 {
            return;
        }
        self.spurious += packets * u64::from(have_arrived);
        self.recent.push_back(Repeat {
            range,
            packets,
            full,
            is_spurious: have_arrived,
        });
        self.bound();
    }

    fn bound(&mut self) {
        while self.recent.len() > MAX_REPEATS {
            self.recent.pop_front();
        }
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.recent.capacity() * size_of::<Repeat>()
    }

    /// Keeps the latest few.
    pub fn thin(&mut self) {
        let gone = self.recent.len().saturating_sub(MAX_REPEATS_WHEN_SHORT);
        self.recent.drain(..gone);
        self.recent.shrink_to_fit();
    }

    /// The retransmission of this range was spurious. The latest one that is not yet known to be spurious is marked.
    pub fn on_needless(&mut self, range: &Range<u64>) {
        let is_it = |repeat: &Repeat| repeat.overlaps(range) && !repeat.is_spurious;
        let Some(place) = self.recent.iter().rposition(is_it) else {
            return;
        };
        let parts = self.recent[place].parts(range);
        self.recent.remove(place);
        let parts = parts.into_iter().zip([false, true, false]);
        for (mut part, is_spurious) in parts.rev().filter(|(part, _)| part.packets > 0) {
            part.is_spurious = is_spurious;
            self.spurious += part.packets * u64::from(is_spurious);
            self.recent.insert(place, part);
        }
        self.bound();
    }

    /// The receiver reports that this range arrived twice.
    pub fn on_duplicate(&mut self, range: &Range<u64>) {
        if self
            .recent
            .iter()
            .rev()
            .any(|repeat| repeat.overlaps(range))
        {
            self.on_needless(range);
        } else {
            self.duplicated += 1;
        }
    }

    /// Packets that were retransmitted because they were lost.
    pub fn lost(&self) -> u64 {
        self.packets - self.spurious
    }
}

/// A segment with data that were sent before, part by part. Each of its packets counts once, at its first byte.
#[derive(Debug)]
pub struct Again {
    start: u64,
    full: u64,
    /// The end of the parts so far.
    pub next: u64,
    /// The latest parts with the same state, and whether they had arrived.
    run: Range<u64>,
    have_arrived: bool,
}

impl Again {
    /// A segment that begins at `start`. Each of its packets has `full` bytes but the last.
    pub fn new(start: u64, full: u64) -> Again {
        Again {
            start,
            full,
            next: start,
            run: start..start,
            have_arrived: false,
        }
    }

    /// The number of its packets that begin within `part`.
    pub fn packets(&self, part: &Range<u64>) -> u64 {
        let before = |position: u64| (position - self.start).div_ceil(self.full);
        before(part.end) - before(part.start)
    }

    /// Skips the bytes up to `end`.
    pub fn skip(&mut self, end: u64, repeats: &mut Repeats) {
        self.end(repeats);
        self.next = end;
        self.run = end..end;
    }

    /// Adds the bytes up to `end`.
    pub fn add(&mut self, end: u64, have_arrived: bool, repeats: &mut Repeats) {
        if have_arrived != self.have_arrived {
            self.skip(self.next, repeats);
            self.have_arrived = have_arrived;
        }
        self.next = end;
        self.run.end = end;
    }

    /// Adds the last run.
    pub fn end(&self, repeats: &mut Repeats) {
        let packets = self.packets(&self.run);
        repeats.add(self.run.clone(), packets, self.full, self.have_arrived);
    }
}

#[cfg(test)]
mod tests {
    use super::{Again, MAX_REPEATS, Repeats};

    /// Retransmits a segment of ten-byte packets in parts. Each part has its end, and whether it had arrived.
    fn repeat(repeats: &mut Repeats, start: u64, parts: &[(u64, bool)]) {
        let mut again = Again::new(start, 10);
        for (end, have_arrived) in parts {
            again.add(*end, *have_arrived, repeats);
        }
        again.end(repeats);
    }

    #[test]
    fn each_repeat_is_needless_once() {
        let mut repeats = Repeats::default();
        repeat(&mut repeats, 0, &[(10, false), (20, true)]);
        repeats.on_duplicate(&(10..20));
        assert_eq!((repeats.packets, repeats.lost()), (2, 1));
        repeats.on_duplicate(&(0..10));
        repeats.on_duplicate(&(0..10));
        assert_eq!((repeats.lost(), repeats.duplicated), (0, 0));
        repeats.on_duplicate(&(50..60));
        assert_eq!(repeats.duplicated, 1);
    }

    #[test]
    fn of_a_segment_each_packet_counts_once() {
        let mut repeats = Repeats::default();
        // Parts of one byte.
        let pieces: Vec<_> = (1..=95).map(|end| (end, end % 2 == 0)).collect();
        repeat(&mut repeats, 0, &pieces);
        assert_eq!((repeats.packets, repeats.bytes), (10, 95));
        let mut repeats = Repeats::default();
        repeat(&mut repeats, 0, &[(1_000_000_000, false)]);
        assert_eq!(repeats.packets, 100_000_000);
        assert_eq!(repeats.recent.len(), 1);
        // Two packets were spurious, then all the others.
        repeats.on_duplicate(&(15..25));
        assert_eq!(repeats.spurious, 2);
        repeats.on_duplicate(&(10..30));
        assert_eq!(repeats.spurious, 2);
        repeats.on_needless(&(0..10));
        repeats.on_needless(&(0..2_000_000_000));
        assert_eq!((repeats.lost(), repeats.duplicated), (0, 0));
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let mut repeats = Repeats::default();
        repeat(&mut repeats, 0, &[(1_000_000, false)]);
        for packet in 0..10_000 {
            repeats.on_duplicate(&(packet * 20..packet * 20 + 10));
        }
        assert!(
            repeats.recent.len() <= MAX_REPEATS,
            "{}",
            repeats.recent.len()
        );
        assert!(repeats.spurious <= repeats.packets);
    }
}
