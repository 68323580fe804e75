//! The states, as observers see them.

use crate::state::states;

states! {
    /// The window doubles each round trip.
    SLOW_START: "SlowStart" for SlowStart,
    /// HyStart++ has seen the delay rise and makes sure (RFC 9406).
    CONSERVATIVE_SLOW_START: "ConservativeSlowStart" for SlowStart,
    /// The window grows slowly.
    CONGESTION_AVOIDANCE: "CongestionAvoidance" for Avoidance,
    /// Losses are repaired, or a mark is answered.
    RECOVERY: "Recovery" for Recovery,
}
