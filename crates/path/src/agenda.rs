//! The times at which many things are due, and the earliest of them.

use std::cmp::Reverse;
use std::mem::{replace, take};

use units::Time;

use crate::seed::part_seed;

/// The children of a node: their times fill a cache line.
const CHILDREN: usize = 8;

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
    /// The seed of the order of ties; `None` if the lowest index is first.
    ties: Option<u64>,
    /// If the order is drawn: a time, and those that were due at it behind the known first, the last of them first. So a
    /// tie of many is sorted once.
    tied: (Time, Vec<usize>),
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
            ties: None,
            tied: (Time::MAX, Vec::new()),
        }
    }

    /// Draws the order of indices with the same time from this seed, anew for each time: each order of them is as
    /// probable as any other.
    pub fn draw_ties(&mut self, seed: u64) {
        self.ties = Some(seed);
        self.first = None;
        self.tied.1.clear();
    }

    /// What orders the indices that are due at the same time: the lowest is first.
    #[inline]
    fn order(&self, at: Time, index: usize) -> (Option<u64>, usize) {
        let draw = |seed| part_seed(seed, at.as_nanos(), index as u64);
        (self.ties.map(draw), index)
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
            self.tied.1.clear();
        } else if at > self.earliest {
            self.first = self.first.filter(|first| *first != index);
        } else if self.first != Some(index) {
            let first = self.first.map(|first| self.order(at, first));
            self.first = first.map(|first| first.min(self.order(at, index)).1);
            self.tied.1.clear();
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
            self.first = match self.ties {
                Some(_) => self.next_tied(),
                None => self.lowest(),
            };
        }
        self.first
    }

    /// The lowest index that is due first.
    fn lowest(&self) -> Option<usize> {
        let mut index = 0;
        for level in self.levels.iter().rev() {
            let node = level.get(index)?;
            let child = node.iter().position(|at| *at == self.earliest)?;
            index = index * CHILDREN + child;
        }
        Some(index)
    }

    /// The index that is due first in the drawn order.
    fn next_tied(&mut self) -> Option<usize> {
        let (at, mut tied) = take(&mut self.tied);
        if at != self.earliest {
            tied.clear();
        }
        let is_due = |index: &usize| self.get(*index) == self.earliest;
        let mut first = tied.pop();
        while first.is_some_and(|index| !is_due(&index)) {
            first = tied.pop();
        }
        if first.is_none() {
            self.collect(self.levels.len() - 1, 0, &mut tied);
            tied.sort_unstable_by_key(|index| Reverse(self.order(self.earliest, *index)));
            first = tied.pop();
        }
        self.tied = (self.earliest, tied);
        first
    }

    /// Collects the indices below this node of this level that are due at the earliest time.
    fn collect(&self, level: usize, node: usize, due: &mut Vec<usize>) {
        for (child, at) in self.levels[level][node].iter().enumerate() {
            let index = node * CHILDREN + child;
            match level.checked_sub(1) {
                _ if *at != self.earliest => {}
                Some(below) => self.collect(below, index, due),
                None => due.push(index),
            }
        }
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

    /// The orders in which `len` indices are due at each of `count` times, from this seed.
    fn drawn(seed: u64, len: usize, count: u64) -> impl Iterator<Item = Vec<usize>> {
        let mut agenda = Agenda::new(len);
        agenda.draw_ties(seed);
        // Packets of equal lines arrive at multiples of the time that one takes.
        (1..=count).map(move |count| {
            let time = at(count * 121_120);
            (0..len).for_each(|index| agenda.set(index, time));
            let next = || {
                let first = agenda.due(time)?;
                agenda.set(first, Time::MAX);
                Some(first)
            };
            std::iter::from_fn(next).collect()
        })
    }

    /// The standard deviations by which a share of independent draws is away from its probability.
    fn deviations(hits: usize, draws: usize, probability: f64) -> f64 {
        let mean = draws as f64 * probability;
        (hits as f64 - mean) / (mean * (1.0 - probability)).sqrt()
    }

    /// Each index has each place as often as any other, the first and the last too. Of the 190 counts, the furthest of
    /// fair draws is within 4.5 standard deviations in all but one of 700 cases: here 10 % of a count.
    #[test]
    fn drawn_ties_favour_no_index() {
        const SEEDS: u64 = 200;
        const TIMES: u64 = 100;
        for len in [3, 9, 10] {
            let mut places = vec![vec![0; len]; len];
            for order in (0..SEEDS).flat_map(|seed| drawn(seed, len, TIMES)) {
                assert_eq!(order.len(), len);
                for (place, index) in order.into_iter().enumerate() {
                    places[index][place] += 1;
                }
            }
            for (index, counts) in places.iter().enumerate() {
                for (place, count) in counts.iter().enumerate() {
                    let off = deviations(*count, (SEEDS * TIMES) as usize, 1.0 / len as f64);
                    assert!(off.abs() < 4.5, "{index} of {len} at {place}: {off:.1} σ");
                }
            }
        }
    }

    /// The winner of a tie says nothing about that of the next or of those after it. Of 1000 shares of fair draws, the
    /// furthest is within 5 standard deviations in all but one of 1700 cases.
    #[test]
    fn drawn_ties_are_independent() {
        const TIMES: usize = 400;
        for seed in 0..200 {
            let orders = drawn(seed, 2, TIMES as u64);
            let winners: Vec<usize> = orders.map(|order| order[0]).collect();
            for lag in [1, 2, 3, 5, 8] {
                let pairs = winners.iter().zip(&winners[lag..]);
                let equal = pairs.filter(|(one, other)| one == other).count();
                let off = deviations(equal, TIMES - lag, 0.5);
                assert!(off.abs() < 5.0, "seed {seed}, lag {lag}: {off:.1} σ");
            }
            let longest = winners
                .chunk_by(|one, other| one == other)
                .map(<[_]>::len)
                .max();
            assert!(longest < Some(30), "seed {seed}: {longest:?} in a row");
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
                    .min_by_key(|(index, time)| {
                        let draw = seed.map(|seed| part_seed(seed, time.as_nanos(), **index as u64));
                        (**time, draw, **index)
                    });
                prop_assert_eq!(agenda.first(), expected.map(|(index, _)| *index));
                prop_assert_eq!(agenda.next_at(), expected.map_or(Time::MAX, |(_, time)| *time));
                prop_assert_eq!(agenda.get(index), time);
            }
        }
    }
}
