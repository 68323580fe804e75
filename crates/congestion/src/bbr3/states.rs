//! The states as observers see them.

use crate::state::states;

states! {
    /// Searching for the bandwidth.
    STARTUP: "Startup" for Startup,
    /// Removing Startup's queue.
    DRAIN: "Drain" for Drain,
    /// Sending slower than the path delivers, to leave room.
    DOWN: "ProbeBW_DOWN" for ProbeBw,
    /// Sending at the rate that the path delivers.
    CRUISE: "ProbeBW_CRUISE" for ProbeBw,
    /// Sending at the full estimated rate for a round, to fill the pipe.
    REFILL: "ProbeBW_REFILL" for ProbeBw,
    /// Sending faster than the known delivery rate.
    UP: "ProbeBW_UP" for ProbeBw,
    /// Keeping less in flight to measure the least RTT.
    PROBE_RTT: "ProbeRTT" for ProbeRtt,
}
