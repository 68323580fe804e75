//! The live connections.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use prefetch::{NEAR, prefetch};

use crate::connection::Connection;
use crate::index::{Slot, Table};

/// Connections by slot, which is the number in their segments. A slot is reused once its connection is over. Packets
/// of the old connection that are still in transit are recognized by their serial number.
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

    /// Creates a connection that knows its slot.
    pub(crate) fn insert(&mut self, make: impl FnOnce(Slot) -> Connection<C>) -> Slot {
        let free = self.free.pop_front();
        let slot = free.unwrap_or_else(|| self.slots.push(None));
        self.are_far = size_of_val(&*self.slots) > NEAR;
        self.slots[slot] = Some(make(slot));
        self.live += 1;
        slot
    }

    /// Removes a connection.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Connection<C>> {
        let connection = self.slots[slot].take()?;
        self.free.push_back(slot);
        self.live -= 1;
        Some(connection)
    }

    /// The connection in a slot, if there is one.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&Connection<C>> {
        self.slots[slot].as_ref()
    }

    /// The connection of a packet, if it is still live.
    #[inline]
    pub(crate) fn of_packet(&mut self, slot: Slot, serial: u32) -> Option<&mut Connection<C>> {
        let connection = self.slots[slot].as_mut();
        connection.filter(|connection| connection.id.connection == serial)
    }

    /// Whether the connections take more memory than a near cache holds, so that prefetching is worthwhile.
    #[inline]
    pub(crate) fn are_far(&self) -> bool {
        self.are_far
    }

    /// Prefetches a connection that will probably be needed soon.
    pub(crate) fn prefetch(&self, slot: Slot) {
        prefetch(&self.slots[slot]);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection<C>> {
        self.slots.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection<C>> {
        self.slots.iter_mut().flatten()
    }

    /// The number of slots, used or free.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The number of live connections.
    pub(crate) fn live(&self) -> usize {
        self.live
    }
}

impl<C> Index<Slot> for Connections<C> {
    type Output = Connection<C>;

    #[inline]
    fn index(&self, slot: Slot) -> &Connection<C> {
        self.slots[slot].as_ref().expect(NO_CONNECTION)
    }
}

impl<C> IndexMut<Slot> for Connections<C> {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Connection<C> {
        self.slots[slot].as_mut().expect(NO_CONNECTION)
    }
}

/// The panic message for an empty slot.
const NO_CONNECTION: &str = "this connection is over";
