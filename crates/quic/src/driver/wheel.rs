//! When which connection has to be looked at: a timing wheel (Varghese and Lauck 1987; for pacing: Saeed et al., "Carousel",
//! 2017).
//!
//! A slot holds what is due within the same few microseconds, so that an entry costs the same however many there are. An
//! entry keeps its own time: the slots only sort, they do not round.

use std::time::{Duration, Instant};

/// The width of a slot, about 33 µs, as a power of two of nanoseconds; and how many there are, which reach 134 ms ahead. What
/// lies beyond waits in the last slot, and is put in again when its turn comes.
const SLOT_BITS: u32 = 15;
const SLOTS: u64 = 4096;

/// Bits of a word in the map of the slots that hold something.
const WORD: u64 = u64::BITS as u64;

/// Keys and the times at which they are due.
#[derive(Debug)]
pub(super) struct Wheel<K> {
    epoch: Instant,
    slots: Vec<Vec<(u64, K)>>,
    occupied: Vec<u64>,
    /// The slot of the present, counted from the epoch on. Nothing is in the ones before.
    present: u64,
    /// Reused: what is moved between slots.
    moved: Vec<(u64, K)>,
}

impl<K: Copy> Wheel<K> {
    pub(super) fn new(now: Instant) -> Wheel<K> {
        Wheel {
            epoch: now,
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            occupied: vec![0; (SLOTS / WORD) as usize],
            present: 0,
            moved: Vec::new(),
        }
    }

    pub(super) fn insert(&mut self, at: Instant, key: K) {
        let at = at.saturating_duration_since(self.epoch).as_nanos();
        self.put(u64::try_from(at).unwrap_or(u64::MAX), key);
    }

    fn put(&mut self, at: u64, key: K) {
        let last = self.present + SLOTS - 1;
        let slot = (at >> SLOT_BITS).clamp(self.present, last) % SLOTS;
        if let (Some(entries), Some(word)) = (
            self.slots.get_mut(slot as usize),
            self.occupied.get_mut((slot / WORD) as usize),
        ) {
            entries.push((at, key));
            *word |= 1 << (slot % WORD);
        }
    }

    /// Takes out what is due by `now`.
    pub(super) fn expire(&mut self, now: Instant, mut due: impl FnMut(K)) {
        let now = now.saturating_duration_since(self.epoch).as_nanos();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let until = (now >> SLOT_BITS).max(self.present);
        let mut moved = std::mem::take(&mut self.moved);
        let mut passed = self.present;
        while let Some(slot) = self.occupied_from(passed).filter(|slot| *slot <= until) {
            self.empty(slot, &mut moved);
            passed = slot + 1;
            if passed == self.present + SLOTS {
                break;
            }
        }
        self.present = until;
        for (at, key) in moved.drain(..) {
            if at <= now {
                due(key);
            } else {
                self.put(at, key);
            }
        }
        self.moved = moved;
    }

    /// When to expire next: nothing is due before.
    pub(super) fn next(&self) -> Option<Instant> {
        let slot = self.occupied_from(self.present)?;
        let entries = self.slots.get((slot % SLOTS) as usize)?;
        let first = entries.iter().map(|(at, _)| *at).min()?;
        // What was too far ahead may have been put here: nothing in a later slot is due before that slot begins.
        let at = first.min((slot + 1) << SLOT_BITS);
        self.epoch.checked_add(Duration::from_nanos(at))
    }

    /// Moves the contents of a slot. It keeps its memory.
    fn empty(&mut self, slot: u64, into: &mut Vec<(u64, K)>) {
        let slot = slot % SLOTS;
        if let (Some(entries), Some(word)) = (
            self.slots.get_mut(slot as usize),
            self.occupied.get_mut((slot / WORD) as usize),
        ) {
            into.append(entries);
            *word &= !(1 << (slot % WORD));
        }
    }

    /// The first slot at or after `from` that holds something, within a turn of the wheel from the present on.
    fn occupied_from(&self, from: u64) -> Option<u64> {
        let end = self.present + SLOTS;
        let mut slot = from;
        while slot < end {
            let word = *self.occupied.get((slot % SLOTS / WORD) as usize)?;
            let rest = word >> (slot % WORD);
            if rest != 0 {
                let found = slot + u64::from(rest.trailing_zeros());
                return (found < end).then_some(found);
            }
            slot += WORD - slot % WORD;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is put in comes out once: when it is due, not before, and in no later look.
        #[test]
        fn nothing_is_early_late_or_lost(
            steps in prop::collection::vec((0_u64..400_000_000, 0_u64..30_000_000), 1..200),
        ) {
            let epoch = Instant::now();
            let at = |nanos| epoch + Duration::from_nanos(nanos);
            let mut wheel = Wheel::new(epoch);
            let mut model: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (key, (ahead, step)) in steps.into_iter().enumerate() {
                wheel.insert(at(now + ahead), key);
                model.push((now + ahead, key));
                let earliest = model.iter().map(|(at, _)| *at).min().unwrap();
                let next = wheel.next().unwrap();
                prop_assert!(next <= at(earliest));
                // Sleeping until then makes progress.
                prop_assert!(next >= at(now));
                now += step;
                let mut due = Vec::new();
                wheel.expire(at(now), |key| due.push(key));
                due.sort_unstable();
                let mut expected: Vec<usize> =
                    model.iter().filter(|(at, _)| *at <= now).map(|(_, key)| *key).collect();
                expected.sort_unstable();
                prop_assert_eq!(due, expected);
                model.retain(|(at, _)| *at > now);
                prop_assert_eq!(wheel.next().is_some(), !model.is_empty());
            }
        }
    }

    #[test]
    fn the_next_time_is_exact_within_reach() {
        let epoch = Instant::now();
        let mut wheel = Wheel::new(epoch);
        for nanos in [90_000_000, 7_001, 7_000, 40_000] {
            wheel.insert(epoch + Duration::from_nanos(nanos), nanos);
        }
        let mut order = Vec::new();
        while let Some(next) = wheel.next() {
            wheel.expire(next, |key| order.push(key));
        }
        assert_eq!(order, [7_000, 7_001, 40_000, 90_000_000]);
    }
}
