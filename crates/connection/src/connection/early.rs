//! Acknowledgements that were recorded before what they acknowledge.
//!
//! A network card with several queues, a virtual switch and a mirrored port hand the two directions of a connection to the
//! capture separately, so a receiver's acknowledgement may come first. Taken as it comes, it would be of data that were not
//! captured, and the data that follow it would be retransmissions. So it waits for them, and everything behind it waits,
//! too. If they come in time, they are taken in before it, as of the same time. If not, they were not captured, and the
//! packets are taken in as they were recorded.

use std::collections::VecDeque;

use capture::packet::{Body, Flags, Packet, Segment};
use units::{Duration, Time};

use super::{Connection, MAX_DISTANCE, Side};
use crate::memory::Room;

/// The most packets of a connection that wait. A poll of one queue of a card takes no more (Linux `NAPI_POLL_WEIGHT`).
const MAX_HELD: usize = 64;

/// The longest time that they wait. A processor polls its cards for two ticks at most, which is 8 ms with 250 ticks per
/// second (Linux `netdev_budget_usecs`).
const HOLD_TIMEOUT: Duration = Duration::from_millis(10);

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
struct Held {
    at: Time,
    from: usize,
    ip_len: u32,
    id: u16,
    is_marked: bool,
    segment: Segment,
}

/// The packets that wait. The first one acknowledges what was not captured yet.
#[derive(Debug, Clone, Default)]
pub struct Early {
    held: VecDeque<Held>,
    /// The number of sequence numbers that the first one still lacks.
    lacking: u32,
    /// For each sender, the latest acknowledgement that waited in vain. Neither it nor an earlier one waits again.
    in_vain: [Option<u32>; 2],
}

impl Early {
    /// The number of bytes that it holds.
    pub fn held(&self) -> usize {
        size_of::<Early>() + self.held.capacity() * size_of::<Held>()
    }
}

