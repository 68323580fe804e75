//! The connections that there are.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use prefetch::{NEAR, prefetch};

use crate::connection::Connection;
use crate::index::{Slot, Table};

/// Connections by the number that their segments carry, their slot. A slot is used again once its connection is gone;
/// packets of the old one that are still on their way are told by their serial number.
#[derive(Debug)]
pub(crate) struct Connections<C> {
    slots: Table<Slot, Option<Connection<C>>>,
    free: VecDeque<Slot>,
    live: usize,
    are_far: bool,
}

impl<C> Connections<C> {
    pub(crate) fn new() -> Connections<C> {
        Connections {
            slots: Vec::new().into(),
            free: VecDeque::new(),
            live: 0,
            are_far: false,
        }
    }

    /// Makes a connection that knows its slot.
    pub(crate) fn insert(&mut self, make: impl FnOnce(Slot) -> Connection<C>) -> Slot {
        let free = self.free.pop_front();
        let slot = free.unwrap_or_else(|| self.slots.push(None));
        self.are_far = size_of_val(&*self.slots) > NEAR;
        self.slots[slot] = Some(make(slot));
        self.live += 1;
        slot
    }

    /// Takes a connection away.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Connection<C>> {
        let connection = self.slots[slot].take()?;
        self.free.push_back(slot);
        self.live -= 1;
        Some(connection)
    }

    /// The connection in a slot, if it is not over.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&Connection<C>> {
        self.slots[slot].as_ref()
    }

    /// The connection of a packet, if it is not over.
    #[inline]
    pub(crate) fn of_packet(&mut self, slot: Slot, serial: u32) -> Option<&mut Connection<C>> {
        let connection = self.slots[slot].as_mut();
        connection.filter(|connection| connection.id.connection == serial)
    }

    /// Whether they take more memory than a near cache holds, so that prefetching is worthwhile.
    #[inline]
    pub(crate) fn are_far(&self) -> bool {
        self.are_far
    }

    /// Prefetches a connection that will probably have something to do soon.
    pub(crate) fn prefetch(&self, slot: Slot) {
        prefetch(&self.slots[slot]);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection<C>> {
        self.slots.iter().flatten()
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

impl<C> Index<Slot> for Connections<C> {
    type Output = Connection<C>;

    #[inline]
    fn index(&self, slot: Slot) -> &Connection<C> {
        self.slots[slot].as_ref().expect(OVER)
    }
}

impl<C> IndexMut<Slot> for Connections<C> {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Connection<C> {
        self.slots[slot].as_mut().expect(OVER)
    }
}

/// What an index of no connection says.
const OVER: &str = "this connection is over";
