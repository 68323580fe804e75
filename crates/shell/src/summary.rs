//! The summary of a command's observations.

use std::net::SocketAddr;

use emulator::DirectionCounters;
use emulator::tunnel::TunCounters;
use serde::Serialize;

use super::addresses::Addresses;
use record::{PathSummary, RttMillis, Validity};

/// The summary of a command's observations, from its start to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandSummary {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The command at the far end.
    pub serve: Option<String>,
    /// The exit code of the command, or 128 plus the number of the signal that ended it.
    pub exit_code: u8,
    /// The direction of the bottleneck: `down`, `up` or `both`.
    pub direction: &'static str,
    /// The path's seed.
    pub seed: u64,
    /// The duration of the command.
    pub duration_s: f64,
    /// Whether the machine emulated the requested path.
    pub validity: Validity,
    /// The addresses of both ends.
    pub addresses: Addresses,
    /// The direction towards the command.
    pub down: WaySummary,
    /// The direction away from the command.
    pub up: WaySummary,
    /// TCP connections, one entry for each direction with data.
    pub flows: Vec<ConnectionSummary>,
}

/// The summary of one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaySummary {
    /// The bottleneck, as in the summary of a run.
    pub path: PathSummary,
    /// The counters of the link. A direction with only a delay passes large TCP packets whole, and counts each as one.
    pub link: DirectionCounters,
    /// The packets that entered and left, as on a wire.
    pub tun: TunCounters,
}

/// One direction of a TCP connection, as the sender's kernel reported it. Sampled every 50 ms: the end of a connection
/// may be missing, and so may a shorter connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionSummary {
    /// The direction: `down` or `up`.
    pub direction: &'static str,
    /// The sender's end.
    pub from: SocketAddr,
    /// The receiver's end.
    pub to: SocketAddr,
    /// The kernel's name of the sender's congestion control.
    pub controller: String,
    /// The time of the first sample.
    pub start_s: f64,
    /// The time of the last sample with newly acknowledged data.
    pub end_s: f64,
    /// The acknowledged payload.
    pub acked_bytes: u64,
    /// The acknowledged payload per second between these times; null after a single sample.
    pub goodput_bps: Option<u64>,
    /// The smoothed round-trip times of the kernel at the samples; `min` is the kernel's own least.
    pub rtt_ms: RttMillis,
    /// Bytes sent, repeats included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
}
