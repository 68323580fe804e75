//! The times at which many things are due, and the earliest of them.

use std::mem::replace;

use units::Time;

/// The children of a node: their times fill a cache line.
const CHILDREN: usize = 1 << CHILD_BITS;
const CHILD_BITS: usize = 3;

/// An optional time for each of a range of indices, with quick access to the earliest.
///
/// A winner tree (Knuth, The Art of Computer Programming, volume 3, section 5.4.1) with eight children per node: each
/// level has the earliest time of every eight of the level below. An update moves up until a node does not change.
/// There is exactly one entry per index, so stale entries never accumulate.
///
/// Of the indices with the same time, the lowest is first, unless their order is [drawn](Agenda::draw_ties).
#[derive(Debug, Clone)]
pub struct Agenda {
    /// From the indices up to a single node. [`Time::MAX`] means none.
    levels: Vec<Vec<[Time; CHILDREN]>>,
    earliest: Time,
    /// The index that is due first, if known: the search for it passes through all levels.
    first: Option<usize>,
    /// A random odd factor of the times, whose products draw the order of ties; zero if the lowest index is first.
    ties: u64,
}

impl Agenda {
    /// Makes an agenda for `len` indices, with nothing due.
    pub fn new(len: usize) -> Agenda {
        let mut nodes = len.div_ceil(CHILDREN).max(1);
        let mut levels = vec![vec![[Time::MAX; CHILDREN]; nodes]];
        while nodes > 1 {
            nodes = nodes.div_ceil(CHILDREN);
            levels.push(vec![[Time::MAX; CHILDREN]; nodes]);
        }
        Agenda {
            levels,
            earliest: Time::MAX,
            first: None,
            ties: 0,
        }
    }

    /// Draws the order of indices with the same time: by a number from this seed for each time, so that each of two is
    /// first as often as the other.
    pub fn draw_ties(&mut self, seed: u64) {
        self.ties = seed | 1;
        self.first = None;
    }

    /// What changes the order of the indices at this time: the one whose exclusive or with it is lowest is first. For two
    /// of them, one bit decides: the highest in which they differ.
    #[inline]
    fn order(&self, at: Time) -> usize {
        // Of a product, the high bits depend on all bits of its factors (Knuth, volume 3, section 6.4).
        (at.as_nanos().wrapping_mul(self.ties) >> 32) as usize
    }

    fn len(&self) -> usize {
        self.levels.first().map_or(0, Vec::len) * CHILDREN
    }

    /// Extends the range to `len` indices.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len() {
            return;
        }
        let mut grown = Agenda::new(len.max(2 * self.len()));
        grown.ties = self.ties;
        for index in 0..self.len() {
            grown.set(index, self.get(index));
        }
        *self = grown;
    }

    /// The time at which `index` is due; [`Time::MAX`] if it is not.
    #[inline]
    pub fn get(&self, index: usize) -> Time {
        let node = self
            .levels
            .first()
            .and_then(|level| level.get(index / CHILDREN));
        node.map_or(Time::MAX, |node| node[index % CHILDREN])
    }

    /// Sets the time at which `index` is due; [`Time::MAX`] for never.
    #[inline]
    pub fn set(&mut self, index: usize, at: Time) {
        self.note_first(index, at);
        let (mut index, mut at) = (index, at);
        for level in 0..self.levels.len() {
            let least = self.least(level, index / CHILDREN);
            let node = self.levels.get_mut(level);
            let Some(node) = node.and_then(|level| level.get_mut(index / CHILDREN)) else {
                return;
            };
            let before = replace(&mut node[index % CHILDREN], at);
            if before == at || before.min(at) > least {
                return;
            }
            // Only the end of the earliest requires a look at the others.
            if at > least {
                at = earliest(node);
            }
            index /= CHILDREN;
        }
        self.earliest = at;
    }

    /// The earliest time of a node, as its parent has it.
    #[inline]
    fn least(&self, level: usize, node: usize) -> Time {
        let parents = self.levels.get(level + 1);
        let parent = parents.and_then(|level| level.get(node / CHILDREN));
        parent.map_or(self.earliest, |parent| parent[node % CHILDREN])
    }

    /// Updates the known first index before `index` becomes due at `at`.
    #[inline]
    fn note_first(&mut self, index: usize, at: Time) {
        if at < self.earliest {
            self.first = Some(index);
        } else if at == self.earliest {
            let order = self.order(at);
            let earlier = |first: usize| {
                if index ^ order < first ^ order {
                    index
                } else {
                    first
                }
            };
            self.first = self.first.map(earlier);
        } else if self.first == Some(index) {
            self.first = None;
        }
    }

    /// The earliest time; [`Time::MAX`] if nothing is due.
    #[inline]
    pub fn next_at(&self) -> Time {
        self.earliest
    }

    /// The index that is due first, if it is due at `at`.
    #[inline]
    pub fn due(&mut self, at: Time) -> Option<usize> {
        if self.earliest == at {
            self.first()
        } else {
            None
        }
    }

    /// The index that is due first.
    #[inline]
    pub fn first(&mut self) -> Option<usize> {
        if self.earliest == Time::MAX {
            return None;
        }
        if self.first.is_none() {
            self.first = self.search();
        }
        self.first
    }

    fn search(&self) -> Option<usize> {
        let order = self.order(self.earliest);
        let mut index = 0;
        for (height, level) in self.levels.iter().enumerate().rev() {
            let node = level.get(index)?;
            let of_level = order >> (height * CHILD_BITS) & (CHILDREN - 1);
            let mut children = (0..CHILDREN).map(|place| place ^ of_level);
            let child = children.find(|child| node[*child] == self.earliest)?;
            index = index * CHILDREN + child;
        }
        Some(index)
    }
}

