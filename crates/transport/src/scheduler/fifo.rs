//! One queue for all connections (Linux `pfifo`).

use std::collections::VecDeque;

use congestion::{Bytes, Time};

use super::{Counters, MAX_BURSTS};
use crate::burst::Burst;

/// First in, first out. A burst whose departure is still to come delays those behind it, so departures should be due
/// when bursts are made, as with [`super::Pacing::None`] and [`super::Pacing::PerConnection`].
#[derive(Debug, Default)]
pub struct Fifo {
    bursts: VecDeque<Burst>,
    queued: Bytes,
    counters: Counters,
}

impl Fifo {
    /// Adds `burst`.
    ///
    /// # Errors
    ///
    /// Returns it if [`MAX_BURSTS`] bursts wait.
    pub fn enqueue(&mut self, burst: Burst) -> Result<(), Burst> {
        if self.bursts.len() >= MAX_BURSTS {
            self.counters.dropped += 1;
            return Err(burst);
        }
        self.queued += burst.wire_size();
        self.counters.enqueued += 1;
        self.bursts.push_back(burst);
        Ok(())
    }

    /// Removes the oldest burst, if its departure is due.
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

    /// Bytes that wait, including headers.
    pub fn queued(&self) -> Bytes {
        self.queued
    }

    /// The counters; nothing is throttled.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::burst::Kind;

    fn burst(seq: u64, departure: u64) -> Burst {
        Burst {
            connection: 0,
            kind: Kind::Data,
            seq,
            bytes: 1_448,
            mss: 1_448,
            departure: Time::from_nanos(departure),
            echo: Time::ZERO,
            is_retransmission: false,
            cwr: false,
            ends_write: false,
            ack_request: None,
        }
    }

    #[test]
    fn the_oldest_goes_first_and_not_before_its_time() {
        let mut fifo = Fifo::default();
        for (seq, departure) in [(0, 5), (1, 3)] {
            assert_eq!(fifo.enqueue(burst(seq, departure)), Ok(()));
        }
        assert_eq!(fifo.queued(), Bytes::new(3_000));
        assert_eq!(fifo.dequeue(Time::from_nanos(4)), None);
        assert_eq!(fifo.next_departure(), Some(Time::from_nanos(5)));
        let five = Time::from_nanos(5);
        assert_eq!(fifo.dequeue(five), Some(burst(0, 5)));
        assert_eq!(fifo.dequeue(five), Some(burst(1, 3)));
        assert_eq!(fifo.next_departure(), None);
        assert_eq!(fifo.queued(), Bytes::ZERO);
    }

    #[test]
    fn there_is_a_limit() {
        let mut fifo = Fifo::default();
        for seq in 0..MAX_BURSTS as u64 {
            assert_eq!(fifo.enqueue(burst(seq, 0)), Ok(()));
        }
        assert_eq!(fifo.enqueue(burst(7, 0)), Err(burst(7, 0)));
        assert_eq!(fifo.counters().dropped, 1);
        assert!(fifo.dequeue(Time::ZERO).is_some());
        assert_eq!(fifo.enqueue(burst(7, 0)), Ok(()));
    }
}
