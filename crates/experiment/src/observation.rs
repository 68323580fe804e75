//! What is known of one connection when it is evaluated.

use units::Duration;

/// A connection, at its end or as it was last seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Its unit of randomisation: the unit's draw.
    pub unit: u64,
    /// The place of its arm in the plan.
    pub arm: usize,
    /// Payload that the other side acknowledged, in bytes.
    pub acknowledged: u64,
    /// How long there was something to send or unacknowledged.
    pub busy: Duration,
    /// Packets with data that were sent, those sent again included.
    pub packets: u64,
    /// Packets sent again.
    pub resent: u64,
    /// The smoothed RTT at the end.
    pub rtt: Option<Duration>,
    /// The groups that it belongs to, such as its client's network: `192.0.2.0/24`, `AS64500`.
    pub groups: Vec<String>,
}
