//! Sets of a file's blocks, in the form of messages.

use serde::{Deserialize, Serialize};

use crate::tree;
use crate::wire_error::WireError;

/// The most ranges in a message about one file. Omitted blocks are only sent again.
pub const MAX_RANGES: usize = 256;

/// Consecutive blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The index of the first block.
    pub start: u64,
    /// The number of blocks; not zero.
    pub count: u64,
}

/// A set of blocks of a file: ascending ranges with gaps between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranges(Vec<Range>);

impl Ranges {
    /// The set of the ascending indexes `blocks`, as far as they fit into [`MAX_RANGES`].
    pub fn of(blocks: impl IntoIterator<Item = u64>) -> Ranges {
        let mut ranges = Ranges::default();
        for index in blocks {
            if !ranges.push(index, 1) {
                break;
            }
        }
        ranges
    }

    /// Adds `count` blocks from `start`, which is beyond the last range; `false` if there are [`MAX_RANGES`] already.
    pub fn push(&mut self, start: u64, count: u64) -> bool {
        if count == 0 {
            return true;
        }
        if let Some(last) = self.0.last_mut()
            && last.start.saturating_add(last.count) == start
        {
            last.count = last.count.saturating_add(count);
            return true;
        }
        let fits = self.0.len() < MAX_RANGES;
        if fits {
            self.0.push(Range { start, count });
        }
        fits
    }

    /// Checks that the ranges ascend, with gaps, within a file of `size` bytes.
    ///
    /// # Errors
    /// They do not, or there are too many.
    pub fn check(&self, size: u64) -> Result<(), WireError> {
        if self.0.len() > MAX_RANGES {
            return Err(WireError::TooLong);
        }
        let mut next = 0;
        for range in &self.0 {
            match range.start.checked_add(range.count) {
                Some(end)
                    if range.count > 0 && range.start >= next && end <= tree::blocks(size) =>
                {
                    next = end;
                }
                _ => return Err(WireError::Sense),
            }
        }
        Ok(())
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the set contains block `index`.
    pub fn contains(&self, index: u64) -> bool {
        self.end_of(index).is_some()
    }

    /// True if the sets have a common block.
    pub fn meets(&self, others: &Ranges) -> bool {
        let mut others = others.spans().peekable();
        self.spans().any(|span| {
            while others.next_if(|other| other.end <= span.start).is_some() {}
            others.peek().is_some_and(|other| other.start < span.end)
        })
    }

    /// The index after the range that contains block `index`, if there is one.
    pub fn end_of(&self, index: u64) -> Option<u64> {
        let before = self.0.partition_point(|range| range.start <= index);
        let range = self.0.get(before.checked_sub(1)?)?;
        (index - range.start < range.count).then(|| range.start.saturating_add(range.count))
    }

    /// The ranges as half-open intervals of indexes.
    pub fn spans(&self) -> impl Iterator<Item = std::ops::Range<u64>> {
        let end = |range: &Range| range.start.saturating_add(range.count);
        self.0.iter().map(move |range| range.start..end(range))
    }

    /// The indexes of all blocks.
    pub fn blocks(&self) -> impl Iterator<Item = u64> {
        self.spans().flatten()
    }

    /// The number of blocks.
    pub fn count(&self) -> u64 {
        let counts = self.0.iter().map(|range| range.count);
        counts.fold(0, u64::saturating_add)
    }

    /// The number of bytes of these blocks in a file of `size` bytes.
    pub fn bytes(&self, size: u64) -> u64 {
        let end = |block: u64| block.saturating_mul(tree::BLOCK).min(size);
        self.spans()
            .map(|span| end(span.end) - end(span.start))
            .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges(ranges: impl IntoIterator<Item = (u64, u64)>) -> Ranges {
        let range = |(start, count)| Range { start, count };
        Ranges(ranges.into_iter().map(range).collect())
    }

    proptest! {
        #[test]
        fn they_hold_what_was_put_in(mut indexes in prop::collection::btree_set(0u64..600, 0..300)) {
            let size = 600 * tree::BLOCK - 7;
            let held = Ranges::of(indexes.iter().copied());
            prop_assert_eq!(held.check(size), Ok(()));
            if held.0.len() == MAX_RANGES {
                let last = held.0[MAX_RANGES - 1];
                indexes.retain(|index| *index < last.start + last.count);
            }
            let found: Vec<u64> = (0..700).filter(|index| held.contains(*index)).collect();
            prop_assert_eq!(&found, &indexes.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(&found, &held.blocks().collect::<Vec<_>>());
            let bytes: u64 = found.iter().map(|index| tree::block_len(size, *index) as u64).sum();
            prop_assert_eq!(held.bytes(size), bytes);
        }

        #[test]
        fn any_are_answered(given in prop::collection::vec(any::<(u64, u64)>(), 0..5), size: u64, index: u64) {
            let given = ranges(given);
            let _ = given.contains(index);
            if given.check(size).is_ok() {
                prop_assert!(given.bytes(size) <= size);
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let check = |given: &[(u64, u64)]| ranges(given.iter().copied()).check(10 * tree::BLOCK);
        assert_eq!(check(&[(0, 4), (5, 5)]), Ok(()));
        for given in [
            &[(0, 0)][..],
            &[(0, 11)],
            &[(5, 1), (5, 1)],
            &[(5, 1), (0, 1)],
            &[(1, u64::MAX)],
        ] {
            assert_eq!(check(given), Err(WireError::Sense), "{given:?}");
        }
    }
}
