//! The aggregation of acknowledgements.

use congestion::{Rate, Time};

/// How much more than BtlBw allows was acknowledged at once: the aggregation of acknowledgements, as BBR measures it
/// (draft-ietf-ccwg-bbr, "BBR.extra_acked").
#[derive(Debug, Clone, Copy)]
pub struct Extra {
    since: Time,
    delivered: u64,
    of_round: u64,
    sum: u64,
    rounds: u64,
}

impl Extra {
    /// Nothing yet.
    pub fn new(at: Time) -> Extra {
        Extra {
            since: at,
            delivered: 0,
            of_round: 0,
            sum: 0,
            rounds: 0,
        }
    }

    /// The mean over rounds of the most in each.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.rounds)
    }

    /// So many bytes are acknowledged.
    pub fn on_ack(&mut self, at: Time, bytes: u64, btl_bw: Rate) {
        self.delivered += bytes;
        let expected = btl_bw.bytes_in(at.since(self.since)).get();
        if self.delivered <= expected {
            (self.since, self.delivered) = (at, 0);
            return;
        }
        self.of_round = self.of_round.max(self.delivered - expected);
    }

    /// A round has ended.
    pub fn end_round(&mut self) {
        self.sum = self.sum.saturating_add(self.of_round);
        self.rounds += 1;
        self.of_round = 0;
    }
}
