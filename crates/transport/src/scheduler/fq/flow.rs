//! A flow, the table of all flows, and the lists of those that take turns.

use std::ops::{Index, IndexMut};

use congestion::Time;

/// What is kept of one flow (Linux `struct fq_flow`).
#[derive(Debug)]
pub(super) struct Flow {
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

/// Flows by the numbers of their connections. These count from 0 on, so that the table is not much larger than need be.
#[derive(Debug, Default)]
pub(super) struct Flows {
    places: Vec<Option<Flow>>,
    len: usize,
}

impl Flows {
    /// Adds the flow of a connection that has none.
    pub(super) fn insert(&mut self, number: u32, flow: Flow) {
        let index = number as usize;
        if index >= self.places.len() {
            self.places.resize_with(index + 1, || None);
        }
        let before = self.places[index].replace(flow);
        debug_assert!(before.is_none(), "a connection is one flow");
        self.len += 1;
    }

    pub(super) fn remove(&mut self, number: u32) {
        let place = self.places.get_mut(number as usize);
        if place.and_then(Option::take).is_some() {
            self.len -= 1;
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&Flow> {
        self.places.get(number as usize)?.as_ref()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Index<u32> for Flows {
    type Output = Flow;

    #[inline]
    fn index(&self, number: u32) -> &Flow {
        self.places[number as usize].as_ref().expect(UNKNOWN)
    }
}

impl IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Flow {
        self.places[number as usize].as_mut().expect(UNKNOWN)
    }
}

/// What an index of no flow says.
const UNKNOWN: &str = "this connection has no flow";

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
