//! The packets on a link, each in one slot from its entry to its end.
//!
//! Queues and flights are lists of slots, so a packet is written once, read once, and never moved. Any packet can be
//! dropped from any list without a search.

use prefetch::{NEAR, prefetch};
use units::{Bytes, Duration, Time};

use crate::counters::Count;
use crate::parcel::{Ecn, Parcel};

/// The index of a packet's slot in its [`Store`]. It is used again once the packet is gone.
pub(crate) type SlotId = usize;

/// The approximate size of a processor's first-level cache in bytes.
const SMALL: usize = 1 << 15;

/// The index of no slot.
const NO_SLOT: SlotId = SlotId::MAX;

/// The state of a packet on the link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// The time of its entry; once it has left the bottleneck, the time of its arrival.
    pub(crate) at: Time,
    /// The number of packets that left the bottleneck before it. Of packets that arrive at the same time, the one that
    /// left first is first.
    pub(crate) turn: u64,
    /// The time for which it waited for the bottleneck.
    pub(crate) queued: Duration,
    pub(crate) size: Bytes,
    pub(crate) ecn: Ecn,
    pub(crate) corrupted: bool,
}

#[derive(Debug, Clone)]
struct Slot<P> {
    /// The next slot of the list that contains it; for an empty slot, the next empty one.
    next: SlotId,
    held: Held,
    packet: Option<P>,
}

/// All packets on a link.
#[derive(Debug, Clone)]
pub(crate) struct Store<P> {
    slots: Vec<Slot<P>>,
    /// The empty slots. Of many, the slot that was emptied first is filled first. Packets mostly leave in the order in
    /// which they came, so they then are in memory in that order. A processor prefetches well when it walks through a
    /// hundred thousand of them from one end to the other. Of few, the slot that was emptied last is filled first: it
    /// may still be in a cache, and the others need not be.
    empty: List,
    /// True if the slots take so little memory that their order does not matter.
    is_small: bool,
    /// True if the slots take more memory than a near cache holds.
    is_far: bool,
    count: Count,
}

impl<P> Store<P> {
    pub(crate) fn new() -> Store<P> {
        Store {
            slots: Vec::new(),
            empty: List::EMPTY,
            is_small: true,
            is_far: false,
            count: Count::default(),
        }
    }

    /// Adds a packet that enters the link at `now`.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: Time, parcel: Parcel, packet: P) -> SlotId {
        let Parcel { size, ecn, .. } = parcel;
        let held = Held {
            at: now,
            turn: 0,
            queued: Duration::ZERO,
            size,
            ecn,
            corrupted: false,
        };
        self.put(held, packet)
    }

    #[inline(always)]
    fn put(&mut self, held: Held, packet: P) -> SlotId {
        self.count.add(held.size);
        let place = self.empty.take(&self.slots).unwrap_or(NO_SLOT);
        self.prefetch(self.empty.first);
        match self.slots.get_mut(place) {
            Some(slot) => {
                debug_assert!(slot.packet.is_none(), "an empty slot is full");
                slot.held = held;
                slot.packet = Some(packet);
                place
            }
            None => {
                self.slots.push(Slot {
                    next: NO_SLOT,
                    held,
                    packet: Some(packet),
                });
                let bytes = self.slots.len() * size_of::<Slot<P>>();
                self.is_small = bytes <= SMALL;
                self.is_far = bytes > NEAR;
                self.slots.len() - 1
            }
        }
    }

    /// Removes a packet, which must be in no list.
    pub(crate) fn remove(&mut self, place: SlotId) -> Option<P> {
        let slot = self.slots.get_mut(place)?;
        let packet = slot.packet.take()?;
        self.count.sub(slot.held.size);
        if self.is_small {
            self.empty.prepend(&mut self.slots, place);
        } else {
            self.empty.append(&mut self.slots, place);
        }
        Some(packet)
    }

    /// The state of the packet in an occupied slot.
    pub(crate) fn get(&self, place: SlotId) -> Option<&Held> {
        self.slots.get(place).map(|slot| &slot.held)
    }

    /// The state of the packet in an occupied slot, to be changed.
    pub(crate) fn get_mut(&mut self, place: SlotId) -> Option<&mut Held> {
        self.slots.get_mut(place).map(|slot| &mut slot.held)
    }

    /// Copies a packet.
    pub(crate) fn copy(&mut self, place: SlotId) -> Option<SlotId>
    where
        P: Clone,
    {
        let slot = self.slots.get(place)?;
        let (held, packet) = (slot.held, slot.packet.clone()?);
        Some(self.put(held, packet))
    }

    /// Prefetches a slot that will soon be read or written, if that is worthwhile.
    #[inline]
    fn prefetch(&self, place: SlotId) {
        if self.is_far
            && let Some(slot) = self.slots.get(place)
        {
            prefetch(slot);
        }
    }

    fn is_full(&self, place: SlotId) -> bool {
        self.slots
            .get(place)
            .is_some_and(|slot| slot.packet.is_some())
    }

    /// The number and bytes of packets on the link.
    pub(crate) fn count(&self) -> Count {
        self.count
    }
}

