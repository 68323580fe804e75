//! What controllers in Python are told: plain numbers, with their units in their names.

use congestion::Time;
use pyo3::prelude::*;

/// What a controller is told of a new connection.
#[pyclass(frozen, get_all, module = "fullpipe")]
pub struct Connection {
    /// The present, in ns.
    now_ns: u64,
    /// The payload of a full packet, in bytes.
    mss: u64,
    /// The initial window, in bytes.
    initial_cwnd: u64,
    /// Seeds whatever the controller randomizes.
    seed: u64,
}

impl From<congestion::Connection> for Connection {
    fn from(connection: congestion::Connection) -> Connection {
        Connection {
            now_ns: connection.now.since(Time::ZERO).as_nanos(),
            mss: connection.mss.get(),
            initial_cwnd: connection.initial_cwnd.get(),
            seed: connection.seed,
        }
    }
}

/// Everything that one ACK delivered.
#[pyclass(frozen, get_all, module = "fullpipe")]
pub struct Ack {
    /// When it was processed, in ns from the start of the run.
    now_ns: u64,
    /// Bytes that it newly acknowledged.
    newly_acked: u64,
    /// Bytes in flight before it and the losses that it showed.
    prior_inflight: u64,
    /// Bytes in flight now.
    inflight: u64,
    /// The round-trip time of the newest packet that it acknowledged, in ns; None if that was sent more than once.
    rtt_ns: Option<u64>,
    /// The rate at which the network delivered, in bit/s; None if the ACK gives no sample.
    delivery_rate_bps: Option<u64>,
    /// Bytes delivered on the connection until now.
    delivered: u64,
    /// Bytes that had been delivered when the newest acknowledged packet was sent: a round trip ends when this reaches what
    /// had been delivered at its start.
    prior_delivered: u64,
    /// Bytes lost on the connection until now.
    lost: u64,
    /// Bytes that it newly reports as marked (ECN).
    ce_marked: u64,
    /// Whether the application had too little to send when the newest acknowledged packet left.
    is_app_limited: bool,
    /// Whether the whole window has been used since the ACK before. Without it, a window must not grow.
    is_cwnd_limited: bool,
    /// Whether the window itself has held the sender back since the ACK before.
    is_window_full: bool,
    /// Whether it advanced the cumulative acknowledgement.
    is_progress: bool,
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Ack {
        Ack {
            now_ns: ack.now.since(Time::ZERO).as_nanos(),
            newly_acked: ack.newly_acked.get(),
            prior_inflight: ack.prior_inflight.get(),
            inflight: ack.inflight.get(),
            rtt_ns: ack.rtt.map(|sample| sample.rtt.as_nanos()),
            delivery_rate_bps: ack.rate.delivery_rate.map(|rate| rate.bits_per_sec()),
            delivered: ack.rate.total_delivered.get(),
            prior_delivered: ack.rate.prior_delivered.get(),
            lost: ack.rate.total_lost.get(),
            ce_marked: ack.ce_marked.get(),
            is_app_limited: ack.rate.is_app_limited,
            is_cwnd_limited: ack.is_cwnd_limited,
            is_window_full: ack.is_window_full,
            is_progress: ack.is_progress,
        }
    }
}
