//! The interface between the kit and a transport.

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
/// Each method that has `now` receives the present time. Times never decrease. After each event, the kit takes the packets that
/// both ends want to send, and then asks for the timer.
pub trait Transport {
    /// A packet on the path.
    type Packet: Clone;

    /// The sending application writes `bytes` more. [`u64::MAX`] is more than can ever be sent.
    fn write(&mut self, now: Time, bytes: u64);

    /// The next packet that this end sends now, with its size on the wire, including headers.
    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Self::Packet)>;

    /// A packet reaches this end.
    fn receive(&mut self, now: Time, end: End, packet: Self::Packet);

    /// The time at which [`Transport::on_timer`] is due for either end: for the pacer, for losses, or for delayed ACKs.
    fn next_timer(&self) -> Option<Time>;

    /// The time of [`Transport::next_timer`] has come.
    fn on_timer(&mut self, now: Time);

    /// The payload bytes that the receiving application has received.
    fn received(&self) -> u64;
}

/// The knowledge that a transport can have. The kit does not judge the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Knows {
    /// Whether the transport detects spurious losses: by D-SACK or timestamps, or by an ACK of a packet declared lost.
    pub spurious_losses: bool,
    /// Whether a long silence leads to a retransmission timeout or persistent congestion.
    pub timeouts: bool,
}

impl Knows {
    /// A transport that knows everything.
    pub const fn everything() -> Knows {
        Knows {
            spurious_losses: true,
            timeouts: true,
        }
    }
}
