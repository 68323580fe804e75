//! Where a capture was taken, as the halves of the round trip tell.

use units::{Duration, named};

use crate::connection::Connection;

/// An end is near if no more than this share of the round trip is on its side …
const SHARE: u64 = 10;

/// … and a round trip shorter than this has no sides that could be told.
const SHORTEST: Duration = Duration::from_micros(100);

named! {
    /// Where a capture was taken, seen from a flow's data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Place, "place" {
        /// At the sender's side.
        Sender = "sender",
        /// At the receiver's side.
        Receiver = "receiver",
        /// In between.
        Middle = "middle",
        /// Nobody knows: there was no handshake, and there are no timestamps; or all is too near.
        Unknown = "unknown",
    }
}

impl Place {
    /// For the data of this side.
    pub fn of(connection: &Connection, side: usize) -> Place {
        let (near, far) = connection.halves(side);
        match near.zip(far) {
            Some((near, far)) if near + far < SHORTEST => Place::Unknown,
            Some((near, far)) if near * SHARE <= near + far => Place::Sender,
            Some((near, far)) if far * SHARE <= near + far => Place::Receiver,
            Some(_) => Place::Middle,
            None => Place::Unknown,
        }
    }
}
