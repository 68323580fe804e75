//! What a tunnel has done so far.

use serde::Serialize;

use crate::counters::DirectionCounters;

/// What a tunnel has done so far, in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TunnelCounters {
    /// From near to far.
    pub forward: WayCounters,
    /// From far to near.
    pub reverse: WayCounters,
}

/// What happened on one way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WayCounters {
    /// On each of its links. A large packet that a link passes whole counts as one.
    pub links: Vec<DirectionCounters>,
    /// Between the kernel and us.
    pub tun: TunCounters,
}

/// Frames read from the device at one end of a way, and written to the one at the other. A frame is one packet, or a
/// large one of many segments. Bytes are those of IP packets; packets are what a frame is on the wire, once it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TunCounters {
    /// Frames read.
    pub read_frames: u64,
    /// Packets in them.
    pub read_packets: u64,
    /// Their bytes, each segment with headers of its own.
    pub read_bytes: u64,
    /// Frames read that are not IP, or whose segmentation makes no sense; they went no further.
    pub malformed_frames: u64,
    /// Frames written.
    pub written_frames: u64,
    /// Packets in them.
    pub written_packets: u64,
    /// Their bytes, each segment with headers of its own.
    pub written_bytes: u64,
    /// Packets that the device refused, and that are lost.
    pub write_errors: u64,
    /// Packets that this machine wrote more than a millisecond after the path's time.
    pub late_packets: u64,
    /// How much too late the latest was, in nanoseconds.
    pub lateness_max_ns: u64,
    /// How much too late the packets were, in nanoseconds, all together.
    pub lateness_total_ns: u64,
}
