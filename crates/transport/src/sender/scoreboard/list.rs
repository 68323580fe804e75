//! A doubly linked list through the packets: insertion and removal take constant time.

use super::packet::{Number, Ring};

#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The first, or [`NO_PACKET`].
    front: Number,
    /// The last, if there is a first.
    last: Number,
}

/// The value that is no packet's number.
const NO_PACKET: Number = Number::MAX;

impl Default for List {
    fn default() -> List {
        List {
            front: NO_PACKET,
            last: NO_PACKET,
        }
    }
}

impl List {
    pub fn front(&self) -> Option<Number> {
        (self.front != NO_PACKET).then_some(self.front)
    }

    fn last(&self) -> Option<Number> {
        (self.front != NO_PACKET).then_some(self.last)
    }

    pub fn push_back(&mut self, ring: &mut Ring, number: Number) {
        let last = self.last();
        ring.link(number, last, None);
        match last {
            Some(last) => ring.set_next(last, Some(number)),
            None => self.front = number,
        }
        self.last = number;
    }

    pub fn push_front(&mut self, ring: &mut Ring, number: Number) {
        let Some(front) = self.front() else {
            return self.push_back(ring, number);
        };
        ring.link(number, None, Some(front));
        ring.set_previous(front, Some(number));
        self.front = number;
    }

    /// Removes `number`, which must be in this list.
    pub fn remove(&mut self, ring: &mut Ring, number: Number) {
        let (previous, next) = ring.unlink(number);
        match previous {
            Some(previous) => ring.set_next(previous, next),
            None => {
                debug_assert_eq!(self.front, number);
                self.front = next.unwrap_or(NO_PACKET);
            }
        }
        match next {
            Some(next) => ring.set_previous(next, previous),
            None => self.last = previous.unwrap_or(NO_PACKET),
        }
    }
}
