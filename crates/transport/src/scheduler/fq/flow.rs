//! A flow, the table of all flows, and the lists of turns.

use std::ops::{Index, IndexMut};

use congestion::Time;

/// The state of one flow (Linux `struct fq_flow`).
#[derive(Debug)]
pub(super) struct Flow {
    /// The bytes that it may still send at this turn; a debt, if negative.
    pub(super) credit: i64,
    /// The time since which it has been idle and on no list, if it is.
    pub(super) detached: Option<Time>,
    /// The first of its waiting bursts.
    pub(super) first: Option<u32>,
    /// The last of its waiting bursts.
    pub(super) last: Option<u32>,
    /// The number of its waiting bursts.
    pub(super) bursts: u32,
    /// The next flow in its list.
    next: Option<u32>,
}

impl Flow {
    pub(super) fn new(credit: i64, now: Time) -> Flow {
        Flow {
            credit,
            detached: Some(now),
            first: None,
            last: None,
            bursts: 0,
            next: None,
        }
    }
}

/// Flows by the numbers of their connections. These count from 0, so the table is hardly larger than necessary.
#[derive(Debug, Default)]
pub(super) struct Flows {
    slots: Vec<Option<Flow>>,
    len: usize,
}

impl Flows {
    /// Adds the flow of a connection that has none.
    pub(super) fn insert(&mut self, number: u32, flow: Flow) {
        let index = number as usize;
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
        }
        let before = self.slots[index].replace(flow);
        debug_assert!(before.is_none(), "a connection is one flow");
        self.len += 1;
    }

    pub(super) fn remove(&mut self, number: u32) {
        let place = self.slots.get_mut(number as usize);
        if place.and_then(Option::take).is_some() {
            self.len -= 1;
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&Flow> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// The number of flows.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Index<u32> for Flows {
    type Output = Flow;

    #[inline]
    fn index(&self, number: u32) -> &Flow {
        self.slots[number as usize].as_ref().expect(NO_FLOW)
    }
}

impl IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Flow {
        self.slots[number as usize].as_mut().expect(NO_FLOW)
    }
}

/// The panic message for an index without a flow.
const NO_FLOW: &str = "this connection has no flow";

/// Flows in the order of their turns, as an intrusive list.
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

    pub(super) fn push_back(&mut self, flows: &mut Flows, number: u32) {
        debug_assert!(flows[number].next.is_none());
        debug_assert!(self.last != Some(number));
        match self.last {
            Some(last) => flows[last].next = Some(number),
            None => self.first = Some(number),
        }
        self.last = Some(number);
    }

    pub(super) fn pop_front(&mut self, flows: &mut Flows) {
        self.first = self.first.and_then(|first| flows[first].next.take());
        if self.first.is_none() {
            self.last = None;
        }
    }
}
