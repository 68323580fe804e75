//! The connections that there are.

use std::collections::VecDeque;

use crate::connection::{Connection, End};
use crate::prefetch::prefetch;

/// What the second-level cache of a processor holds, more or less.
const NEAR: usize = 1 << 20;

/// Connections by the number that their segments carry, their slot. A slot is used again once its connection is gone;
/// packets of the old one that are still on their way are told by their serial number.
#[derive(Debug)]
pub(crate) struct Connections<C> {
    slots: Vec<Option<Connection<C>>>,
    free: VecDeque<u32>,
    live: usize,
}

impl<C> Connections<C> {
    pub(crate) fn new() -> Connections<C> {
        Connections {
            slots: Vec::new(),
            free: VecDeque::new(),
            live: 0,
        }
    }

    /// Makes a connection that knows its slot.
    pub(crate) fn insert(&mut self, make: impl FnOnce(u32) -> Connection<C>) -> u32 {
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(make(slot));
            self.live += 1;
        }
        slot
    }

    /// Takes a connection away.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<Connection<C>> {
        let connection = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push_back(slot);
        self.live -= 1;
        Some(connection)
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Connection<C>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection<C>> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Whether they take more memory than is near, so that it is worth asking for it ahead of time.
    pub(crate) fn are_far(&self) -> bool {
        self.slots.len() * size_of::<Connection<C>>() > NEAR
    }

    /// Has what an event at this end of a connection needs fetched from memory.
    pub(crate) fn prefetch(&self, slot: u32, end: End) {
        let Some(slot) = self.slots.get(slot as usize) else {
            return;
        };
        match end {
            End::Sending => prefetch(slot, Connection::<C>::SENDER),
            End::Receiving => prefetch(slot, Connection::<C>::RECEIVER),
        }
        // What both ends need is behind them.
        prefetch(slot, Connection::<C>::REST);
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
