//! Samples of a flow at each ACK.

use congestion::{Bytes, Duration, RateSample, Snapshot, Time};

/// Watches one flow. It is called at every ACK from the connection's own task, so it must be quick, and discard or pass
/// on what it does not need.
pub trait Observer: Send + Sync {
    /// An ACK has been processed.
    fn on_sample(&self, sample: &Sample);
}

/// The limit of a connection, as far as noq reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// There was nothing to send: the application, flow control or the send window gave no more.
    Data,
    /// The congestion window was full.
    CongestionWindow,
    /// The pacing rate did not allow more yet.
    Pacing,
}

/// A flow right after an ACK. Counts begin with the connection, include the handshake, and are of packets that ask for
/// an ACK.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The time since the connection's start.
    pub time: Time,
    /// The round-trip time that this ACK measured, if any.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time before this ACK, if there is one (RFC 9002, "Estimating smoothed_rtt and rttvar").
    pub srtt: Option<Duration>,
    /// The connection's limit since the last ACK.
    pub limit: Limit,
    /// The delivery-rate sample, with the bytes delivered and lost until now.
    pub rate: RateSample,
    /// Bytes in flight, as QUIC counts them: UDP payload.
    pub inflight: Bytes,
    /// Bytes sent, retransmissions included.
    pub sent: Bytes,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Recoveries because of a loss or an ECN mark.
    pub recoveries: u64,
    /// Spurious recoveries.
    pub undone: u64,
    /// The number of times that persistent congestion was declared.
    pub timeouts: u64,
    /// The controller's state.
    pub snapshot: Snapshot,
}
