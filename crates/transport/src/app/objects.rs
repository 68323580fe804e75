//! The objects in one connection's stream, from their request to their last byte.

use std::collections::VecDeque;

use units::{Bytes, Duration, Time};

/// The most objects that wait or are under way in one connection; those that come on top are refused and counted, so
/// that a load above the path's capacity does not take memory without end.
const MAX_OBJECTS: usize = 1 << 16;

/// An object that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Its number within its application, from 0 on.
    pub id: u64,
    /// Its size.
    pub size: Bytes,
    /// When it was asked for, or came to be at the sender.
    pub start: Time,
    /// When its last byte was delivered in order.
    pub end: Time,
}

impl Transfer {
    /// The flow completion time.
    pub const fn took(&self) -> Duration {
        self.end.since(self.start)
    }
}

/// Objects one behind the other in a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    first_id: u64,
    /// The first that is under way: of most connections the only one, so that it is kept with them.
    first: Option<Object>,
    /// Those behind it.
    others: VecDeque<Object>,
    /// The stream position behind the last of them.
    end: u64,
    /// Bytes of objects that the sender has and could not write yet.
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
    /// The one object of a connection that was opened for it.
    pub(super) fn single(id: u64, size: Bytes, start: Time) -> Objects {
        let mut objects = Objects {
            first_id: id,
            ..Objects::default()
        };
        objects.send(size, start);
        objects
    }

    /// An object has come to be at the sender; it is refused if too many are under way.
    pub(super) fn send(&mut self, size: Bytes, start: Time) {
        if self.announce(size, start) {
            self.release(size);
        }
    }

    /// An object of this size will be sent behind all others. Returns whether it was accepted.
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

    /// The sender has an announced object's bytes.
    pub(super) fn release(&mut self, size: Bytes) {
        self.waiting += size;
    }

    /// Bytes that the sender wants to write.
    pub(super) const fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// So many of them were taken.
    pub(super) fn on_written(&mut self, bytes: Bytes) {
        debug_assert!(bytes <= self.waiting);
        self.waiting -= bytes;
    }

    /// The next object whose last byte is among the first `received` bytes of the stream, now delivered.
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

    /// Size and start of each object that is accepted and not complete.
    pub(super) fn under_way(&self) -> impl Iterator<Item = (Bytes, Time)> {
        self.first
            .iter()
            .chain(&self.others)
            .map(|object| (object.size, object.start))
    }

    /// Objects accepted, completed, refused.
    pub(super) const fn counts(&self) -> (u64, u64, u64) {
        (self.started, self.completed, self.refused)
    }

    /// Whether every accepted object has been written.
    pub(super) const fn is_written(&self) -> bool {
        self.waiting.is_zero()
    }
}