/// A list of packets, by their slots.
#[derive(Debug, Clone)]
pub(crate) struct List {
    first: SlotId,
    last: SlotId,
}

impl List {
    pub(crate) const EMPTY: List = List {
        first: NO_SLOT,
        last: NO_SLOT,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.first == NO_SLOT
    }

    /// The first packet, which leaves next.
    pub(crate) fn first<'a, P>(&self, store: &'a Store<P>) -> Option<&'a Held> {
        store.get(self.first)
    }

    pub(crate) fn first_packet<'a, P>(&self, store: &'a Store<P>) -> Option<&'a P> {
        store.slots.get(self.first)?.packet.as_ref()
    }

    /// Prefetches the packet behind the first.
    #[inline]
    pub(crate) fn prefetch_second<P>(&self, store: &Store<P>) {
        if let Some(slot) = store.slots.get(self.first) {
            store.prefetch(slot.next);
        }
    }

    /// Adds a packet, which must be in no list, at the end.
    pub(crate) fn push<P>(&mut self, store: &mut Store<P>, place: SlotId) {
        debug_assert!(store.is_full(place), "an empty place cannot wait");
        self.append(&mut store.slots, place);
    }

    /// Takes the first packet out of the list. It stays in the store.
    pub(crate) fn pop<P>(&mut self, store: &Store<P>) -> Option<SlotId> {
        let place = self.take(&store.slots)?;
        debug_assert!(store.is_full(place), "a packet left without its list");
        Some(place)
    }

    fn append<P>(&mut self, slots: &mut [Slot<P>], place: SlotId) {
        if let Some(slot) = slots.get_mut(place) {
            slot.next = NO_SLOT;
        }
        match slots.get_mut(self.last) {
            Some(last) => last.next = place,
            None => self.first = place,
        }
        self.last = place;
    }

    fn prepend<P>(&mut self, slots: &mut [Slot<P>], place: SlotId) {
        if let Some(slot) = slots.get_mut(place) {
            slot.next = self.first;
        }
        if self.is_empty() {
            self.last = place;
        }
        self.first = place;
    }

    fn take<P>(&mut self, slots: &[Slot<P>]) -> Option<SlotId> {
        let place = self.first;
        self.first = slots.get(place)?.next;
        if self.first == NO_SLOT {
            self.last = NO_SLOT;
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_a_store_that_uses_its_places_again() {
        let mut store = Store::new();
        let mut lists = [List::EMPTY, List::EMPTY];
        for round in 0..100 {
            for packet in 0..6u64 {
                let place = store.insert(Time::ZERO, Bytes::new(packet).into(), packet);
                lists[(packet % 2) as usize].push(&mut store, place);
            }
            assert_eq!(store.count().packets, 6);
            assert_eq!(store.count().bytes, Bytes::new(15));
            // Packets are removed alternately in two orders, so that slots are used again in another order each time.
            let mut orders = [vec![], vec![]];
            for step in 0..6 {
                let which = (step + round) % 2;
                let place = lists[which].pop(&store).expect("three in each");
                orders[which].extend(store.remove(place));
            }
            assert_eq!(orders, [[0, 2, 4], [1, 3, 5]]);
            assert!(lists.iter_mut().all(|list| list.pop(&store).is_none()));
        }
        assert_eq!(store.count(), Count::default());
        assert_eq!(store.slots.len(), 6);
        assert!(store.remove(0).is_none() && store.get(7).is_none());
    }
}
