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

    /// When the first is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes the first, with the time at which it was due, if that has come.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(K, Instant)> {
        let (at, key) = *self.order.first().filter(|(at, _)| *at <= now)?;
        self.set(key, None);
        Some((key, at))
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
        assert_eq!(agenda.pop(at(5)), Some((1, at(5))));
        assert_eq!(agenda.pop(at(39)), None);
        assert_eq!(agenda.pop(at(50)), Some((2, at(40))));
        assert_eq!((agenda.pop(at(50)), agenda.next()), (None, None));
        assert!(agenda.times.is_empty());
    }
}
