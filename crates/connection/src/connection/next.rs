//! A SYN within a connection. It may begin another connection between the same ends, or come from anybody who knows the
//! addresses. So it begins a connection only after the other end has answered it, or a segment has followed it that is not
//! of the present connection. If the present connection is over, it begins one at once.

use capture::packet::{Flags, Packet, Segment};
use units::Duration;

use super::{Connection, MAX_DISTANCE};
use crate::memory::Room;

/// A SYN is forgotten this long after it was last sent. Linux sends it again after 32 s at most (`tcp_syn_retries`).
const SYN_TIMEOUT: Duration = Duration::from_secs(60);

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
        let next = self.next.take();
        if let Some(mut next) = next.filter(|next| packet.at.since(next.last) < SYN_TIMEOUT) {
            if next.has_syn(packet, segment) {
                next.on_packet(packet, segment, Room::Little);
                self.next = Some(next);
                return Turn::Held;
            }
            if next.is_confirmed_by(packet, segment) && !self.explains(packet, segment) {
                return Turn::Next(next);
            }
            self.next = Some(next);
        }
        if !self.is_over_at(packet, segment) {
            return Turn::Same;
        }
        let was_attempt = self.is_young() && packet.at.since(self.last) >= SYN_TIMEOUT;
        if self.is_closed() || was_attempt {
            self.next = None;
            return Turn::New;
        }
        let mut next = Box::new(Connection::new(packet, segment));
        next.on_packet(packet, segment, Room::Little);
        self.next = Some(next);
        Turn::Held
    }

    /// True if this is the SYN that its sender has sent before.
    fn has_syn(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        let side = &self.sides[self.side_of(packet)];
        segment.flags.has(Flags::SYN) && side.start == Some(segment.seq.wrapping_add(1))
    }

    /// True if the segment continues or answers the SYN of this connection.
    fn is_confirmed_by(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        let from = self.side_of(packet);
        let [own, other] = [from, 1 - from].map(|side| self.sides[side].start);
        let continues = own.is_some_and(|start| follows(segment.seq, start));
        let answers = other.is_some_and(|start| follows(segment.ack, start));
        continues && !segment.flags.has(Flags::SYN) || answers && segment.flags.has(Flags::ACK)
    }

    /// True if the segment may be of this connection, which is open.
    fn explains(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        let from = self.side_of(packet);
        let is_open = !self.is_closed() && !self.is_young() && !segment.flags.has(Flags::SYN);
        let acks = segment.flags.has(Flags::ACK) && self.has_number(1 - from, segment.ack);
        is_open && (acks || self.has_number(from, segment.seq))
    }

    /// True if a number may be one of this side's. Behind its FIN, it has none: Linux begins the next connection between the
    /// same ends 65,537 bytes further (`tcp_twsk_unique`).
    fn has_number(&self, side: usize, number: u32) -> bool {
        let of = &self.sides[side];
        let is_behind = |after: u32| number.wrapping_sub(after.wrapping_add(1)).cast_signed() > 0;
        let is_over = self.has_closed(side) && of.after.is_some_and(is_behind);
        of.is_near(number, MAX_DISTANCE) && !is_over
    }

    /// True if a segment of the handshake may acknowledge the other side's SYN. QUIC's handshake has no numbers.
    pub(super) fn may_answer(&self, from: usize, segment: &Segment) -> bool {
        let start = self.sides[1 - from].start;
        let is_told = segment.flags.has(Flags::ACK) && !self.is_quic;
        !is_told || start.is_none_or(|start| follows(segment.ack, start))
    }

    pub(super) fn side_of(&self, packet: &Packet<'_>) -> usize {
        usize::from(packet.from != self.ends[0])
    }
}

/// True if a number is soon after the first one of a connection.
fn follows(number: u32, start: u32) -> bool {
    number.wrapping_sub(start) < MAX_DISTANCE
}
