//! The counters of a tunnel.

use serde::Serialize;

use crate::counters::DirectionCounters;

/// The counters of a tunnel, in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TunnelCounters {
    /// From near to far.
    pub forward: WayCounters,
    /// From far to near.
    pub reverse: WayCounters,
}

/// The counters of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WayCounters {
    /// The counters of each of its links. Packets and bytes are those on the wire, also of a large packet that a link
    /// passes whole. The sums of queueing delays and of lateness count it once.
    pub links: Vec<DirectionCounters>,
    /// The counters of its devices.
    pub tun: TunCounters,
}

/// The counters of frames read from the device at one end, and written to the one at the other. A frame is one packet,
/// or a large one of many segments. Bytes are those of IP packets. Packets are those on the wire, after segmentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TunCounters {
    /// Frames read.
    pub read_frames: u64,
    /// Packets in them.
    pub read_packets: u64,
    /// Their bytes, each segment with its own headers.
    pub read_bytes: u64,
    /// Frames that are not IP, or whose segmentation is invalid. They were dropped.
    pub malformed_frames: u64,
    /// Frames written.
    pub written_frames: u64,
    /// Packets in them.
    pub written_packets: u64,
    /// Their bytes, each segment with its own headers.
    pub written_bytes: u64,
    /// Packets that the device refused, and that are lost.
    pub write_errors: u64,
    /// Packets that this machine wrote more than a millisecond after the path's time.
    pub late_packets: u64,
    /// The maximum lateness of a packet, in nanoseconds.
    pub lateness_max_ns: u64,
    /// The total lateness of the packets, in nanoseconds.
    pub lateness_total_ns: u64,
}
