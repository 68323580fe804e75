//! One observation: a connection, or an object that it carried.

use units::Duration;

/// The kind of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A connection as a whole.
    Connection,
    /// A connection whose objects are observed separately. It counts for packets and RTTs only.
    Carrier,
    /// A complete object.
    Object,
    /// An object that was cut short by the end of its connection. It has no completion time.
    Part,
}

/// A connection, at its end or when it was last seen, or an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The kind of the observation.
    pub scope: Scope,
    /// The draw of its unit of randomisation.
    pub unit: u64,
    /// The index of its arm in the plan.
    pub arm: usize,
    /// Acknowledged payload in bytes.
    pub acknowledged: u64,
    /// The time with data to send or unacknowledged.
    pub busy: Duration,
    /// Packets with data, retransmissions included.
    pub packets: u64,
    /// Retransmitted packets.
    pub resent: u64,
    /// The RTT of a connection: its median if that is known, otherwise the smoothed RTT at the end.
    pub rtt: Option<Duration>,
    /// The groups that it belongs to, such as its client's network: `192.0.2.0/24`, `AS64500`.
    pub groups: Vec<String>,
}
