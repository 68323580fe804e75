//! The states as observers see them.

use crate::state::states;

states! {
    /// Searching for the bandwidth.
    STARTUP: "Startup" for Startup,
    /// Removing Startup's queue.
    DRAIN: "Drain" for Drain,
    /// Cycling through the gains.
    PROBE_BW: "ProbeBW" for ProbeBw,
    /// Keeping little in flight to measure RTprop.
    PROBE_RTT: "ProbeRTT" for ProbeRtt,
}