impl Connection {
    /// Takes in a packet of this connection, or lets it wait.
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet<'_>, segment: &Segment, room: Room) {
        let is_waiting = self.early.as_ref().is_some_and(|one| !one.held.is_empty());
        if is_waiting || room == Room::Plenty && self.lacks(self.side_of(packet), segment) > 0 {
            self.hold(packet, segment, room);
        } else {
            self.take_in(packet, segment, room);
        }
    }

    /// Takes in the packets that wait, as they were recorded.
    pub fn release(&mut self, room: Room) {
        while let Some(first) = self.first_held() {
            self.take_first(first, room);
        }
        self.early = None;
    }

    #[cold]
    fn hold(&mut self, packet: &Packet<'_>, segment: &Segment, room: Room) {
        let one = Held {
            at: packet.at,
            from: self.side_of(packet),
            ip_len: packet.ip_len,
            id: packet.id,
            is_marked: packet.is_marked,
            segment: *segment,
        };
        let is_in_vain = |first: &Held, waiting: usize| {
            one.at.since(first.at) > HOLD_TIMEOUT || waiting >= MAX_HELD || room == Room::Little
        };
        while let Some(early) = &mut self.early
            && let Some(first) = early.held.front()
            && is_in_vain(first, early.held.len())
        {
            early.in_vain[first.from] = Some(first.segment.ack);
            self.settle(room);
        }
        let first = self.first_held();
        let found = first.map_or(0, |first| self.found(&first, &one));
        let early = self.early.get_or_insert_default();
        early.held.push_back(one);
        early.lacking = early.lacking.saturating_sub(found);
        if first.is_none() || early.lacking == 0 {
            self.settle(room);
        }
    }

    /// Takes in the packets that wait up to the first one that still lacks something.
    fn settle(&mut self, room: Room) {
        while let Some(first) = self.first_held() {
            let lacking = self.lacks(first.from, &first.segment);
            if lacking > 0 {
                let held = self.early.iter().flat_map(|early| &early.held);
                let found = held.map(|one| self.found(&first, one)).sum();
                let left = lacking.saturating_sub(found);
                if let Some(early) = &mut self.early {
                    early.lacking = left;
                }
                if left > 0 {
                    return;
                }
                self.take_found(&first, room);
            }
            self.take_first(first, room);
        }
    }

    /// Takes in what the first packet lacked.
    fn take_found(&mut self, first: &Held, room: Room) {
        let mut place = 1;
        while let Some(one) = self
            .early
            .as_ref()
            .and_then(|early| early.held.get(place))
            .copied()
        {
            if self.found(first, &one) == 0 {
                place += 1;
                continue;
            }
            if let Some(early) = &mut self.early {
                early.held.remove(place);
            }
            self.take(one, first.at, room);
        }
    }

    fn take_first(&mut self, first: Held, room: Room) {
        if let Some(early) = &mut self.early {
            early.held.pop_front();
        }
        self.take(first, first.at, room);
    }

    fn first_held(&self) -> Option<Held> {
        self.early.as_ref()?.held.front().copied()
    }

    fn take(&mut self, one: Held, at: Time, room: Room) {
        let packet = Packet {
            at: one.at.min(at),
            from: self.ends[one.from],
            to: self.ends[1 - one.from],
            ip_len: one.ip_len,
            id: one.id,
            is_marked: one.is_marked,
            tunnel: None,
            body: Body::Tcp(one.segment),
        };
        self.take_in(&packet, &one.segment, room);
    }

    /// How many sequence numbers this segment acknowledges that the other side is not known to have sent. It lacks nothing
    /// if it acknowledges more than a segment could: it is not of this connection, or the capture has a hole.
    #[inline]
    fn lacks(&self, from: usize, segment: &Segment) -> u32 {
        if self.is_quic || !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return 0;
        }
        let peer = &self.sides[1 - from];
        match &peer.flow {
            Some(flow) if flow.has_captured(segment) => 0,
            _ => self.lacks_of(peer, from, segment),
        }
    }

    #[cold]
    fn lacks_of(&self, peer: &Side, from: usize, segment: &Segment) -> u32 {
        let in_vain = self.early.as_ref().and_then(|early| early.in_vain[from]);
        if in_vain.is_some_and(|ack| ack.wrapping_sub(segment.ack) < MAX_DISTANCE) {
            return 0;
        }
        if peer.segments == 0 {
            // Half of the handshake comes first. If only one direction is captured, the other half never comes.
            let own = &self.sides[from];
            let is_answer = segment.flags.has(Flags::SYN);
            let is_half = is_answer && own.segments == 0 || !is_answer && own.has_sent_syn;
            return u32::from(is_half && in_vain.is_none());
        }
        let lacking = told(segment, peer).map(|(from, to)| peer.not_captured(from, to));
        let lacking = lacking[0].saturating_add(lacking[1]);
        if lacking > MAX_DISTANCE { 0 } else { lacking }
    }

    /// How many of the sequence numbers that `first` acknowledges and that were not captured are in this packet.
    fn found(&self, first: &Held, one: &Held) -> u32 {
        if one.from == first.from {
            return 0;
        }
        let segment = &one.segment;
        let peer = &self.sides[one.from];
        let has = |flags| u32::from(segment.flags.has(flags));
        if peer.segments == 0 {
            return has(Flags::SYN);
        }
        let start = segment.seq.wrapping_add(has(Flags::SYN));
        let end = start.wrapping_add(segment.len + has(Flags::FIN));
        let within = told(&first.segment, peer).map(|(from, to)| {
            let from = if is_before(from, start) { start } else { from };
            let to = if is_before(end, to) { end } else { to };
            peer.not_captured(from, to)
        });
        within[0] + within[1]
    }
}

impl Side {
    /// How many sequence numbers of a range this side is not known to have sent.
    fn not_captured(&self, from: u32, to: u32) -> u32 {
        if !is_before(from, to) {
            return 0;
        }
        if let Some(flow) = &self.flow {
            return flow.not_captured(from, to);
        }
        let Some(after) = self.after else { return 0 };
        let from = if is_before(from, after) { after } else { from };
        u32::try_from(to.wrapping_sub(from).cast_signed()).unwrap_or(0)
    }
}

/// The sequence numbers of `peer` that a segment acknowledges for the first time: those before its acknowledgement number,
/// and those of the first SACK block, which has the data that arrived last (RFC 2018, section 4).
fn told(segment: &Segment, peer: &Side) -> [(u32, u32); 2] {
    let ack = segment.ack;
    let before = match &peer.flow {
        Some(flow) => flow.acknowledged(),
        None => peer.after.unwrap_or(ack),
    };
    let block = segment.sack_blocks().first();
    let block = block.filter(|(from, _)| is_before(ack, *from)).copied();
    let new = |block| {
        peer.flow
            .as_deref()
            .map_or(block, |flow| flow.new_in(block))
    };
    [(before, ack), block.map_or((ack, ack), new)]
}

fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}
