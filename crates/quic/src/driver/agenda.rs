//! Keys ordered by the times at which they are due.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Keys and the times at which they are due, the earliest first. Each key occurs at most once. If two keys are due at
/// the same time, the lower key is first.
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

    /// Sets the only time at which `key` is due; never if there is none.
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

    /// Sets a time at which `key` is due, unless it is due earlier. Without a time, nothing changes.
    pub(super) fn hasten(&mut self, key: K, at: Option<Instant>) {
        let before = self.times.get(&key).copied();
        if at.is_some_and(|at| before.is_none_or(|before| at < before)) {
            self.set(key, at);
        }
    }

    /// Sets the time at which `key` is due, but after all keys that are due by now. So a key that is behind its time is
    /// not first repeatedly until it has caught up. A key that waits for its turn keeps its place, as a flow in Linux's fq
    /// does (`fq_enqueue`). Otherwise each event of this key, such as an ACK, would put the key off.
    pub(super) fn queue(&mut self, key: K, at: Option<Instant>, now: Instant) {
        let place = self.times.get(&key).copied();
        let waits_since = place.filter(|place| *place <= now);
        let at = at.map(|at| {
            if at <= now {
                waits_since.unwrap_or(now)
            } else {
                at
            }
        });
        self.set(key, at);
    }

    /// The time at which the first key is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// True if the first key has been due for this long.
    pub(super) fn is_late(&self, by: Duration, now: Instant) -> bool {
        self.next().is_some_and(|at| at + by <= now)
    }

    /// Takes the first key, if it is due. Also returns its place in the order.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Instant, K)> {
        let (at, key) = *self.order.first().filter(|(at, _)| *at <= now)?;
        self.set(key, None);
        Some((at, key))
    }
}

#[cfg(test)]
mod tests {
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
        let ms = Duration::from_millis;
        assert!(agenda.is_late(ms(2), at(7)) && !agenda.is_late(ms(2), at(6)));
        assert_eq!(agenda.pop(at(5)), Some((at(5), 1)));
        assert_eq!(agenda.pop(at(39)), None);
        assert_eq!(agenda.pop(at(50)), Some((at(40), 2)));
        assert_eq!((agenda.pop(at(50)), agenda.next()), (None, None));
        assert!(agenda.times.is_empty());
    }

    #[test]
    fn what_is_put_off_keeps_its_time() {
        let start = Instant::now();
        let at = |ms| Some(start + Duration::from_millis(ms));
        let mut agenda = Agenda::new();
        for (ms, next) in [(Some(30), 30), (Some(40), 30), (None, 30), (Some(20), 20)] {
            agenda.hasten('a', ms.and_then(at));
            assert_eq!(agenda.next(), at(next));
        }
        agenda.set('a', None);
        assert_eq!(agenda.next(), None);
    }

    /// One key is three milliseconds behind, with bursts of a tenth of a millisecond. The other key is on time.
    #[test]
    fn whoever_is_behind_waits_for_its_turn() {
        let start = Instant::now();
        let us = |us| start + Duration::from_micros(us);
        let mut agenda = Agenda::new();
        agenda.queue('b', Some(us(0)), us(3_000));
        agenda.queue('p', Some(us(3_001)), us(3_000));
        let mut order = String::new();
        let (mut behind, mut now) = (0, 3_010);
        while let Some((_, key)) = agenda.pop(us(now)) {
            order.push(key);
            now += 10;
            if key == 'b' && order.len() < 5 {
                behind += 100;
                agenda.queue('b', Some(us(behind)), us(now));
            }
        }
        assert_eq!(order, "bpbbb");
    }

    #[test]
    fn whoever_waits_keeps_its_place() {
        let start = Instant::now();
        let us = |us| start + Duration::from_micros(us);
        let mut agenda = Agenda::new();
        agenda.queue('a', Some(us(0)), us(10));
        agenda.queue('b', Some(us(0)), us(20));
        // Each burst gets an ACK.
        agenda.queue('b', Some(us(5)), us(30));
        agenda.queue('a', Some(us(5)), us(40));
        assert_eq!(agenda.next(), Some(us(10)));
        assert_eq!(agenda.pop(us(50)), Some((us(10), 'a')));
        // The window has closed, or a lower rate lets it wait longer.
        agenda.queue('b', Some(us(90)), us(60));
        assert_eq!(agenda.pop(us(60)), None);
        agenda.queue('b', None, us(90));
        assert_eq!(agenda.next(), None);
    }
}
