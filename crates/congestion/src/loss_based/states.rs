//! The states as observers see them.

use crate::state::states;

states! {
    /// Doubling the window each round trip.
    SLOW_START: "SlowStart" for SlowStart,
    /// Checking a rise of the delay, in HyStart++ (RFC 9406).
    CONSERVATIVE_SLOW_START: "ConservativeSlowStart" for SlowStart,
    /// Growing the window slowly.
    CONGESTION_AVOIDANCE: "CongestionAvoidance" for Avoidance,
    /// Repairing losses or responding to a mark.
    RECOVERY: "Recovery" for Recovery,
}
