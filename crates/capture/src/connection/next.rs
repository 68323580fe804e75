//! A SYN within a connection. It may begin another connection between the same ends, or come from anybody who knows the
//! addresses. So it begins a connection only after the other end has answered it, or data have followed it.

use super::{Connection, Room};
use crate::packet::{Flags, Packet, Segment};

/// Further segments of a new connection are within this many bytes of its SYN.
const NEAR: u32 = 1 << 20;

/// The connection that a segment belongs to.
#[derive(Debug)]
pub enum Turn {
    /// The present one.
    Same,
    /// One that begins with this segment.
    New,
    /// One that may have begun. This segment is already taken in.
    Held,
    /// One that has begun with an earlier SYN.
    Next(Box<Connection>),
}

impl Connection {
    /// Which connection between the same ends this segment belongs to.
    #[inline]
    pub fn turn(&mut self, packet: &Packet<'_>, segment: &Segment) -> Turn {
        if self.next.is_none() && !segment.flags.has(Flags::SYN) {
            return Turn::Same;
        }
        self.turn_at_syn(packet, segment)
    }

    #[cold]
    fn turn_at_syn(&mut self, packet: &Packet<'_>, segment: &Segment) -> Turn {
        if let Some(mut next) = self.next.take() {
            if next.has_syn(packet, segment) {
                next.on_packet(packet, segment, Room::Little);
                self.next = Some(next);
                return Turn::Held;
            }
            if next.is_confirmed_by(packet, segment) {
                return Turn::Next(next);
            }
            self.next = Some(next);
        }
        if !self.is_over_at(packet, segment) {
            return Turn::Same;
        }
        if self.is_closed() || self.is_young() {
            return Turn::New;
        }
        let mut next = Box::new(Connection::new(packet, segment));
        next.on_packet(packet, segment, Room::Little);
        self.next = Some(next);
        Turn::Held
    }

    /// Whether this is the SYN that its sender has sent before.
    fn has_syn(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        let side = &self.sides[self.side_of(packet)];
        segment.flags.has(Flags::SYN) && side.start == Some(segment.seq.wrapping_add(1))
    }

    /// Whether the segment continues or answers the SYN of this connection.
    fn is_confirmed_by(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        let from = self.side_of(packet);
        let is_near = |start: Option<u32>, number: u32| {
            start.is_some_and(|start| number.wrapping_sub(start) < NEAR)
        };
        let continues =
            !segment.flags.has(Flags::SYN) && is_near(self.sides[from].start, segment.seq);
        let answers =
            segment.flags.has(Flags::ACK) && is_near(self.sides[1 - from].start, segment.ack);
        continues || answers
    }

    fn side_of(&self, packet: &Packet<'_>) -> usize {
        usize::from(packet.from != self.ends[0])
    }
}
