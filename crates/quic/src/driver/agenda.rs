//! What is to be done when.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Who is due at what time, the earliest first; each at most once. Of those that are due at the same time, the lowest key is
/// the first.
#[derive(Debug)]
pub(super) struct Agenda<K> {
    order: BTreeSet<(Instant, K)>,
    times: HashMap<K, Instant>,
}

impl<K: Copy + Ord + Hash> Agenda<K> {
    pub(super) fn new() -> Agenda<K> {
        Agenda {
            order: BTreeSet::new(),
            times: HashMap::new(),
        }
    }

    /// `key` is due at this time, and at no other; never, if there is none.
    pub(super) fn set(&mut self, key: K, at: Option<Instant>) {
        let before = match at {
            Some(at) => self.times.insert(key, at),
            None => self.times.remove(&key),
        };
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, key));
        }
        if let Some(at) = at {
            self.order.insert((at, key));
        }
    }

    /// `key` is due at this time, but after everybody who was due by now: whoever is behind its time does not go first again and
    /// again until it has made up for that.
    pub(super) fn queue(&mut self, key: K, at: Option<Instant>, now: Instant) {
        self.set(key, at.map(|at| at.max(now)));
    }

    /// When the first is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes the first, if its time has come.
    pub(super) fn pop(&mut self, now: Instant) -> Option<K> {
        let (_, key) = *self.order.first().filter(|(at, _)| *at <= now)?;
        self.set(key, None);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_earliest_is_first_and_nobody_is_there_twice() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut agenda = Agenda::new();
        for (key, ms) in [(1, 30), (2, 10), (3, 20), (1, 5), (2, 40)] {
            agenda.set(key, Some(at(ms)));
        }
        agenda.set(3, None);
        assert_eq!(agenda.next(), Some(at(5)));
        assert_eq!(agenda.pop(at(4)), None);
        assert_eq!(agenda.pop(at(5)), Some(1));
        assert_eq!(agenda.pop(at(39)), None);
        assert_eq!(agenda.pop(at(50)), Some(2));
        assert_eq!((agenda.pop(at(50)), agenda.next()), (None, None));
        assert!(agenda.times.is_empty());
    }

    /// One that is three milliseconds behind, with bursts of a tenth of a millisecond, beside one that is on time.
    #[test]
    fn whoever_is_behind_waits_for_its_turn() {
        let start = Instant::now();
        let us = |us| start + Duration::from_micros(us);
        let mut agenda = Agenda::new();
        agenda.queue('b', Some(us(0)), us(3_000));
        agenda.queue('p', Some(us(3_001)), us(3_000));
        let mut order = String::new();
        let (mut behind, mut now) = (0, 3_010);
        while let Some(key) = agenda.pop(us(now)) {
            order.push(key);
            now += 10;
            if key == 'b' && order.len() < 5 {
                behind += 100;
                agenda.queue('b', Some(us(behind)), us(now));
            }
        }
        assert_eq!(order, "bpbbb");
    }
}
