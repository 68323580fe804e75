//! Reassembly of the byte stream: the data in order, and the ranges beyond the first hole.

use core::ops::Range;
use std::collections::BTreeMap;

use crate::segment::{MAX_SACK_BLOCKS, SackBlocks};

/// The most ranges that are kept; a segment that would need another one is refused. A sender that respects its window
/// causes as many only if every second one of half a million packets is missing.
pub(super) const MAX_RANGES: usize = 1 << 18;

/// The receiver's view of the stream. Payload has no contents, so it consists of ranges.
#[derive(Debug, Clone, Default)]
pub(super) struct Reassembly {
    /// The position before which everything has arrived (RCV.NXT).
    next: u64,
    /// The ranges that have arrived beyond `next`, by start: disjoint, none touching another or `next`.
    ranges: BTreeMap<u64, u64>,
    /// The ranges that changed last, newest first (RFC 2018, section 4). Each is equal to one of `ranges`.
    recent: [(u64, u64); MAX_SACK_BLOCKS],
    recent_len: usize,
    /// The end of the highest data that have arrived.
    highest: u64,
    /// The bytes in `ranges`.
    stored: u64,
}

/// The effect of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It advanced `next`.
    InOrder { duplicate: Range<u64> },
    /// It lies beyond a hole, and at least a part is new. `rank` counts the other ranges that have changed since its
    /// own last did.
    OutOfOrder { duplicate: Range<u64>, rank: usize },
    /// All of it had arrived before.
    Duplicate(Range<u64>),
    /// There were too many holes for another.
    Refused,
}

impl Reassembly {
    /// Adds a segment's range, which must not be empty. The cost is logarithmic in the number of holes.
    ///
    /// A duplicate is the first contiguous part that had arrived before, as reported by RFC 2883.
    pub(super) fn insert(&mut self, range: Range<u64>) -> Arrival {
        debug_assert!(!range.is_empty());
        let Range { start, end } = range;
        if start <= self.next {
            self.insert_in_order(start, end)
        } else {
            self.insert_beyond(start, end)
        }
    }

    fn insert_in_order(&mut self, start: u64, end: u64) -> Arrival {
        if end <= self.next {
            return Arrival::Duplicate(start..end);
        }
        let mut duplicate = start..self.next;
        self.next = end;
        self.highest = self.highest.max(end);
        if !self.ranges.is_empty() {
            while let Some(first) = self.ranges.first_entry() {
                let (from, to) = (*first.key(), *first.get());
                if from > self.next {
                    break;
                }
                first.remove();
                self.stored -= to - from;
                if duplicate.is_empty() {
                    duplicate = from..to.min(end);
                }
                self.next = self.next.max(to);
            }
            self.forget_reached();
        }
        self.check();
        Arrival::InOrder { duplicate }
    }

    fn insert_beyond(&mut self, start: u64, end: u64) -> Arrival {
        // The common case: the segment extends the last range.
        if let Some(mut last) = self.ranges.last_entry() {
            let (from, to) = (*last.key(), *last.get());
            if from <= start && start <= to {
                *last.get_mut() = to.max(end);
                self.stored += to.max(end) - to;
                self.highest = self.highest.max(end);
                let rank = self.remember((from, to.max(end)));
                return Self::beyond(start..end, start..to.min(end), rank);
            }
        }
        let (mut from, mut to) = (start, end);
        let mut duplicate = start..start;
        if let Some((&left, &reach)) = self.ranges.range(..=start).next_back()
            && reach >= start
        {
            from = left;
            to = reach.max(end);
            duplicate = start..reach.min(end);
            self.stored -= reach - left;
        } else if self.ranges.len() >= MAX_RANGES {
            return Arrival::Refused;
        }
        while let Some((&right, &reach)) = self.ranges.range(start + 1..=end).next() {
            self.ranges.remove(&right);
            self.stored -= reach - right;
            to = to.max(reach);
            if duplicate.is_empty() {
                duplicate = right..reach.min(end);
            }
        }
        self.ranges.insert(from, to);
        self.stored += to - from;
        self.highest = self.highest.max(to);
        let rank = self.remember((from, to));
        self.check();
        Self::beyond(start..end, duplicate, rank)
    }

    fn beyond(range: Range<u64>, duplicate: Range<u64>, rank: usize) -> Arrival {
        if duplicate == range {
            Arrival::Duplicate(range)
        } else {
            Arrival::OutOfOrder { duplicate, rank }
        }
    }

    /// Moves a changed range to the front of the recent ones, replacing those that became part of it. Returns the
    /// number of ranges that were in front of these.
    fn remember(&mut self, changed: (u64, u64)) -> usize {
        let mut kept = [changed; MAX_SACK_BLOCKS];
        let mut len = 1;
        let mut rank = None;
        for (index, old) in self.recent.iter().take(self.recent_len).enumerate() {
            let is_apart = old.1 < changed.0 || changed.1 < old.0;
            if !is_apart {
                rank.get_or_insert(index);
            } else if let Some(place) = kept.get_mut(len) {
                *place = *old;
                len += 1;
            }
        }
        let rank = rank.unwrap_or(self.recent_len);
        self.recent = kept;
        self.recent_len = len;
        rank
    }

    /// Removes the recent ranges that `next` has reached.
    fn forget_reached(&mut self) {
        let mut len = 0;
        for index in 0..self.recent_len {
            if let Some(&old) = self.recent.get(index)
                && old.0 > self.next
                && let Some(place) = self.recent.get_mut(len)
            {
                *place = old;
                len += 1;
            }
        }
        self.recent_len = len;
    }

