//! Packets on their way after the bottleneck, in the order of their arrival.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use units::{Bytes, Duration, Time};

use crate::counters::Count;
use crate::parcel::Ecn;

/// A packet on its way.
#[derive(Debug, Clone)]
pub(crate) struct Flying<P> {
    /// When it arrives.
    pub(crate) at: Time,
    /// Among packets that arrive at once, the one that left first is first.
    seq: u64,
    /// How long it waited for the bottleneck.
    pub(crate) queued: Duration,
    pub(crate) size: Bytes,
    pub(crate) ecn: Ecn,
    pub(crate) packet: P,
}

impl<P> Flying<P> {
    fn key(&self) -> (Time, u64) {
        (self.at, self.seq)
    }
}

impl<P> PartialEq for Flying<P> {
    fn eq(&self, other: &Flying<P>) -> bool {
        self.key() == other.key()
    }
}

impl<P> Eq for Flying<P> {}

impl<P> PartialOrd for Flying<P> {
    fn partial_cmp(&self, other: &Flying<P>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Flying<P> {
    fn cmp(&self, other: &Flying<P>) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// All packets on their way. Those that keep their order stand in a line, which is cheap; only those that may overtake
/// or be overtaken need a heap.
#[derive(Debug, Clone)]
pub(crate) struct Flight<P> {
    line: VecDeque<Flying<P>>,
    strays: BinaryHeap<Reverse<Flying<P>>>,
    /// When the last packet of the line arrives, be it there yet or not.
    line_end: Time,
    seq: u64,
    count: Count,
}

impl<P> Flight<P> {
    pub(crate) fn new() -> Flight<P> {
        Flight {
            line: VecDeque::new(),
            strays: BinaryHeap::new(),
            line_end: Time::ZERO,
            seq: 0,
            count: Count::default(),
        }
    }

    /// A packet sets out to arrive at `at`; a stray does just that, others arrive no earlier than those of the line
    /// before them.
    pub(crate) fn push(
        &mut self,
        at: Time,
        stray: bool,
        queued: Duration,
        size: Bytes,
        ecn: Ecn,
        packet: P,
    ) {
        let at = if stray { at } else { at.max(self.line_end) };
        let flying = Flying {
            at,
            seq: self.seq,
            queued,
            size,
            ecn,
            packet,
        };
        self.seq = self.seq.wrapping_add(1);
        self.count.add(size);
        if stray {
            self.strays.push(Reverse(flying));
        } else {
            self.line_end = at;
            self.line.push_back(flying);
        }
    }

    /// When the next packet arrives.
    pub(crate) fn next_at(&self) -> Option<Time> {
        let line = self.line.front().map(|flying| flying.at);
        match self.strays.peek() {
            None => line,
            Some(Reverse(stray)) => Some(line.map_or(stray.at, |at| at.min(stray.at))),
        }
    }

    /// How many packets are on their way.
    pub(crate) fn count(&self) -> Count {
        self.count
    }

    /// Takes the next packet out.
    pub(crate) fn pop(&mut self) -> Option<Flying<P>> {
        let stray_first = match (self.line.front(), self.strays.peek()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(line), Some(Reverse(stray))) => stray < line,
        };
        let flying = if stray_first {
            self.strays.pop().map(|Reverse(stray)| stray)
        } else {
            self.line.pop_front()
        }?;
        self.count.sub(flying.size);
        Some(flying)
    }
}
