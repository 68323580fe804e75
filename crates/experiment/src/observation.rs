//! What is known of one connection, or of an object that it carried, when it is evaluated.

use units::Duration;

/// What an observation is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A connection as a whole.
    Connection,
    /// A connection whose objects are observed by themselves: of its packets and round trips.
    Carrier,
    /// A whole object.
    Object,
    /// An object as far as it came until its connection ended: it has no time to completion.
    Part,
}

/// A connection, at its end or as it was last seen; or an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What it is of.
    pub scope: Scope,
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
    /// The RTT of a connection: its median where that is known, else the smoothed one at the end.
    pub rtt: Option<Duration>,
    /// The groups that it belongs to, such as its client's network: `192.0.2.0/24`, `AS64500`.
    pub groups: Vec<String>,
}
