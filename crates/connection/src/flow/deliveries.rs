//! The delivery of a flow's data: its rate, and the aggregation of acknowledgements.

use congestion::aggregation::Episode;
use congestion::sampling::Sampler;
use congestion::{Bytes, Duration, Rate, RateSample, Time};

/// The deliveries of one direction.
#[derive(Debug, Clone)]
pub struct Deliveries {
    pub sampler: Sampler,
    /// Delivery rates are unknown until an acknowledgement of data that were sent after so much had been delivered.
    unrated: Bytes,
    aggregation: Aggregation,
}

impl Deliveries {
    /// The connection was established at `at`.
    pub fn new(at: Time) -> Deliveries {
        Deliveries {
            sampler: Sampler::new(at),
            unrated: Bytes::ZERO,
            aggregation: Aggregation::new(at),
        }
    }

    /// The rate sample of an acknowledgement. `least` is the least round trip. If it `is_late`, some data arrived earlier than
    /// it tells. Also returns whether it is known when the data arrived; if not, the sample has no rate.
    #[inline]
    pub fn sample(&mut self, at: Time, least: Duration, is_late: bool) -> (RateSample, bool) {
        let mut sample = self.sampler.sample(at, least);
        if is_late {
            self.unrated = sample.total_delivered;
        }
        let is_known = sample.prior_delivered >= self.unrated;
        if !is_known {
            sample.delivery_rate = None;
        }
        (sample, is_known)
    }

    /// An acknowledgement of this many bytes.
    #[inline]
    pub fn on_ack(&mut self, at: Time, bytes: u64, btl_bw: Rate) {
        self.aggregation.on_ack(at, bytes, btl_bw);
    }

    /// A round ends, in which the pipe was full.
    pub fn end_round(&mut self) {
        self.aggregation.end_round();
    }

    /// The mean over rounds of the most bytes acknowledged beyond BtlBw.
    pub fn aggregation(&self) -> Option<u64> {
        self.aggregation.mean()
    }
}

/// The bytes acknowledged beyond what BtlBw allows: the aggregation of acknowledgements, as BBR measures it
/// (draft-ietf-ccwg-bbr, "BBR.extra_acked").
#[derive(Debug, Clone)]
struct Aggregation {
    episode: Episode,
    of_round: u64,
    sum: u64,
    rounds: u64,
}

impl Aggregation {
    fn new(at: Time) -> Aggregation {
        Aggregation {
            episode: Episode::new(at),
            of_round: 0,
            sum: 0,
            rounds: 0,
        }
    }

    /// The mean over rounds of each round's maximum.
    fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.rounds)
    }

    fn on_ack(&mut self, at: Time, bytes: u64, btl_bw: Rate) {
        let expected = |span| btl_bw.bytes_in(span);
        let extra = self.episode.on_ack(at, Bytes::new(bytes), expected);
        self.of_round = self.of_round.max(extra.get());
    }

    fn end_round(&mut self) {
        self.sum = self.sum.saturating_add(self.of_round);
        self.rounds += 1;
        self.of_round = 0;
    }
}
