//! What a transport is to the kit.

use congestion::{Bytes, Time};

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end whose data is carried, and whose controller is checked.
    Sender,
    /// The end that acknowledges.
    Receiver,
}

/// Both ends of a connection that carries data in one direction.
///
/// Each method is given the present; times never decrease. After each event, the kit takes what both ends want to send, and
/// then asks for the timer.
pub trait Transport {
    /// What travels.
    type Packet: Clone;

    /// The sending application hands over `bytes` more; [`u64::MAX`] for more than can ever be sent.
    fn write(&mut self, now: Time, bytes: u64);

    /// The next packet that this end puts on the wire now, with its size there, headers included.
    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Self::Packet)>;

    /// A packet reaches this end.
    fn receive(&mut self, now: Time, end: End, packet: Self::Packet);

    /// When [`Transport::on_timer`] is due, of either end: for the pacer, for losses, for held-back ACKs.
    fn next_timer(&self) -> Option<Time>;

    /// That time has come.
    fn on_timer(&mut self, now: Time);

    /// Payload that has reached the receiving application.
    fn received(&self) -> u64;
}

/// What the transport can know at all: what it cannot, it is not blamed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Knows {
    /// Whether a loss that was none is found out: by D-SACK or timestamps, or by an ACK of a packet declared lost.
    pub spurious_losses: bool,
    /// Whether a long silence is a retransmission timeout or persistent congestion.
    pub timeouts: bool,
}

impl Knows {
    /// All of it.
    pub const fn everything() -> Knows {
        Knows {
            spurious_losses: true,
            timeouts: true,
        }
    }
}
