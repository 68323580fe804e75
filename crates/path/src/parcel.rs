//! The properties of a packet that a link needs.

use units::Bytes;

/// A packet as the link sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parcel {
    /// Its size on the link, headers included.
    pub size: Bytes,
    /// Its flow: packets of one flow have the same number. It stands for the addresses and ports that a real queue
    /// would hash. Only [`Discipline::FqCoDel`](crate::Discipline) uses it.
    pub flow: u64,
    /// The ECN field, which decides if a queue may mark it in place of dropping it.
    pub ecn: Ecn,
}

/// Explicit congestion notification (RFC 3168, section 5: the ECN field of the IP header).
///
/// ECT(0) and ECT(1) are the same to every queue but [`Discipline::DualPi2`](crate::Discipline).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not-ECT: only a loss tells the sender of congestion.
    #[default]
    NotCapable,
    /// ECT(0): the sender responds to a mark as to a loss.
    Capable,
    /// ECT(1): the sender responds a little to each mark, as L4S asks (RFC 9331, section 4.3).
    L4s,
    /// CE: a queue has marked it.
    Marked,
}

impl From<Bytes> for Parcel {
    /// Returns a packet of this size, of flow 0, without ECN.
    fn from(size: Bytes) -> Parcel {
        Parcel {
            size,
            ..Parcel::default()
        }
    }
}
