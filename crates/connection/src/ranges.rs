//! A set of bytes, stored as ranges.

use std::ops::Range;

use crate::memory::shrink;

/// The most ranges that are kept. Beyond it, the lowest ones are merged into one, this many at once.
const MAX_RANGES: usize = 4096;
const MERGED_AT_ONCE: usize = 512;

/// The same when memory is short.
const MAX_RANGES_WHEN_SHORT: usize = 8;

/// Ranges that neither overlap nor touch, in order.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    ranges: Vec<Range<u64>>,
}

impl Ranges {
    /// Adds a range. Calls `new` for each part that was not in the set.
    #[inline]
    pub fn add(&mut self, range: Range<u64>, mut new: impl FnMut(Range<u64>)) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|old| old.end < range.start);
        let mut last = first;
        let mut from = range.start;
        let mut whole = range.clone();
        while let Some(old) = self.ranges.get(last)
            && old.start <= range.end
        {
            if from < old.start {
                new(from..old.start.min(range.end));
            }
            from = from.max(old.end);
            whole = whole.start.min(old.start)..whole.end.max(old.end);
            last += 1;
        }
        if from < range.end {
            new(from..range.end);
        }
        if last == first + 1 {
            self.ranges[first] = whole;
        } else {
            self.ranges.splice(first..last, [whole]);
        }
        if self.ranges.len() > MAX_RANGES {
            self.merge(MERGED_AT_ONCE);
        }
    }

    /// Merges this many of the lowest ranges into the one after them.
    fn merge(&mut self, lowest: usize) {
        self.ranges[lowest].start = self.ranges[0].start;
        self.ranges.drain(..lowest);
    }

    /// Keeps the highest few ranges, and merges the others. Returns how many bytes are now in the set that were not before.
    pub fn thin(&mut self) -> u64 {
        let lowest = self.ranges.len().saturating_sub(MAX_RANGES_WHEN_SHORT);
        let gaps = self.ranges.windows(2).take(lowest);
        let added = gaps.map(|pair| pair[1].start - pair[0].end).sum();
        if lowest > 0 {
            self.merge(lowest);
        }
        shrink(&mut self.ranges);
        added
    }

    /// Removes everything before `position`. Returns how many bytes those were.
    #[inline]
    pub fn forget_before(&mut self, position: u64) -> u64 {
        if self
            .ranges
            .first()
            .is_none_or(|first| first.start >= position)
        {
            return 0;
        }
        let gone = self.ranges.partition_point(|old| old.end <= position);
        let mut bytes: u64 = self
            .ranges
            .drain(..gone)
            .map(|old| old.end - old.start)
            .sum();
        if let Some(first) = self.ranges.first_mut()
            && first.start < position
        {
            bytes += position - first.start;
            first.start = position;
        }
        bytes
    }

    /// The number of bytes of memory that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.ranges.capacity() * size_of::<Range<u64>>()
    }

    /// The end of the first range, if it begins at `position`.
    pub fn first_from(&self, position: u64) -> Option<u64> {
        let first = self.ranges.first()?;
        (first.start <= position).then_some(first.end)
    }

    /// The end of the last range that begins before `position`.
    pub fn end_of(&self, position: u64) -> Option<u64> {
        let place = self.ranges.partition_point(|old| old.start < position);
        self.ranges[..place].last().map(|last| last.end)
    }

    /// The end of the last range.
    pub fn end(&self) -> Option<u64> {
        self.ranges.last().map(|range| range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_RANGES, MAX_RANGES_WHEN_SHORT, MERGED_AT_ONCE, Ranges};

    #[test]
    fn only_what_is_new_is_told() {
        let mut ranges = Ranges::default();
        let mut add = |range| {
            let mut new = Vec::new();
            ranges.add(range, |part| new.push((part.start, part.end)));
            new
        };
        assert_eq!(add(10..20), [(10, 20)]);
        assert_eq!(add(30..40), [(30, 40)]);
        assert_eq!(add(12..18), []);
        assert_eq!(add(5..35), [(5, 10), (20, 30)]);
        assert_eq!(add(40..50), [(40, 50)]);
        assert_eq!(add(60..70), [(60, 70)]);
        assert_eq!(ranges.forget_before(45), 40);
        assert_eq!(ranges.end(), Some(70));
    }

    #[test]
    fn of_many_the_lowest_become_one() {
        let mut ranges = Ranges::default();
        let mut new = 0;
        for range in 0..10_000 {
            ranges.add(range * 2..range * 2 + 1, |part| {
                new += part.end - part.start
            });
            assert!(ranges.ranges.len() <= MAX_RANGES);
        }
        assert_eq!((new, ranges.end()), (10_000, Some(19_999)));
        assert!(ranges.ranges.len() > MAX_RANGES - MERGED_AT_ONCE);
        assert!(ranges.first_from(0) > Some(10_000));
        let gaps = ranges.ranges.len() - MAX_RANGES_WHEN_SHORT;
        assert_eq!(ranges.thin(), gaps as u64);
        assert_eq!(
            (ranges.ranges.len(), ranges.end()),
            (MAX_RANGES_WHEN_SHORT, Some(19_999))
        );
        assert_eq!(
            ranges.forget_before(19_999),
            19_999 - (MAX_RANGES_WHEN_SHORT as u64 - 1)
        );
    }
}
