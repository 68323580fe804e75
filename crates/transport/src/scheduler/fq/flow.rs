//! A flow, and the lists of flows that take turns.

use congestion::Time;

use super::pool::Pool;

/// What is kept of one flow (Linux `struct fq_flow`).
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) connection: u32,
    /// Bytes that it may still send at this turn; its debt, if negative.
    pub(super) credit: i64,
    /// Since when it has had nothing to send and been on no list, if that is so.
    pub(super) detached: Option<Time>,
    /// The first of its bursts that wait.
    pub(super) first: Option<u32>,
    /// The last of them.
    pub(super) last: Option<u32>,
    /// How many wait.
    pub(super) bursts: u32,
    /// The flow behind it in its list.
    next: Option<u32>,
}

impl Flow {
    pub(super) fn new(connection: u32, credit: i64, now: Time) -> Flow {
        Flow {
            connection,
            credit,
            detached: Some(now),
            first: None,
            last: None,
            bursts: 0,
            next: None,
        }
    }
}

/// Flows in the order of their turns, linked through themselves.
#[derive(Debug, Default)]
pub(super) struct List {
    first: Option<u32>,
    last: Option<u32>,
}

impl List {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.first
    }

    pub(super) fn push_back(&mut self, flows: &mut Pool<Flow>, slot: u32) {
        debug_assert!(flows.get(slot).is_none_or(|flow| flow.next.is_none()));
        debug_assert!(self.last != Some(slot));
        match self.last.and_then(|last| flows.get_mut(last)) {
            Some(last) => last.next = Some(slot),
            None => self.first = Some(slot),
        }
        self.last = Some(slot);
    }

    pub(super) fn pop_front(&mut self, flows: &mut Pool<Flow>) {
        self.first = self
            .first
            .and_then(|first| flows.get_mut(first))
            .and_then(|first| first.next.take());
        if self.first.is_none() {
            self.last = None;
        }
    }
}
