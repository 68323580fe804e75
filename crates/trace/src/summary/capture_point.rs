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
    pub enum CapturePoint, "place" {
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

impl CapturePoint {
    /// The place for the data of this side.
    pub fn of(connection: &Connection, side: usize) -> CapturePoint {
        let (near, far) = connection.halves(side);
        match near.zip(far) {
            Some((near, far)) if near + far < MIN_ROUND_TRIP => CapturePoint::Unknown,
            Some((near, far)) if near * NEAR_END_DIVISOR <= near + far => CapturePoint::Sender,
            Some((near, far)) if far * NEAR_END_DIVISOR <= near + far => CapturePoint::Receiver,
            Some(_) => CapturePoint::Middle,
            None => CapturePoint::Unknown,
        }
    }
    /// The place in words.
    pub const fn words(self) -> &'static str {
        match self {
            CapturePoint::Sender => "captured at the sender",
            CapturePoint::Receiver => "captured at the receiver",
            CapturePoint::Middle => "captured between the ends",
            CapturePoint::Unknown => "the place of the capture is unknown",
        }
    }
}
