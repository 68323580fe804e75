//! Flows that wait for their departure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use congestion::Time;

/// Delayed flows, by the departure of their first burst; flows with the same departure by connection.
#[derive(Debug, Default)]
pub(super) struct Delayed(BinaryHeap<Reverse<Entry>>);

/// Departure and connection in one number: comparing them separately would be most of a heap's cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn departure(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }

    fn connection(self) -> u32 {
        self.0 as u32
    }
}

impl Delayed {
    /// Delays the flow of `connection` until `departure`.
    pub(super) fn push(&mut self, departure: Time, connection: u32) {
        let departure = u128::from(departure.as_nanos()) << 64;
        let entry = Entry(departure | u128::from(connection));
        self.0.push(Reverse(entry));
    }

    /// The first departure.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.peek().map(|Reverse(entry)| entry.departure())
    }

    /// Removes the first flow, if its departure is due, and returns its connection.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<u32> {
        let Reverse(first) = self.0.peek()?;
        if first.departure() > now {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry.connection())
    }
}
