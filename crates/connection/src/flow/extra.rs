//! The aggregation of acknowledgements.

use congestion::aggregation::Episode;
use congestion::{Bytes, Rate, Time};

/// The bytes acknowledged beyond what BtlBw allows: the aggregation of acknowledgements, as BBR measures it
/// (draft-ietf-ccwg-bbr, "BBR.extra_acked").
#[derive(Debug, Clone)]
pub struct Extra {
    episode: Episode,
    of_round: u64,
    sum: u64,
    rounds: u64,
}

impl Extra {
    pub fn new(at: Time) -> Extra {
        Extra {
            episode: Episode::new(at),
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
        let expected = |span| btl_bw.bytes_in(span);
        let extra = self.episode.on_ack(at, Bytes::new(bytes), expected);
        self.of_round = self.of_round.max(extra.get());
    }

    pub fn end_round(&mut self) {
        self.sum = self.sum.saturating_add(self.of_round);
        self.rounds += 1;
        self.of_round = 0;
    }
}
