//! What a command met on the path, in numbers.

use std::net::SocketAddr;

use emulator::DirectionCounters;
use emulator::tunnel::TunCounters;
use serde::Serialize;

use super::addresses::Addresses;
use record::{PathSummary, RttMillis, Validity};

/// What a command met on the path, from its start to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandSummary {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What ran at the far end.
    pub serve: Option<String>,
    /// How the command ended: its exit code, or 128 and the signal that ended it.
    pub exit_code: u8,
    /// Where the bottleneck was: `down`, `up` or `both`.
    pub direction: &'static str,
    /// The path's seed.
    pub seed: u64,
    /// How long the command ran.
    pub duration_s: f64,
    /// Whether the machine was the path that was asked for.
    pub validity: Validity,
    /// The addresses of both ends.
    pub addresses: Addresses,
    /// The way to the command.
    pub down: WaySummary,
    /// The way from the command.
    pub up: WaySummary,
    /// TCP connections, one for each direction in which data went.
    pub flows: Vec<ConnectionSummary>,
}

/// One way in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaySummary {
    /// Its bottleneck, as that of a run.
    pub path: PathSummary,
    /// What happened on it. A way that does nothing but delay passes large TCP packets whole, and counts one as one.
    pub link: DirectionCounters,
    /// What went in and came out: packets as they are on a wire.
    pub tun: TunCounters,
}

/// What went one way over a TCP connection, as the kernel of its sender saw it. Looked at every 50 ms: the last of a
/// connection may be missing, and all of one that was shorter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionSummary {
    /// Which way: `down` or `up`.
    pub direction: &'static str,
    /// The sender's end.
    pub from: SocketAddr,
    /// The receiver's end.
    pub to: SocketAddr,
    /// The kernel's name of the sender's congestion control.
    pub controller: String,
    /// When it was first seen.
    pub start_s: f64,
    /// When it was last seen with more acknowledged than before.
    pub end_s: f64,
    /// Payload that was acknowledged.
    pub acked_bytes: u64,
    /// The same, per second between the two times; null if it was seen once only.
    pub goodput_bps: Option<u64>,
    /// Round-trip times as the kernel smooths them, at the times when it was looked at; `min` is the kernel's own least.
    pub rtt_ms: RttMillis,
    /// Bytes sent, repeats included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
}
