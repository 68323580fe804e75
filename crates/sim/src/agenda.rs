//! When each of many things is due, and which is next.

use congestion::Time;

/// A fixed time or none for each of a range of indices, and the earliest of them at hand.
///
/// A winner tree (Knuth, The Art of Computer Programming, volume 3, section 5.4.1): each node has the earlier time of
/// its two children, the root the earliest of all. A change walks up from its leaf until a node stays as it was; there
/// is exactly one entry per index, so that nothing stale piles up, however often a time is changed. Of what is due at
/// the same time, the lowest index is first.
#[derive(Debug, Clone)]
pub(crate) struct Agenda {
    /// The root at 1, the children of node n at 2n and 2n + 1, the leaves in the second half; [`Time::MAX`] is none.
    nodes: Vec<Time>,
}

impl Agenda {
    /// Room for `len` indices, nothing due.
    pub(crate) fn new(len: usize) -> Agenda {
        Agenda {
            nodes: vec![Time::MAX; 2 * len.max(1).next_power_of_two()],
        }
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Makes room for `len` indices.
    pub(crate) fn grow(&mut self, len: usize) {
        if len <= self.leaves() {
            return;
        }
        let mut grown = Agenda::new(len);
        for index in 0..self.leaves() {
            grown.set(index, self.get(index));
        }
        *self = grown;
    }

    /// When `index` is due; [`Time::MAX`] if it is not.
    pub(crate) fn get(&self, index: usize) -> Time {
        let leaf = self.leaves() + index;
        self.nodes.get(leaf).copied().unwrap_or(Time::MAX)
    }

    /// `index` is now due at `at`; [`Time::MAX`] for never.
    pub(crate) fn set(&mut self, index: usize, at: Time) {
        let mut node = self.leaves() + index;
        let mut earliest = at;
        loop {
            match self.nodes.get_mut(node) {
                Some(place) if *place != earliest => *place = earliest,
                _ => return,
            }
            if node <= 1 {
                return;
            }
            let sibling = self.nodes.get(node ^ 1).copied().unwrap_or(Time::MAX);
            earliest = earliest.min(sibling);
            node /= 2;
        }
    }

    /// The earliest time; [`Time::MAX`] if nothing is due.
    pub(crate) fn next_at(&self) -> Time {
        self.nodes.get(1).copied().unwrap_or(Time::MAX)
    }

    /// The index that is due first.
    pub(crate) fn next(&self) -> Option<usize> {
        let at = self.next_at();
        if at == Time::MAX {
            return None;
        }
        let mut node = 1;
        while node < self.leaves() {
            node *= 2;
            if self.nodes.get(node) != Some(&at) {
                node += 1;
            }
        }
        Some(node - self.leaves())
    }
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
            let agenda = Agenda::new(len);
            assert_eq!((agenda.next_at(), agenda.next()), (Time::MAX, None));
        }
    }

    #[test]
    fn of_equal_times_the_lowest_index_is_first() {
        let mut agenda = Agenda::new(5);
        for index in [4, 2, 3] {
            agenda.set(index, at(7));
        }
        assert_eq!((agenda.next_at(), agenda.next()), (at(7), Some(2)));
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(changes in proptest::collection::vec((0usize..40, 0u64..20), 1..300)) {
            let mut agenda = Agenda::new(1);
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
                    .min_by_key(|(index, time)| (**time, **index));
                prop_assert_eq!(agenda.next(), expected.map(|(index, _)| *index));
                prop_assert_eq!(agenda.next_at(), expected.map_or(Time::MAX, |(_, time)| *time));
                prop_assert_eq!(agenda.get(index), time);
            }
        }
    }
}
