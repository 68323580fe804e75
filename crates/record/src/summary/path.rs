//! A bottleneck in numbers.

use serde::{Deserialize, Serialize};

use super::millis::QueueMillis;
use crate::millionths::{millionths, optional_millionths};

/// The bottleneck in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
#[non_exhaustive]
pub struct PathSummary {
    /// The name of the link, such as `core`, or `core.uplink` for its opposite direction. Only of links with names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bottleneck's rate at the start, in bits per second; null if it has none, or a trace.
    pub rate_bps: Option<u64>,
    /// The two-way propagation delay at the start.
    #[serde(serialize_with = "millionths")]
    pub rtprop_ms: f64,
    /// The buffer's size; null if it is unlimited.
    pub buffer_bytes: Option<u64>,
    /// The goodput that the path allows all flows together over the run: rate × payload share of a packet, × (1 −
    /// corruption), and × (1 − loss) if the loss is behind the bottleneck. If the rate changes, it is the mean over the
    /// run. If a policer, including its burst, allows less, it is the policer's. Null if the path has neither.
    pub limit_bps: Option<u64>,
    /// The bytes that the bottleneck transmitted, as a share of what it could have transmitted.
    #[serde(serialize_with = "optional_millionths")]
    pub utilization: Option<f64>,
    /// The length of the queue, as the time that the bottleneck needs for it.
    pub queue_ms: QueueMillis,
    /// Packets that the bottleneck transmitted. Only of links with names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Packets dropped at the bottleneck, by its buffer, its queue discipline or a policer.
    pub drops: Option<u64>,
    /// Packets marked "congestion experienced" at the bottleneck.
    pub marks: Option<u64>,
    /// Data packets lost at random.
    pub random_losses: Option<u64>,
    /// Data packets that were damaged on the way, and that their receivers discarded. Only of a path with `corruption`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupted: Option<u64>,
    /// Data packets dropped since they were larger than the MTU. Only of a path with an `mtu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_big: Option<u64>,
    /// Packets that the machine delivered more than a millisecond after the path's time. Null in virtual time, where
    /// none is late.
    pub late_packets: Option<u64>,
    /// The mean lateness of packets. Null in virtual time.
    #[serde(serialize_with = "optional_millionths")]
    pub lateness_mean_ms: Option<f64>,
    /// Packets that the machine delivered, in both directions. Null in virtual time.
    pub released_packets: Option<u64>,
    /// Packets that were lost before or after the path because the machine was too slow to take them. Null in virtual
    /// time.
    pub overflows: Option<u64>,
}
