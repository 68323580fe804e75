//! What a link needs to know of a packet.

use units::Bytes;

/// A packet as the link sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parcel {
    /// Its size as the link carries it, headers included.
    pub size: Bytes,
    /// Whose it is: packets of one flow have the same number. It stands for the addresses and ports that a real queue
    /// would hash; only [`Discipline::FqCoDel`](crate::Discipline) looks at it.
    pub flow: u64,
    /// Whether a queue may mark it in place of dropping it.
    pub ecn: Ecn,
}

/// Explicit congestion notification (RFC 3168, section 5: the ECN field of the IP header).
///
/// ECT(0) and ECT(1) are the same to every queue here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not-ECT: only its loss tells the sender of congestion.
    #[default]
    NotCapable,
    /// ECT: its sender understands a mark.
    Capable,
    /// CE: a queue has marked it.
    Marked,
}

impl From<Bytes> for Parcel {
    /// A packet of this size, of flow 0, not capable of ECN.
    fn from(size: Bytes) -> Parcel {
        Parcel {
            size,
            ..Parcel::default()
        }
    }
}
