//! Delivery-rate samples (BBR draft, "Delivery Rate Samples").

use units::{Bytes, Duration, Rate, Time};

/// What the sampler knew when a packet was sent; the transport keeps it with the packet and hands it back when the
/// packet is acknowledged or lost (BBR draft, "Per-packet (P) state").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketState {
    /// The packet's size as congestion control counts it.
    pub bytes: Bytes,
    /// When it was sent.
    pub sent_time: Time,
    /// The order in which packets were sent; a retransmission counts as a new packet.
    pub sequence: u64,
    /// Bytes delivered on the connection when it was sent.
    pub delivered: Bytes,
    /// When `delivered` was last updated.
    pub delivered_time: Time,
    /// When the packet most recently delivered had been sent: the start of the send interval.
    pub first_sent_time: Time,
    /// Bytes lost on the connection when it was sent.
    pub lost: Bytes,
    /// Bytes in flight right after it was sent, itself included.
    pub inflight: Bytes,
    /// Whether the connection was application-limited when it was sent.
    pub is_app_limited: bool,
}

/// The delivery-rate sample of one ACK (BBR draft, "Rate Sample (rs) Output").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSample {
    /// The sample: `delivered` / `interval`. `None` if the ACK delivered nothing new or the interval is not
    /// trustworthy (shorter than the minimum RTT).
    pub delivery_rate: Option<Rate>,
    /// Bytes delivered between the newest acknowledged packet's departure and now.
    pub delivered: Bytes,
    /// The longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// Bytes that had been delivered when the newest acknowledged packet was sent.
    pub prior_delivered: Bytes,
    /// Bytes delivered on the connection until now, this ACK included.
    pub total_delivered: Bytes,
    /// Bytes lost on the connection until now.
    pub total_lost: Bytes,
    /// Bytes declared lost since the previous sample.
    pub newly_lost: Bytes,
    /// Bytes that were in flight right after the newest acknowledged packet was sent.
    pub inflight_at_send: Bytes,
    /// Bytes lost between the newest acknowledged packet's departure and now.
    pub lost_since_send: Bytes,
    /// Whether the newest acknowledged packet was sent while the connection was application-limited.
    pub is_app_limited: bool,
}
