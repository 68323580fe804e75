//! A flow in numbers.

use serde::{Deserialize, Serialize};

use super::millis::RttMillis;
use crate::host::HostSummary;
use crate::millionths::{millionths, optional_millionths};

/// One flow in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
#[non_exhaustive]
pub struct FlowSummary {
    /// The index of the flow among the scenario's flows, from zero.
    pub id: usize,
    /// The index of its `[[flow]]` in the scenario, from zero.
    pub group: Option<usize>,
    /// Its controller's name.
    pub controller: String,
    /// The time of its start.
    #[serde(serialize_with = "millionths")]
    pub start_s: f64,
    /// The time at which the last byte of its transfer had arrived; null if it has no end or did not reach it.
    #[serde(serialize_with = "optional_millionths")]
    pub completed_s: Option<f64>,
    /// Payload delivered, each byte counted once, per second of the flow's life: from its start, including the
    /// handshake, to its completion or the end of the run.
    pub goodput_bps: u64,
    /// The goodput as a share of what the flow's way allows while the flow lives; null if nothing limits it. To
    /// compare flows that do not live equally long, use [`Summary::together`](super::Summary::together) and
    /// [`Summary::controllers`](super::Summary::controllers).
    #[serde(serialize_with = "optional_millionths")]
    pub limit_share: Option<f64>,
    /// The bandwidth that the flow had found when its Startup or slow start first ended: BBR's BtlBw, or for
    /// controllers without an estimate, the highest delivery rate until then. Null if it did not end. The warmup
    /// counts, too.
    pub startup_exit_bps: Option<u64>,
    /// The two-way propagation delay of its route at the start, and of its own access line. Only in a network of links
    /// with names; on a path, see [`PathSummary::rtprop_ms`](super::PathSummary::rtprop_ms).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "optional_millionths"
    )]
    pub rtprop_ms: Option<f64>,
    /// Its round-trip times.
    pub rtt_ms: RttMillis,
    /// Bytes sent, including headers and retransmissions.
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
    /// Recoveries and timeouts that turned out to be unnecessary and were undone.
    pub spurious_recoveries: Option<u64>,
    /// Tail loss probes sent.
    pub tail_loss_probes: Option<u64>,
    /// Connections that could not be opened: no SYN was answered in time.
    pub failed_opens: Option<u64>,
    /// The time of the handshake, from the first SYN to the answer; the mean of several connections. Null if none was
    /// opened, and where the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub connect_ms: Option<f64>,
    /// The time with data to send or unacknowledged; null where the engine does not see it.
    #[serde(serialize_with = "optional_millionths")]
    pub busy_s: Option<f64>,
    /// The part of `busy_s` in which the receive window was full.
    #[serde(serialize_with = "optional_millionths")]
    pub rwnd_limited_s: Option<f64>,
    /// The part of `busy_s` in which the send buffer was too small: full, with everything in it sent.
    #[serde(serialize_with = "optional_millionths")]
    pub sndbuf_limited_s: Option<f64>,
    /// The shares of its limits while its connections were open; null where the engine does not see it.
    pub limited_by: Option<LimitShares>,
    /// Its host's treatment between TCP and the wire; null where the engine does not see it, and for flows that open
    /// a connection for each object.
    pub host: Option<HostSummary>,
    /// Its application's counters; null for bulk data and where the engine has no applications.
    pub app: Option<AppSummary>,
}

impl FlowSummary {
    /// The share of retransmitted bytes in the sent bytes, if both are known and something was sent.
    pub fn retransmitted_share(&self) -> Option<f64> {
        let sent = self.sent_bytes.filter(|sent| *sent > 0)?;
        Some(self.retransmitted_bytes? as f64 / sent as f64)
    }
}

/// The limits of a flow, as shares of the time that its connections were open. The first four add up to one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitShares {
    /// The application had nothing to send.
    #[serde(serialize_with = "millionths")]
    pub application: f64,
    /// The receive window was full.
    #[serde(serialize_with = "millionths")]
    pub receiver: f64,
    /// The send buffer was too small: full, with everything in it sent.
    #[serde(serialize_with = "millionths")]
    pub send_buffer: f64,
    /// Congestion control: the window was full, or the pacing rate did not yet allow more.
    #[serde(serialize_with = "millionths")]
    pub congestion: f64,
    /// The part of `congestion` that is due to pacing; null where the engine does not distinguish it.
    #[serde(serialize_with = "optional_millionths")]
    pub pacing: Option<f64>,
}

impl LimitShares {
    /// The mean of several flows; `None` if there are none.
    pub fn mean(flows: impl IntoIterator<Item = LimitShares>) -> Option<LimitShares> {
        let flows: Vec<LimitShares> = flows.into_iter().collect();
        let count = flows.len() as f64;
        let mean = |of: fn(&LimitShares) -> f64| flows.iter().map(of).sum::<f64>() / count;
        let pacing: Option<f64> = flows.iter().map(|flow| flow.pacing).sum();
        (!flows.is_empty()).then(|| LimitShares {
            application: mean(|flow| flow.application),
            receiver: mean(|flow| flow.receiver),
            send_buffer: mean(|flow| flow.send_buffer),
            congestion: mean(|flow| flow.congestion),
            pacing: pacing.map(|sum| sum / count),
        })
    }

    /// The limit with the largest share, and that share.
    pub fn largest(&self) -> (&'static str, f64) {
        let shares = [
            ("application", self.application),
            ("receiver", self.receiver),
            ("send buffer", self.send_buffer),
            ("congestion", self.congestion),
        ];
        let larger = |one: (_, f64), next: (_, f64)| if next.1 > one.1 { next } else { one };
        shares.into_iter().fold(("congestion", 0.0), larger)
    }
}

/// An application in numbers, over the whole run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AppSummary {
    /// Its kind, as in scenarios: `requests`, `poisson`, `rate`, `video`.
    pub kind: String,
    /// Objects that it began: requested, or written.
    pub started: u64,
    /// Objects delivered.
    pub completed: u64,
    /// Objects that were not begun because too many were pending.
    pub refused: u64,
    /// Frames that a rate-limited source skipped because its backlog was full.
    pub skipped: Option<u64>,
    /// Frames that a rate-limited source delivered after their deadline.
    pub late: Option<u64>,
    /// The playback of a video.
    pub playback: Option<PlaybackSummary>,
}

/// The playback of a video.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaybackSummary {
    /// The time from the flow's start to the first picture; null if there was none.
    #[serde(serialize_with = "optional_millionths")]
    pub startup_s: Option<f64>,
    /// The number of times that it stopped for lack of data.
    pub stalls: u64,
    /// The total time of these stops.
    #[serde(serialize_with = "millionths")]
    pub stalled_s: f64,
    /// The time that was played.
    #[serde(serialize_with = "millionths")]
    pub played_s: f64,
}
