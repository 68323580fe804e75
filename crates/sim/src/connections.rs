//! The connections that there are.

use std::collections::VecDeque;
use std::ops::Range;

use crate::connection::{Connection, End};
use prefetch::{NEAR, prefetch_part};

/// Connections by the number that their segments carry, their slot. A slot is used again once its connection is gone;
/// packets of the old one that are still on their way are told by their serial number.
#[derive(Debug)]
pub(crate) struct Connections<C> {
    slots: Vec<Slot<C>>,
    free: VecDeque<u32>,
    live: usize,
    are_far: bool,
}

/// A place for a connection. The flag that says whether there is one stands in front. An [`Option`] might hide it anywhere in
/// the connection, far from what is needed next.
#[derive(Debug)]
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "nearly all slots are used")]
enum Slot<C> {
    Free,
    Used(Connection<C>),
}

impl<C> Slot<C> {
    /// Where the connection lies in it.
    const CONNECTION: usize = size_of::<Slot<C>>() - size_of::<Connection<C>>();

    fn connection(&self) -> Option<&Connection<C>> {
        match self {
            Slot::Free => None,
            Slot::Used(connection) => Some(connection),
        }
    }

    /// Prefetches a part of the connection, without checking whether there is one.
    fn prefetch(&self, part: Range<usize>) {
        prefetch_part(
            self,
            Self::CONNECTION + part.start..Self::CONNECTION + part.end,
        );
    }
}

impl<C> Connections<C> {
    pub(crate) fn new() -> Connections<C> {
        Connections {
            slots: Vec::new(),
            free: VecDeque::new(),
            live: 0,
            are_far: false,
        }
    }

    /// Makes a connection that knows its slot.
    pub(crate) fn insert(&mut self, make: impl FnOnce(u32) -> Connection<C>) -> u32 {
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push(Slot::Free);
            self.are_far = self.slots.len() * size_of::<Slot<C>>() > NEAR;
            (self.slots.len() - 1) as u32
        });
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Slot::Used(make(slot));
            self.live += 1;
        }
        slot
    }

    /// Takes a connection away.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<Connection<C>> {
        let place = self.slots.get_mut(slot as usize)?;
        let Slot::Used(connection) = std::mem::replace(place, Slot::Free) else {
            return None;
        };
        self.free.push_back(slot);
        self.live -= 1;
        Some(connection)
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Connection<C>> {
        self.slots.get(slot as usize)?.connection()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection<C>> {
        match self.slots.get_mut(slot as usize)? {
            Slot::Free => None,
            Slot::Used(connection) => Some(connection),
        }
    }

    /// Whether they take more memory than a near cache holds, so that prefetching is worthwhile.
    pub(crate) fn are_far(&self) -> bool {
        self.are_far
    }

    /// Prefetches what an event at this end of a connection needs.
    pub(crate) fn prefetch(&self, slot: u32, end: End) {
        let Some(slot) = self.slots.get(slot as usize) else {
            return;
        };
        slot.prefetch(Connection::<C>::BOTH);
        slot.prefetch(match end {
            End::Sending => Connection::<C>::SENDER,
            End::Receiving => Connection::<C>::RECEIVER,
        });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection<C>> {
        self.slots.iter().filter_map(Slot::connection)
    }

    /// How many slots there are, used or free.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many connections there are.
    pub(crate) fn live(&self) -> usize {
        self.live
    }
}
