//! One queue for all connections (Linux `pfifo`).

use std::collections::VecDeque;

use congestion::{Bytes, Time};

use super::{Counters, LIMIT};
use crate::burst::Burst;

/// First in, first out. A burst whose departure is still to come holds up those behind it, so departures should have
/// come when bursts are made: that is what [`super::Pacing::None`] and [`super::Pacing::PerConnection`] do.
#[derive(Debug, Default)]
pub struct Fifo {
    bursts: VecDeque<Burst>,
    queued: Bytes,
    counters: Counters,
}

impl Fifo {
    /// Takes `burst` in.
    ///
    /// # Errors
    ///
    /// Gives it back if [`LIMIT`] bursts wait.
    pub fn enqueue(&mut self, burst: Burst) -> Result<(), Burst> {
        if self.bursts.len() >= LIMIT {
            self.counters.dropped += 1;
            return Err(burst);
        }
        self.queued += burst.wire_size();
        self.counters.enqueued += 1;
        self.bursts.push_back(burst);
        Ok(())
    }

    /// The oldest burst, if its departure has come.
    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        let burst = self.bursts.pop_front_if(|burst| burst.departure <= now)?;
        self.queued -= burst.wire_size();
        self.counters.dequeued += 1;
        Some(burst)
    }

    /// The departure of the oldest burst.
    pub fn next_departure(&self) -> Option<Time> {
        self.bursts.front().map(|burst| burst.departure)
    }

    /// Bytes that wait, headers included.
    pub fn queued(&self) -> Bytes {
        self.queued
    }

    /// What it has done; nothing is throttled.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
