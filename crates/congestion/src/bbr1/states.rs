//! The states, as observers see them.

use crate::state::states;

states! {
    /// The bandwidth is searched for.
    STARTUP: "Startup" for Startup,
    /// The queue of Startup is emptied.
    DRAIN: "Drain" for Drain,
    /// The gain cycle.
    PROBE_BW: "ProbeBW" for ProbeBw,
    /// Little is in flight, so that RTprop shows.
    PROBE_RTT: "ProbeRTT" for ProbeRtt,
}