fn earliest(node: &[Time; CHILDREN]) -> Time {
    node.iter().copied().fold(Time::MAX, Time::min)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn nothing_is_due_at_first() {
        for len in [0, 1, 2, 3, 100] {
            let mut agenda = Agenda::new(len);
            assert_eq!((agenda.next_at(), agenda.first()), (Time::MAX, None));
        }
    }

    #[test]
    fn of_equal_times_the_lowest_index_is_first() {
        let mut agenda = Agenda::new(5);
        for index in [4, 2, 3] {
            agenda.set(index, at(7));
        }
        assert_eq!((agenda.next_at(), agenda.first()), (at(7), Some(2)));
    }

    #[test]
    fn drawn_ties_favour_no_index() {
        const INDICES: usize = 20;
        const TIMES: u64 = 4000;
        let mut agenda = Agenda::new(INDICES);
        agenda.draw_ties(0x9e37_79b9_7f4a_7c15);
        let mut ahead = vec![[0_u64; INDICES]; INDICES];
        // Packets of equal lines arrive at multiples of the time that one takes.
        for time in (1..=TIMES).map(|count| at(count * 1_211_200)) {
            (0..INDICES).for_each(|index| agenda.set(index, time));
            let mut left: Vec<usize> = (0..INDICES).collect();
            while let Some(first) = agenda.due(time) {
                agenda.set(first, Time::MAX);
                left.retain(|index| *index != first);
                left.iter().for_each(|behind| ahead[first][*behind] += 1);
            }
        }
        for (one, before) in ahead.iter().enumerate() {
            for (other, times) in before.iter().enumerate() {
                let share = *times as f64 / TIMES as f64;
                let is_even = one == other || (share - 0.5).abs() < 0.05;
                assert!(is_even, "{one} before {other}: {share}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(
            changes in proptest::collection::vec((0usize..40, 0u64..20), 1..300),
            seed in proptest::option::of(any::<u64>()),
        ) {
            let mut agenda = Agenda::new(1);
            seed.into_iter().for_each(|seed| agenda.draw_ties(seed));
            let mut model = BTreeMap::new();
            for (index, time) in changes {
                agenda.grow(index + 1);
                // Twenty different times, of which one is never.
                let time = if time == 0 { Time::MAX } else { at(time) };
                agenda.set(index, time);
                model.insert(index, time);
                let expected = model
                    .iter()
                    .filter(|(_, time)| **time != Time::MAX)
                    .min_by_key(|(index, time)| (**time, **index ^ agenda.order(**time)));
                prop_assert_eq!(agenda.first(), expected.map(|(index, _)| *index));
                prop_assert_eq!(agenda.next_at(), expected.map_or(Time::MAX, |(_, time)| *time));
                prop_assert_eq!(agenda.get(index), time);
            }
        }
    }
}
