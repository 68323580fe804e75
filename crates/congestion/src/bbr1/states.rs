//! The states, as observers see them.

use crate::state::{Phase, State};

/// The bandwidth is searched for.
pub const STARTUP: State = State {
    name: "Startup",
    phase: Phase::Startup,
};
/// The queue of Startup is emptied.
pub const DRAIN: State = State {
    name: "Drain",
    phase: Phase::Drain,
};
/// The gain cycle.
pub const PROBE_BW: State = State {
    name: "ProbeBW",
    phase: Phase::ProbeBw,
};
/// Little is in flight, so that RTprop shows.
pub const PROBE_RTT: State = State {
    name: "ProbeRTT",
    phase: Phase::ProbeRtt,
};

/// All of them.
pub const ALL: &[State] = &[STARTUP, DRAIN, PROBE_BW, PROBE_RTT];
