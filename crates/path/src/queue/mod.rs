//! Queue disciplines: which packet waits, which goes next, and which is dropped.
//!
//! This is the place for CoDel (RFC 8289), FQ-CoDel (RFC 8290) and RED. A discipline is one file here, one variant of
//! [`Discipline`] and one of [`Queue`]. It is asked at the instant a packet enters and at the instant the bottleneck is
//! ready for the next one (an argument of `dequeue` for those that measure how long a packet waited), and it owns the
//! count of its drops, so it may drop at either end, and any packet: `dequeue` may well drop all that waits. An ECN mark
//! and the flow that a packet belongs to would be fields of [`Waiting`], which travels with the packet.

mod droptail;

use units::{Bytes, Time};

use crate::counters::Count;
use crate::parcel::Ecn;
use droptail::DropTail;

/// How much may wait for the bottleneck.
///
/// The packet that is being transmitted has left the buffer and does not count; on a trace, that is from the first
/// opportunity that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffer {
    /// Everything may wait.
    #[default]
    Unlimited,
    /// At most so many bytes.
    Bytes(Bytes),
    /// At most so many packets, whatever their sizes.
    Packets(u64),
}

/// How the queue chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Discipline {
    /// First in, first out; a packet that finds no room is dropped.
    #[default]
    DropTail,
}

/// A packet that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiting<P> {
    pub(crate) entered: Time,
    pub(crate) size: Bytes,
    pub(crate) ecn: Ecn,
    pub(crate) packet: P,
}

/// A queue under one of the disciplines.
#[derive(Debug, Clone)]
pub(crate) enum Queue<P> {
    DropTail(DropTail<P>),
}

impl<P> Queue<P> {
    pub(crate) fn new(discipline: Discipline, buffer: Buffer) -> Queue<P> {
        match discipline {
            Discipline::DropTail => Queue::DropTail(DropTail::new(buffer)),
        }
    }

    /// A packet comes at its time of entry, and is kept or dropped.
    pub(crate) fn enqueue(&mut self, packet: Waiting<P>) {
        match self {
            Queue::DropTail(queue) => queue.enqueue(packet),
        }
    }

    /// The bottleneck takes the next packet.
    pub(crate) fn dequeue(&mut self) -> Option<Waiting<P>> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(),
        }
    }

    /// What waits.
    pub(crate) fn waiting(&self) -> Count {
        match self {
            Queue::DropTail(queue) => queue.waiting(),
        }
    }

    /// What was dropped so far.
    pub(crate) fn dropped(&self) -> Count {
        match self {
            Queue::DropTail(queue) => queue.dropped(),
        }
    }
}
