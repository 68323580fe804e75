//! What a flow looked like at each ACK.

use congestion::{Bytes, Duration, RateSample, Snapshot, Time};

/// Watches one flow. Called from the connection's own task at every ACK, so an observer must be quick: it decimates, or
/// hands on, what it does not need.
pub trait Observer: Send + Sync {
    /// An ACK has been processed.
    fn on_sample(&self, sample: &Sample);
}

/// What keeps a connection from sending, as far as noq tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// There was nothing to send: the application had no more, or flow control or the send window took no more of it.
    Data,
    /// The congestion window was full.
    CongestionWindow,
    /// Neither: the pacing rate did not yet allow more.
    Pacing,
}

/// A flow right after an ACK. Counts are since the connection's start, handshake included, and are of packets that ask
/// to be acknowledged.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Since the connection's start.
    pub time: Time,
    /// The round-trip time that this ACK measured, if it measured one.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time before this ACK (RFC 9002, "Estimating smoothed_rtt and rttvar"), once there is one.
    pub srtt: Option<Duration>,
    /// What has kept the connection from sending since the last ACK.
    pub limit: Limit,
    /// The delivery-rate sample, with the bytes delivered and lost until now.
    pub rate: RateSample,
    /// Bytes in flight, as QUIC counts them: UDP payload.
    pub inflight: Bytes,
    /// Bytes sent, first time or again.
    pub sent: Bytes,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Recoveries entered for a loss or an ECN mark.
    pub recoveries: u64,
    /// Recoveries found to have been unnecessary.
    pub undone: u64,
    /// Times that persistent congestion was declared.
    pub timeouts: u64,
    /// The controller's state.
    pub snapshot: Snapshot,
}
