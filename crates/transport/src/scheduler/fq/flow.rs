//! A flow, the table of all flows, and the lists of those that take turns.

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
        if let Some(place) = self.places.get_mut(index) {
            debug_assert!(place.is_none(), "a connection is one flow");
            *place = Some(flow);
            self.len += 1;
        }
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

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Flow> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
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

    pub(super) fn push_back(&mut self, flows: &mut Flows, number: u32) {
        debug_assert!(flows.get(number).is_none_or(|flow| flow.next.is_none()));
        debug_assert!(self.last != Some(number));
        match self.last.and_then(|last| flows.get_mut(last)) {
            Some(last) => last.next = Some(number),
            None => self.first = Some(number),
        }
        self.last = Some(number);
    }

    pub(super) fn pop_front(&mut self, flows: &mut Flows) {
        self.first = self
            .first
            .and_then(|first| flows.get_mut(first))
            .and_then(|first| first.next.take());
        if self.first.is_none() {
            self.last = None;
        }
    }
}
