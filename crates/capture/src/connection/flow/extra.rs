//! The aggregation of acknowledgements.

use congestion::{Rate, Time};

/// The bytes acknowledged beyond what BtlBw allows: the aggregation of acknowledgements, as BBR measures it
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
    pub fn new(at: Time) -> Extra {
        Extra {
            since: at,
            delivered: 0,
            of_round: 0,
            sum: 0,
            rounds: 0,
        }
    }

    /// The mean over rounds of each round's maximum.
    pub fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.rounds)
    }

    /// An acknowledgement of this many bytes.
    pub fn on_ack(&mut self, at: Time, bytes: u64, btl_bw: Rate) {
        self.delivered += bytes;
        let expected = btl_bw.bytes_in(at.since(self.since)).get();
        if self.delivered <= expected {
            (self.since, self.delivered) = (at, 0);
            return;
        }
        self.of_round = self.of_round.max(self.delivered - expected);
    }

    pub fn end_round(&mut self) {
        self.sum = self.sum.saturating_add(self.of_round);
        self.rounds += 1;
        self.of_round = 0;
    }
}
