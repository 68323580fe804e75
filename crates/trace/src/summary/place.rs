//! Where a capture was taken, according to the two parts of the round trip.

use connection::Connection;
use units::{Duration, named};

/// An end is near if at most one part in this many of the round trip is on its side …
const NEAR_END_DIVISOR: u64 = 10;

/// … and the round trip is not shorter than this, because the parts could not be told.
const MIN_ROUND_TRIP: Duration = Duration::from_micros(100);

named! {
    /// Where a capture was taken relative to a flow's sender and receiver.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Place, "place" {
        /// Near the sender.
        Sender = "sender",
        /// Near the receiver.
        Receiver = "receiver",
        /// In between.
        Middle = "middle",
        /// Unknown: there is neither a handshake nor a timestamp, or the round trip is too short.
        Unknown = "unknown",
    }
}

impl Place {
    /// The place for the data of this side.
    pub fn of(connection: &Connection, side: usize) -> Place {
        let (near, far) = connection.halves(side);
        match near.zip(far) {
            Some((near, far)) if near + far < MIN_ROUND_TRIP => Place::Unknown,
            Some((near, far)) if near * NEAR_END_DIVISOR <= near + far => Place::Sender,
            Some((near, far)) if far * NEAR_END_DIVISOR <= near + far => Place::Receiver,
            Some(_) => Place::Middle,
            None => Place::Unknown,
        }
    }
    /// The place in words.
    pub const fn words(self) -> &'static str {
        match self {
            Place::Sender => "captured at the sender",
            Place::Receiver => "captured at the receiver",
            Place::Middle => "captured between the ends",
            Place::Unknown => "the place of the capture is unknown",
        }
    }
}
