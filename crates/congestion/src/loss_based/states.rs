//! The states, as observers see them.

use crate::state::{Phase, State};

/// The window doubles each round trip.
pub const SLOW_START: State = State {
    name: "SlowStart",
    phase: Phase::SlowStart,
};
/// HyStart++ has seen the delay rise and makes sure (RFC 9406).
pub const CONSERVATIVE_SLOW_START: State = State {
    name: "ConservativeSlowStart",
    phase: Phase::SlowStart,
};
/// The window grows slowly.
pub const CONGESTION_AVOIDANCE: State = State {
    name: "CongestionAvoidance",
    phase: Phase::Avoidance,
};
/// Losses are repaired, or a mark is answered.
pub const RECOVERY: State = State {
    name: "Recovery",
    phase: Phase::Recovery,
};

/// All of them.
pub const ALL: &[State] = &[
    SLOW_START,
    CONSERVATIVE_SLOW_START,
    CONGESTION_AVOIDANCE,
    RECOVERY,
];
