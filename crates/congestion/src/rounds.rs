//! Packet-timed round trips (BBR draft, "Packet-Timed Round Trips"; RFC 9406 has its own, alike).

use units::Bytes;

use crate::sampling::RateSample;

/// Counts packet-timed round trips: one is over when a packet is acknowledged that was sent after its start.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundCounter {
    count: u64,
    /// What had been delivered when the current round started.
    start: Bytes,
}

impl RoundCounter {
    /// Learns what an ACK delivered. True if with it a round trip starts.
    pub fn on_ack(&mut self, rate: &RateSample) -> bool {
        let is_round_start = rate.prior_delivered >= self.start;
        if is_round_start {
            self.start = rate.total_delivered;
            self.count = self.count.saturating_add(1);
        }
        is_round_start
    }

    /// Round trips started so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}
