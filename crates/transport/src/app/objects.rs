//! The objects in one connection's stream, from their request to their last byte.

use std::collections::VecDeque;

use units::{Bytes, Duration, Time};

/// The most objects that are pending in one connection. Further ones are refused and counted, so that a load above
/// the path's capacity does not take unbounded memory.
const MAX_OBJECTS: usize = 1 << 16;

/// A completed object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Its number within its application, from 0.
    pub id: u64,
    /// Its size.
    pub size: Bytes,
    /// The time of its request, or of its arrival at the sender.
    pub start: Time,
    /// The time at which its last byte was delivered in order.
    pub end: Time,
}

impl Transfer {
    /// The flow completion time.
    pub const fn took(&self) -> Duration {
        self.end.since(self.start)
    }
}

/// Consecutive objects in a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    first_id: u64,
    /// The first pending object. It is stored inline, because most connections have only one.
    first: Option<Object>,
    /// The pending objects behind it.
    others: VecDeque<Object>,
    /// The end position of the last object.
    end: u64,
    /// Bytes of objects that the sender has and has not written yet.
    waiting: Bytes,
    started: u64,
    completed: u64,
    refused: u64,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    id: u64,
    size: Bytes,
    start: Time,
    end: u64,
}

impl Objects {
    /// Creates the only object of a connection that was opened for it.
    pub(super) fn single(id: u64, size: Bytes, start: Time) -> Objects {
        let mut objects = Objects {
            first_id: id,
            ..Objects::default()
        };
        objects.send(size, start);
        objects
    }

    /// Adds an object at the sender, or refuses it if too many are pending.
    pub(super) fn send(&mut self, size: Bytes, start: Time) {
        if self.announce(size, start) {
            self.release(size);
        }
    }

    /// Announces an object of this size behind all others. Returns whether it was accepted.
    pub(super) fn announce(&mut self, size: Bytes, start: Time) -> bool {
        let end = self.end.checked_add(size.get());
        let Some(end) = end.filter(|_| self.others.len() + 1 < MAX_OBJECTS) else {
            self.refused += 1;
            return false;
        };
        let object = Object {
            id: self.first_id.saturating_add(self.started),
            size,
            start,
            end,
        };
        if self.first.is_none() {
            self.first = Some(object);
        } else {
            self.others.push_back(object);
        }
        self.end = end;
        self.started += 1;
        true
    }

    /// Notes that the sender has the bytes of an announced object.
    pub(super) fn release(&mut self, size: Bytes) {
        self.waiting += size;
    }

    /// Bytes that the sender wants to write.
    pub(super) const fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// Notes that `bytes` of them were written.
    pub(super) fn on_written(&mut self, bytes: Bytes) {
        debug_assert!(bytes <= self.waiting);
        self.waiting -= bytes;
    }

    /// Completes the next object whose last byte is among the first `received` bytes of the stream.
    pub(super) fn complete(&mut self, now: Time, received: u64) -> Option<Transfer> {
        let object = self.first.take_if(|first| first.end <= received)?;
        self.first = self.others.pop_front();
        self.completed += 1;
        Some(Transfer {
            id: object.id,
            size: object.size,
            start: object.start,
            end: now,
        })
    }

    /// The size and start of each pending object.
    pub(super) fn under_way(&self) -> impl Iterator<Item = (Bytes, Time)> {
        self.first
            .iter()
            .chain(&self.others)
            .map(|object| (object.size, object.start))
    }

    /// The numbers of accepted, completed and refused objects.
    pub(super) const fn counts(&self) -> (u64, u64, u64) {
        (self.started, self.completed, self.refused)
    }

    /// Whether every accepted object has been written.
    pub(super) const fn is_written(&self) -> bool {
        self.waiting.is_zero()
    }
}
