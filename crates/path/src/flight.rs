//! Packets in flight after the bottleneck, in the order of their arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::{Duration, Time};

use crate::store::{List, SlotId, Store};

/// All packets in flight. Packets that keep their order form a line, which is cheap. Only packets that may overtake or
/// be overtaken need a heap.
#[derive(Debug, Clone)]
pub(crate) struct Flight {
    line: List,
    /// The arrival of the line's first packet.
    line_next: Option<Time>,
    /// The arrival of each stray, its turn, and its slot.
    strays: BinaryHeap<Reverse<(Time, u64, SlotId)>>,
    /// The arrival of the line's last packet, even if it has arrived already.
    line_end: Time,
    /// The number of packets so far.
    turns: u64,
}

impl Flight {
    pub(crate) fn new() -> Flight {
        Flight {
            line: List::EMPTY,
            line_next: None,
            strays: BinaryHeap::new(),
            line_end: Time::ZERO,
            turns: 0,
        }
    }

    /// Adds the packet at `place`, which was queued for `queued`, with its arrival at `at`. A stray arrives just then.
    /// Others arrive no earlier than the packets of the line before them.
    pub(crate) fn push<P>(
        &mut self,
        store: &mut Store<P>,
        place: SlotId,
        queued: Duration,
        at: Time,
        stray: bool,
    ) {
        let at = if stray { at } else { at.max(self.line_end) };
        let turn = self.turns;
        self.turns = self.turns.wrapping_add(1);
        if let Some(held) = store.get_mut(place) {
            held.at = at;
            held.turn = turn;
            held.queued = queued;
        }
        if stray {
            self.strays.push(Reverse((at, turn, place)));
        } else {
            self.line_end = at;
            self.line_next.get_or_insert(at);
            self.line.push(store, place);
        }
    }

    /// The time of the next arrival.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Time> {
        let line = self.line_next;
        match self.strays.peek() {
            None => line,
            Some(Reverse((stray, ..))) => Some(line.map_or(*stray, |at| at.min(*stray))),
        }
    }

    /// The first packet of the line.
    pub(crate) fn first<'a, P>(&self, store: &'a Store<P>) -> Option<&'a P> {
        self.line.first_packet(store)
    }

    /// Takes the next packet. It stays in the store.
    pub(crate) fn pop<P>(&mut self, store: &Store<P>) -> Option<SlotId> {
        if let Some(Reverse((at, turn, place))) = self.strays.peek().copied()
            && self
                .line
                .first(store)
                .is_none_or(|line| (at, turn) < (line.at, line.turn))
        {
            self.strays.pop();
            return Some(place);
        }
        let place = self.line.pop(store)?;
        self.line_next = self.line.first(store).map(|held| held.at);
        self.line.prefetch_second(store);
        Some(place)
    }
}
