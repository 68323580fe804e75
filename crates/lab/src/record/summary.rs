//! A run in numbers: the same fields for every engine, null where an engine cannot see one.

use serde::{Serialize, Serializer};

/// A run in numbers, over everything after the warmup.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The engine that ran it: `quic`.
    pub engine: String,
    /// The scenario's seed.
    pub seed: u64,
    /// How long the run was, in the scenario's time.
    #[serde(serialize_with = "millionths")]
    pub duration_s: f64,
    /// How long it took, in the time of the person who waited for it.
    #[serde(serialize_with = "millionths")]
    pub wall_s: f64,
    /// The bottleneck.
    pub path: PathSummary,
    /// The flows, in the order of the scenario's groups.
    pub flows: Vec<FlowSummary>,
    /// How evenly the flows shared the path.
    pub fairness: Fairness,
}

/// The bottleneck in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathSummary {
    /// The bottleneck's rate at the start, in bits per second; null if it has none, or a trace.
    pub rate_bps: Option<u64>,
    /// The two-way propagation delay at the start.
    #[serde(serialize_with = "millionths")]
    pub rtprop_ms: f64,
    /// The buffer's size; null if it is unlimited.
    pub buffer_bytes: Option<u64>,
    /// The goodput that the path allows all flows together: rate × (1 − loss) × payload share of a packet. The rate is
    /// the mean over the run if it changes, and a policer's, its burst included, if that is less. Null if the path has
    /// neither. What a race's "share of the limit" is a share of.
    pub limit_bps: Option<u64>,
    /// What the bottleneck transmitted, as a share of what it could have.
    #[serde(serialize_with = "optional_millionths")]
    pub utilization: Option<f64>,
    /// How long the queue was, as the time that the bottleneck needs for it.
    pub queue_ms: QueueMillis,
    /// Packets dropped at the bottleneck, by its buffer or a policer.
    pub drops: Option<u64>,
    /// Data packets lost at random.
    pub random_losses: Option<u64>,
}

/// A queue over time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct QueueMillis {
    /// Mean over time.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
    /// What it did not exceed for 95 % of the time.
    #[serde(serialize_with = "optional_millionths")]
    pub p95: Option<f64>,
    /// Its longest.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

/// Round-trip times over all ACKs that measured one, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RttMillis {
    /// Smallest.
    #[serde(serialize_with = "optional_millionths")]
    pub min: Option<f64>,
    /// Median.
    #[serde(serialize_with = "optional_millionths")]
    pub p50: Option<f64>,
    /// Mean.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
    /// 95th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p95: Option<f64>,
    /// Largest.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

/// One flow in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Its place among the scenario's flows, from zero.
    pub id: usize,
    /// Its controller's name.
    pub controller: String,
    /// When it started.
    #[serde(serialize_with = "millionths")]
    pub start_s: f64,
    /// When the last byte of its transfer had arrived; null if it has no end or did not reach it.
    #[serde(serialize_with = "optional_millionths")]
    pub completed_s: Option<f64>,
    /// Payload delivered, once, per second of the flow's life: from its start, handshake included, to its completion
    /// or the end of the run.
    pub goodput_bps: u64,
    /// Its round-trip times.
    pub rtt_ms: RttMillis,
    /// Bytes sent, headers and repeats included.
    pub sent_bytes: u64,
    /// Payload bytes that arrived, each counted once.
    pub delivered_bytes: u64,
    /// Bytes sent again because they were declared lost.
    pub retransmitted_bytes: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Retransmission timeouts (TCP), or times of persistent congestion (QUIC).
    pub timeouts: u64,
}

impl FlowSummary {
    /// The share of the sent bytes that were sent again.
    pub fn retransmitted_share(&self) -> f64 {
        match self.sent_bytes {
            0 => 0.0,
            sent => self.retransmitted_bytes as f64 / sent as f64,
        }
    }
}

/// How evenly flows shared a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fairness {
    /// Jain's index of the goodputs.
    #[serde(serialize_with = "optional_millionths")]
    pub jain: Option<f64>,
}

/// Jain's index of fairness, (Σx)² / (n Σx²): 1 if all have the same, 1/n if one has everything; nothing if nobody has
/// anything (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource
/// Allocation in Shared Computer Systems", 1984).
pub fn jain_index(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

/// Six decimals: a nanosecond of a millisecond, and enough of a second.
fn millionths<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((value * 1e6).round() / 1e6)
}

fn optional_millionths<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => millionths(value, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain() {
        assert_eq!(jain_index([5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index([7.0, 0.0]), Some(0.5));
        assert_eq!(jain_index([0.0, 0.0]), None);
        assert_eq!(jain_index([]), None);
    }
}
