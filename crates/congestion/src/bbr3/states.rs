//! The states, as observers see them.

use crate::state::states;

states! {
    /// The bandwidth is searched for.
    STARTUP: "Startup" for Startup,
    /// The queue of Startup is emptied.
    DRAIN: "Drain" for Drain,
    /// Slower than the path delivers, to leave room.
    DOWN: "ProbeBW_DOWN" for ProbeBw,
    /// At the rate that the path delivers.
    CRUISE: "ProbeBW_CRUISE" for ProbeBw,
    /// At the whole estimated rate for a round, to fill the pipe.
    REFILL: "ProbeBW_REFILL" for ProbeBw,
    /// Faster than the path is known to deliver.
    UP: "ProbeBW_UP" for ProbeBw,
    /// Less is in flight, so that the least RTT shows.
    PROBE_RTT: "ProbeRTT" for ProbeRtt,
}