    /// The position before which everything has arrived.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Whether nothing has arrived beyond [`Reassembly::next`].
    pub(super) fn is_in_order(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the highest data that have arrived.
    pub(super) const fn highest(&self) -> u64 {
        self.highest
    }

    /// Bytes that have arrived beyond [`Reassembly::next`].
    pub(super) const fn stored(&self) -> u64 {
        self.stored
    }

    /// The number of ranges beyond [`Reassembly::next`].
    pub(super) fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The blocks of a SACK option, at most `most`; a duplicate goes first (RFC 2883).
    pub(super) fn sack_blocks(&self, duplicate: Range<u64>, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        if most == 0 {
            return blocks;
        }
        blocks.set_dsack(duplicate);
        for &(start, end) in self.recent.iter().take(self.recent_len) {
            if blocks.len() >= most || !blocks.push(start..end) {
                break;
            }
        }
        blocks
    }

    /// Checks the cheap invariants.
    fn check(&self) {
        debug_assert!(self.ranges.len() <= MAX_RANGES);
        debug_assert!(
            self.ranges
                .first_key_value()
                .is_none_or(|(start, end)| self.next < *start && start < end)
        );
        debug_assert!(
            self.highest
                == self
                    .ranges
                    .last_key_value()
                    .map_or(self.next, |(_, end)| *end)
        );
        debug_assert!(
            self.recent
                .iter()
                .take(self.recent_len)
                .all(|(start, end)| self.ranges.get(start) == Some(end))
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A model of the stream as a list of bytes.
    #[derive(Default)]
    struct Model {
        bytes: Vec<bool>,
    }

    impl Model {
        fn runs(&self) -> Vec<(u64, u64)> {
            let mut runs: Vec<(u64, u64)> = Vec::new();
            for position in self.positions() {
                match runs.last_mut() {
                    Some((_, end)) if *end == position => *end += 1,
                    _ => runs.push((position, position + 1)),
                }
            }
            runs
        }

        fn positions(&self) -> impl Iterator<Item = u64> {
            (0..)
                .zip(&self.bytes)
                .filter(|(_, is)| **is)
                .map(|(at, _)| at)
        }

        /// Adds a range and returns the first contiguous part that had arrived before.
        fn insert(&mut self, range: Range<u64>) -> Range<u64> {
            self.bytes
                .resize(self.bytes.len().max(range.end as usize), false);
            let there = |at: &u64| self.bytes[*at as usize];
            let from = range.clone().find(there).unwrap_or(range.start);
            let to = (from..range.end).find(|at| !there(at)).unwrap_or(range.end);
            range.for_each(|at| self.bytes[at as usize] = true);
            from..to
        }
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_a_list_of_bytes(
            segments in prop::collection::vec((0u64..200, 1u64..20), 1..120)
        ) {
            let mut stream = Reassembly::default();
            let mut model = Model::default();
            for (start, len) in segments {
                let range = start..start + len;
                let known = model.insert(range.clone());
                let arrival = stream.insert(range.clone());

                let mut runs = model.runs();
                let next = match runs.first() {
                    Some(&(0, end)) => { runs.remove(0); end }
                    _ => 0,
                };
                prop_assert_eq!(stream.next(), next);
                prop_assert_eq!(stream.ranges.iter().map(|(a, b)| (*a, *b)).collect::<Vec<_>>(), runs.clone());
                prop_assert_eq!(stream.stored(), runs.iter().map(|run| run.1 - run.0).sum::<u64>());
                prop_assert_eq!(stream.highest(), runs.last().map_or(next, |run| run.1));

                // The D-SACK is the first part that had arrived before.
                let duplicate = match arrival {
                    Arrival::Duplicate(whole) => { prop_assert_eq!(&whole, &range); whole }
                    Arrival::InOrder { duplicate } | Arrival::OutOfOrder { duplicate, .. } => duplicate,
                    Arrival::Refused => 0..0,
                };
                if known.is_empty() {
                    prop_assert!(duplicate.is_empty());
                } else {
                    prop_assert_eq!(&duplicate, &known);
                }

                // SACK blocks are distinct whole ranges; the first contains this segment.
                let blocks: Vec<_> = stream.sack_blocks(0..0, MAX_SACK_BLOCKS).ranges().collect();
                prop_assert!(blocks.iter().all(|block| runs.contains(&(block.start, block.end))));
                prop_assert!(blocks.iter().enumerate().all(|(i, block)| !blocks[..i].contains(block)));
                if range.end > next {
                    prop_assert!(blocks[0].start <= range.start && range.end <= blocks[0].end);
                }
                let with_duplicate = stream.sack_blocks(duplicate.clone(), 2);
                prop_assert!(with_duplicate.len() <= 2);
                prop_assert_eq!(with_duplicate.dsack(), (!duplicate.is_empty()).then_some(duplicate));
            }
        }
    }

    #[test]
    fn holes_are_bounded() {
        let mut stream = Reassembly::default();
        let hole = |n: u64| 2 * n + 1..2 * n + 2;
        for n in 0..MAX_RANGES as u64 {
            assert!(matches!(stream.insert(hole(n)), Arrival::OutOfOrder { .. }));
        }
        assert_eq!(stream.insert(hole(MAX_RANGES as u64)), Arrival::Refused);
        assert_eq!(stream.ranges(), MAX_RANGES);
        // A segment that adds no hole is still accepted, and so is one that closes a hole.
        assert!(matches!(stream.insert(2..3), Arrival::OutOfOrder { .. }));
        assert_eq!(stream.ranges(), MAX_RANGES - 1);
        assert!(matches!(stream.insert(0..1), Arrival::InOrder { .. }));
        assert_eq!(stream.next(), 4);
    }
}
