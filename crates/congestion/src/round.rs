//! Packet-timed round trips (BBR draft, "BBR.round_count: Tracking Packet-Timed Round Trips"): a round ends when a packet
//! is acknowledged that was sent after the round began. Unlike time, rounds need no estimate of the RTT, and stretch with
//! the queue.

use units::Bytes;

use crate::sampling::RateSample;

/// Counts rounds.
#[derive(Debug, Clone)]
pub struct Round {
    count: u64,
    /// The delivered bytes at the end: a packet sent at or after this total belongs to the next round.
    end: Bytes,
    has_just_started: bool,
}

impl Round {
    pub fn new() -> Round {
        Round {
            count: 0,
            end: Bytes::ZERO,
            has_just_started: false,
        }
    }

    /// Checks whether this ACK, which has a trustworthy sample, starts a round.
    pub fn update(&mut self, rate: &RateSample) {
        self.has_just_started = rate.prior_delivered >= self.end;
        if self.has_just_started {
            self.count = self.count.saturating_add(1);
            self.end = rate.total_delivered;
        }
    }

    /// Notes an ACK without a trustworthy sample, which starts no round.
    pub fn skip(&mut self) {
        self.has_just_started = false;
    }

    /// Ends the round only with packets sent from now on.
    pub fn restart(&mut self, delivered: Bytes) {
        self.end = delivered;
    }

    /// Whether the ACK in progress started a round.
    pub fn has_just_started(&self) -> bool {
        self.has_just_started
    }

    /// Rounds so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(prior: u64, total: u64) -> RateSample {
        RateSample {
            prior_delivered: Bytes::new(prior),
            total_delivered: Bytes::new(total),
            ..RateSample::default()
        }
    }

    #[test]
    fn a_round_is_as_long_as_a_packets_way_there_and_back() {
        let mut round = Round::new();
        round.update(&rate(0, 1));
        assert!(round.has_just_started());
        round.update(&rate(0, 2));
        assert!(!round.has_just_started(), "sent before the round began");
        round.update(&rate(1, 3));
        assert!(round.has_just_started());
        assert_eq!(round.count(), 2);
        round.update(&rate(2, 4));
        assert!(!round.has_just_started());
        round.update(&rate(3, 5));
        assert_eq!(round.count(), 3);
    }

    #[test]
    fn a_restart_puts_the_end_off() {
        let mut round = Round::new();
        round.update(&rate(0, 1));
        round.restart(Bytes::new(10));
        round.update(&rate(9, 11));
        assert_eq!(round.count(), 1);
        round.update(&rate(10, 12));
        assert_eq!(round.count(), 2);
    }
}
