//! A run in numbers: the same fields for every engine, null where an engine cannot see one.

use serde::{Deserialize, Serialize, Serializer};

use super::fairness::Fairness;
use super::host::HostSummary;
use super::together::{OfController, Together};
use super::transfer::Completions;

/// A run in numbers, over everything after the warmup.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The engine that ran it: `sim`, `quic`, `linux`.
    pub engine: String,
    /// The scenario's seed.
    pub seed: u64,
    /// How long the run was, in the scenario's time.
    #[serde(serialize_with = "millionths")]
    pub duration_s: f64,
    /// How long it took, in the time of the person who waited for it.
    #[serde(serialize_with = "millionths")]
    pub wall_s: f64,
    /// Whether it was ended before its time: the record is then of what happened until then.
    #[serde(rename = "partial")]
    pub is_partial: bool,
    /// The bottleneck.
    pub path: PathSummary,
    /// Further bottlenecks behind the first, in the order of the path.
    pub next: Vec<PathSummary>,
    /// The flows, in the order of the scenario's groups.
    pub flows: Vec<FlowSummary>,
    /// All flows over the same time, from the first start to the last end.
    pub together: Together,
    /// The same for the flows of each controller.
    pub controllers: Vec<OfController>,
    /// How long transfers took, by controller and size; empty if there were none.
    pub completions: Vec<Completions>,
    /// How evenly the flows shared the path.
    pub fairness: Fairness,
}

/// The bottleneck in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PathSummary {
    /// The bottleneck's rate at the start, in bits per second; null if it has none, or a trace.
    pub rate_bps: Option<u64>,
    /// The two-way propagation delay at the start.
    #[serde(serialize_with = "millionths")]
    pub rtprop_ms: f64,
    /// The buffer's size; null if it is unlimited.
    pub buffer_bytes: Option<u64>,
    /// The goodput that the path allows all flows together over the run: rate × payload share of a packet, and
    /// × (1 − loss) if the loss is behind the bottleneck. The rate is the mean over the run if it changes, and a policer's,
    /// its burst included, if that is less. Null if the path has neither.
    pub limit_bps: Option<u64>,
    /// What the bottleneck transmitted, as a share of what it could have.
    #[serde(serialize_with = "optional_millionths")]
    pub utilization: Option<f64>,
    /// How long the queue was, as the time that the bottleneck needs for it.
    pub queue_ms: QueueMillis,
    /// Packets dropped at the bottleneck, by its buffer, its queue discipline or a policer.
    pub drops: Option<u64>,
    /// Packets marked "congestion experienced" at the bottleneck.
    pub marks: Option<u64>,
    /// Data packets lost at random.
    pub random_losses: Option<u64>,
    /// Packets that the machine delivered more than a millisecond after the path's time. Null in virtual time, where
    /// none is.
    pub late_packets: Option<u64>,
    /// Packets that never entered the path since the machine was too slow to take them. Null in virtual time.
    pub overflows: Option<u64>,
}

/// A queue over time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueMillis {
    /// Mean over time.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
    /// Median over time.
    #[serde(serialize_with = "optional_millionths")]
    pub p50: Option<f64>,
    /// What it did not exceed for 95 % of the time.
    #[serde(serialize_with = "optional_millionths")]
    pub p95: Option<f64>,
    /// What it did not exceed for 99 % of the time.
    #[serde(serialize_with = "optional_millionths")]
    pub p99: Option<f64>,
    /// Its longest.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

/// Round-trip times over all ACKs that measured one, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
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
    /// 99th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p99: Option<f64>,
    /// Largest.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

/// One flow in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowSummary {
    /// Its place among the scenario's flows, from zero.
    pub id: usize,
    /// Which of the scenario's `[[flow]]` it belongs to, from zero.
    pub group: Option<usize>,
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
    /// The goodput as a share of what the flow's way allows while the flow lives; null if nothing limits it. Flows that do
    /// not live equally long are compared in [`Summary::together`] and [`Summary::controllers`].
    #[serde(serialize_with = "optional_millionths")]
    pub limit_share: Option<f64>,
    /// The bandwidth that the flow had found when its Startup or slow start first ended: BBR's BtlBw, or for controllers
    /// without an estimate, the highest delivery rate until then. Null if it did not end. The warmup is no exception.
    pub startup_exit_bps: Option<u64>,
    /// Its round-trip times.
    pub rtt_ms: RttMillis,
    /// Bytes sent, headers and repeats included.
    pub sent_bytes: Option<u64>,
    /// Payload bytes that arrived, each counted once.
    pub delivered_bytes: u64,
    /// Bytes sent again because they were declared lost.
    pub retransmitted_bytes: Option<u64>,
    /// Packets declared lost.
    pub packets_lost: Option<u64>,
    /// Packets that the sender learned were marked "congestion experienced".
    pub ecn_marks: Option<u64>,
    /// Retransmission timeouts (TCP), or times of persistent congestion (QUIC).
    pub timeouts: Option<u64>,
    /// Recoveries, and timeouts, that turned out to have been unnecessary and were undone.
    pub spurious_recoveries: Option<u64>,
    /// Tail loss probes sent.
    pub tail_loss_probes: Option<u64>,
    /// How long it had something to send or unacknowledged; null where the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub busy_s: Option<f64>,
    /// How much of that the receive window was full.
    #[serde(serialize_with = "optional_millionths")]
    pub rwnd_limited_s: Option<f64>,
    /// How much of that the send buffer was too small: full, with everything in it sent.
    #[serde(serialize_with = "optional_millionths")]
    pub sndbuf_limited_s: Option<f64>,
    /// What its host did with it between TCP and the wire; null where the engine does not see it, and for flows that open a
    /// connection for each object.
    pub host: Option<HostSummary>,
    /// What its application says; null for bulk and where the engine has no applications.
    pub app: Option<AppSummary>,
}

/// An application in numbers, over the whole run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AppSummary {
    /// What it is, as scenarios call it: `requests`, `poisson`, `rate`, `video`.
    pub kind: String,
    /// Objects that it began: asked for, or written.
    pub started: u64,
    /// Objects delivered.
    pub completed: u64,
    /// Objects that were not begun because too many were under way.
    pub refused: u64,
    /// Frames that a rate-limited source skipped because its backlog was full.
    pub skipped: Option<u64>,
    /// Frames that a rate-limited source delivered after their deadline.
    pub late: Option<u64>,
    /// How a video played.
    pub playback: Option<PlaybackSummary>,
}

/// How a video played.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaybackSummary {
    /// From the flow's start to the first picture; null if there was none.
    #[serde(serialize_with = "optional_millionths")]
    pub startup_s: Option<f64>,
    /// How often it stopped for want of data.
    pub stalls: u64,
    /// How long it stood still then.
    #[serde(serialize_with = "millionths")]
    pub stalled_s: f64,
    /// How much was played.
    #[serde(serialize_with = "millionths")]
    pub played_s: f64,
}

impl FlowSummary {
    /// The share of the sent bytes that were sent again, if both are known and something was sent.
    pub fn retransmitted_share(&self) -> Option<f64> {
        let sent = self.sent_bytes.filter(|sent| *sent > 0)?;
        Some(self.retransmitted_bytes? as f64 / sent as f64)
    }
}

/// Six decimals: a nanosecond of a millisecond, and enough of a second.
pub(super) fn millionths<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((value * 1e6).round() / 1e6)
}

pub(super) fn optional_millionths<S: Serializer>(
    value: &Option<f64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => millionths(value, to),
        None => to.serialize_none(),
    }
}
