//! A doubly linked list through the packets themselves: joining and leaving cost the same wherever the packet is.

use super::packet::{Number, Ring};

#[derive(Debug, Clone, Copy, Default)]
pub struct List {
    /// The first and the last.
    ends: Option<(Number, Number)>,
}

impl List {
    pub fn front(&self) -> Option<Number> {
        self.ends.map(|(front, _)| front)
    }

    pub fn push_back(&mut self, ring: &mut Ring, number: Number) {
        let last = self.ends.map(|(_, last)| last);
        ring.link(number, last, None);
        if let Some(last) = last {
            ring.set_next(last, Some(number));
        }
        self.ends = Some((self.front().unwrap_or(number), number));
    }

    pub fn push_front(&mut self, ring: &mut Ring, number: Number) {
        let Some((front, last)) = self.ends else {
            return self.push_back(ring, number);
        };
        ring.link(number, None, Some(front));
        ring.set_previous(front, Some(number));
        self.ends = Some((number, last));
    }

    /// Takes `number`, which must be in this list, out.
    pub fn remove(&mut self, ring: &mut Ring, number: Number) {
        let (previous, next) = ring.unlink(number);
        match previous {
            Some(previous) => ring.set_next(previous, next),
            None => debug_assert_eq!(self.front(), Some(number)),
        }
        if let Some(next) = next {
            ring.set_previous(next, previous);
        }
        self.ends = self.ends.and_then(|(front, last)| {
            let front = if previous.is_none() { next? } else { front };
            let last = if next.is_none() { previous? } else { last };
            Some((front, last))
        });
    }
}
