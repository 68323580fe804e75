//! Translates a decrypted QUIC connection to TCP, so that the analysis of TCP connections works for it, too.
//!
//! Each byte of stream data gets a place in one byte sequence when it is first sent, whatever its stream. A retransmission
//! has the same place. An acknowledgement of packets becomes one of the bytes that they carried: a cumulative
//! acknowledgement up to the first gap, and SACK blocks beyond it. Packet numbers stand for timestamps: they tell which
//! packet an acknowledgement belongs to.

use std::collections::VecDeque;
use std::ops::Range;

use capture::packet::{Flags, Packet, Segment};
use capture::quic::delays::Delays;
use capture::quic::frames::Frame;
use connection::memory::{Holder, Room};
use connection::{Connection, Ranges};
use hashbrown::HashMap;
use units::{Duration, Time};

/// The most packets of a side that wait for an acknowledgement, and the most pieces of its streams.
const MAX_PACKETS: usize = 1 << 14;

/// The same when memory is short.
const MAX_PACKETS_WHEN_SHORT: usize = 1 << 6;

/// The most places of one packet. Each becomes a TCP segment. The data beyond count as not captured.
const MAX_PLACES_OF_PACKET: usize = 64;

/// The most places of all packets of a side that wait for an acknowledgement.
const MAX_PLACES: usize = 1 << 16;

/// The most ACK frames of one packet that are read. A sender needs only one.
const MAX_ACKS_OF_PACKET: usize = 4;

/// The first sequence number after the SYN.
const START: u64 = 1;

/// A packet is full if it is at most this much shorter than the longest packet.
const FULL_PACKET_SLACK_BYTES: u32 = 64;

/// The state of one side as a sender.
#[derive(Debug, Default)]
struct Side {
    /// The packets that may still be acknowledged. `first` is the number of the first one.
    sent: VecDeque<Sent>,
    first: u64,
    /// The number of places in these packets.
    places: usize,
    /// The places of each stream's data, in order.
    streams: HashMap<u64, Vec<Piece>>,
    pieces: usize,
    end: u64,
    arrived: Ranges,
    una: u64,
    longest: u32,
    /// The greatest MAX_DATA of the other side.
    edge: Option<u64>,
    /// The acknowledgements that this side has sent, in order: when, and with which running number.
    acks: VecDeque<(Time, u32)>,
    ack_count: u32,
    heard: u32,
}

#[derive(Debug, Clone, Default)]
struct Sent {
    at: Option<Time>,
    places: Box<[Range<u64>]>,
    /// The places of a stream that this packet resets. Its sender does not send them again.
    given_up: Box<[Range<u64>]>,
    is_acked: bool,
    is_eliciting: bool,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    offset: u64,
    place: u64,
    len: u64,
}

/// A decrypted connection, translated to TCP.
#[derive(Debug)]
pub struct Course {
    /// The TCP connection.
    pub tcp: Connection,
    /// The sides' parameters of ACK delays.
    pub delays: [Delays; 2],
    sides: [Side; 2],
}

/// A decrypted packet.
#[derive(Debug, Clone, Copy)]
pub struct Opened<'f> {
    /// The side that sent it; 0 is the client.
    pub side: usize,
    /// Its packet number.
    pub number: u64,
    /// The length of its datagram.
    pub len: u32,
    /// Its frames.
    pub frames: &'f [Frame],
}

fn low(place: u64) -> u32 {
    u32::try_from(place & u64::from(u32::MAX)).unwrap_or_default()
}

impl Course {
    /// A connection whose first packet of the client is this one.
    pub fn new(packet: &Packet<'_>) -> Course {
        let syn = Segment {
            flags: Flags::SYN,
            ..Segment::default()
        };
        let mut tcp = Connection::new(packet, &syn);
        tcp.is_quic = true;
        let side = || Side {
            end: START,
            una: START,
            ..Side::default()
        };
        let mut course = Course {
            tcp,
            delays: Default::default(),
            sides: [side(), side()],
        };
        course.shake(packet, 0, Flags::SYN);
        course
    }

    /// Translates a handshake packet to a TCP segment with these flags.
    pub fn shake(&mut self, packet: &Packet<'_>, side: usize, flags: Flags) {
        let packet = self.seen_from(packet, side);
        let segment = Segment {
            seq: low(START),
            flags,
            ..Segment::default()
        };
        let segment = Segment {
            seq: if flags.has(Flags::SYN) {
                0
            } else {
                segment.seq
            },
            ..segment
        };
        self.tcp.on_packet(&packet, &segment, Room::Plenty);
    }

    /// The packet with the first ends of the connection, even after a migration.
    fn seen_from<'p>(&self, packet: &Packet<'p>, side: usize) -> Packet<'p> {
        let ends = self.tcp.ends;
        Packet {
            from: ends[side],
            to: ends[1 - side],
            ..*packet
        }
    }

    /// The number of bytes that it holds, itself not included.
    pub fn held(&self) -> usize {
        let sides = self.sides.iter().map(Side::held);
        self.tcp.held() + sides.sum::<usize>()
    }

    /// Reduces the samples to this many bytes, and the packets that wait for an acknowledgement to the latest few.
    pub fn thin(&mut self, most: usize) {
        self.tcp.thin(most);
        for side in [0, 1] {
            self.shorten(side, MAX_PACKETS_WHEN_SHORT);
            self.sides[side].shrink();
        }
    }

    /// A side's packets beyond the latest `most` are no longer followed.
    fn shorten(&mut self, side: usize, most: usize) {
        let gone = self.sides[side].shorten(most);
        if let Some(flow) = self.tcp.sides[side].flow.as_deref_mut() {
            flow.totals.unfollowed += gone;
        }
    }

    /// Takes in a decrypted packet.
    pub fn on_packet(&mut self, packet: &Packet<'_>, opened: &Opened<'_>, room: Room) {
        let packet = self.seen_from(packet, opened.side);
        let (mut places, mut given_up) = (Vec::new(), Vec::new());
        let mut is_eliciting = false;
        let mut acks = 0;
        for frame in opened.frames {
            match frame {
                Frame::Ack { ranges, delay_us } => {
                    acks += 1;
                    if acks <= MAX_ACKS_OF_PACKET {
                        self.on_ack(&packet, opened.side, ranges, *delay_us, room);
                    }
                    continue;
                }
                Frame::Stream { id, offset, len } => {
                    self.sides[opened.side].place(*id, *offset, *len, &mut places);
                }
                Frame::MaxData(most) => {
                    let other = &mut self.sides[1 - opened.side];
                    let edge = most.saturating_add(START);
                    other.edge = Some(other.edge.map_or(edge, |old| old.max(edge)));
                }
                Frame::Reset(id) => {
                    given_up.extend(self.sides[opened.side].give_up(*id));
                }
                Frame::MaxStreamData(..) | Frame::NewId(_) | Frame::Other => {}
            }
            is_eliciting = true;
        }
        self.send(&packet, opened, &places, room);
        let sent = Sent {
            at: Some(packet.at),
            places: places.into(),
            given_up: given_up.into(),
            is_acked: false,
            is_eliciting,
        };
        self.sides[opened.side].keep(opened.number, sent);
        let most = match room {
            Room::Plenty => MAX_PACKETS,
            Room::Little => MAX_PACKETS_WHEN_SHORT,
        };
        self.shorten(opened.side, most);
    }

    fn send(
        &mut self,
        packet: &Packet<'_>,
        opened: &Opened<'_>,
        places: &[Range<u64>],
        room: Room,
    ) {
        let near = self.tcp.halves(opened.side).0.unwrap_or_default();
        let [side, other] = pair(&mut self.sides, opened.side);
        side.longest = side.longest.max(opened.len);
        let is_short = opened.len.saturating_add(FULL_PACKET_SLACK_BYTES) < side.longest;
        // The acknowledgements that the sender knew of: those that passed at least one round trip from the capture to the
        // sender earlier.
        while let Some((at, count)) = other.acks.front()
            && *at + near <= packet.at
        {
            side.heard = *count;
            other.acks.pop_front();
        }
        let (heard, edge) = (side.heard, side.edge);
        for (index, place) in places.iter().enumerate() {
            let segment = Segment {
                seq: low(place.start),
                flags: if is_short {
                    Flags::PSH
                } else {
                    Flags::default()
                },
                len: u32::try_from(place.end - place.start).unwrap_or(0),
                timestamps: Some((low(opened.number), heard)),
                ..Segment::default()
            };
            let ip_len = if index == 0 { packet.ip_len } else { 0 };
            let packet = Packet { ip_len, ..*packet };
            self.tcp.on_packet(&packet, &segment, room);
        }
        if let Some((edge, flow)) = edge.zip(self.tcp.sides[opened.side].flow.as_deref_mut()) {
            flow.offer(low(edge));
        }
    }

    /// `side` acknowledges packets of the other side.
    fn on_ack(
        &mut self,
        packet: &Packet<'_>,
        side: usize,
        ranges: &[(u64, u64)],
        delay_us: u64,
        room: Room,
    ) {
        if let Some(flow) = self.tcp.sides[1 - side].flow.as_deref_mut() {
            let delay = Duration::from_micros(delay_us);
            flow.set_ack_delay(delay.min(self.delays[side].longest));
        }
        let [own, other] = pair(&mut self.sides, side);
        let Some(&(_, largest)) = ranges.first() else {
            return;
        };
        if let Some(sent) = other.of(largest)
            && sent.is_eliciting
            && !sent.is_acked
            && let Some(at) = sent.at
        {
            self.tcp.on_measured(side, packet.at.since(at));
        }
        let (mut new, mut again) = (Vec::new(), Vec::new());
        other.hear(ranges, &mut new, &mut again);
        if new.is_empty() && again.is_empty() {
            return;
        }
        own.ack_count = own.ack_count.wrapping_add(1);
        if own.acks.len() >= MAX_PACKETS {
            own.acks.pop_front();
        }
        own.acks.push_back((packet.at, own.ack_count));
        let una = other.una;
        new.retain(|range: &Range<u64>| range.end > una);
        let base = Segment {
            ack: low(una),
            flags: Flags::ACK,
            timestamps: Some((own.ack_count, low(largest))),
            ..Segment::default()
        };
        let block = |range: &Range<u64>| (low(range.start), low(range.end));
        let mut tell = |blocks: &[(u32, u32)]| {
            let mut segment = base;
            segment.sacks[..blocks.len()].copy_from_slice(blocks);
            segment.sack_count = u8::try_from(blocks.len()).unwrap_or(0);
            self.tcp.on_packet(packet, &segment, room);
        };
        // A duplicate is reported as in D-SACK: in the first block, below the acknowledgement or within the second block.
        for range in again.iter().filter(|range| range.end <= una) {
            tell(&[block(range)]);
        }
        let blocks: Vec<_> = new.iter().map(block).collect();
        if blocks.is_empty() {
            tell(&[]);
        }
        for blocks in blocks.chunks(4) {
            tell(blocks);
        }
    }
}

impl Side {
    /// The number of bytes that its lists hold. A stream's list has room for at least four pieces.
    fn held(&self) -> usize {
        let streams = self.streams.capacity() * size_of::<(u64, Vec<Piece>)>();
        let pieces = self.pieces + self.streams.len() * 4;
        self.sent.capacity() * size_of::<Sent>()
            + self.places * size_of::<Range<u64>>()
            + self.acks.capacity() * size_of::<(Time, u32)>()
            + streams
            + pieces * size_of::<Piece>()
            + self.arrived.held()
    }

    /// Frees spare capacity, and forgets the pieces of which nothing is outstanding.
    fn shrink(&mut self) {
        self.forget_pieces(MAX_PACKETS_WHEN_SHORT);
        self.streams.shrink_to_fit();
        self.sent.shrink_to_fit();
        let gone = self.acks.len().saturating_sub(MAX_PACKETS_WHEN_SHORT);
        self.acks.drain(..gone);
        self.acks.shrink_to_fit();
        self.arrived.thin();
    }

    /// Forgets the pieces of which nothing is outstanding, and all if this many would be left.
    fn forget_pieces(&mut self, most: usize) {
        let una = self.una;
        self.streams.retain(|_, pieces| {
            pieces.retain(|piece| piece.place + piece.len > una);
            !pieces.is_empty()
        });
        self.pieces = self.streams.values().map(Vec::len).sum();
        if self.pieces > most {
            self.streams.clear();
            self.pieces = 0;
        }
    }

    /// Appends the places of this stream data. New data get new places.
    fn place(&mut self, id: u64, offset: u64, len: u64, places: &mut Vec<Range<u64>>) {
        let Some(to) = offset.checked_add(len).filter(|_| len > 0) else {
            return;
        };
        if places.len() >= MAX_PLACES_OF_PACKET {
            return;
        }
        if self.pieces > MAX_PACKETS {
            self.forget_pieces(MAX_PACKETS / 2);
        }
        let pieces = self.streams.entry(id).or_default();
        let known = pieces.last().map_or(offset, |last| last.offset + last.len);
        let first = pieces.partition_point(|piece| piece.offset + piece.len <= offset);
        for piece in &pieces[first..] {
            if piece.offset >= to || places.len() >= MAX_PLACES_OF_PACKET {
                break;
            }
            let (from, to) = (offset.max(piece.offset), to.min(piece.offset + piece.len));
            if from < to {
                let place = piece.place + (from - piece.offset);
                push(places, place..place + (to - from));
            }
        }
        // The data between were not captured.
        if to <= known || to - known > 1 << 29 {
            return;
        }
        let grown = to - known;
        match pieces.last_mut() {
            Some(last) if last.place + last.len == self.end => last.len += grown,
            _ => {
                pieces.push(Piece {
                    offset: known,
                    place: self.end,
                    len: grown,
                });
                self.pieces += 1;
            }
        }
        let skipped = offset.saturating_sub(known);
        push(places, self.end + skipped..self.end + grown);
        self.end += grown;
    }

    /// Removes a stream that its sender resets. Returns its places.
    fn give_up(&mut self, id: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let pieces = self.streams.remove(&id).unwrap_or_default();
        self.pieces = self.pieces.saturating_sub(pieces.len());
        let places = pieces.into_iter();
        places.map(|piece| piece.place..piece.place + piece.len)
    }

    fn of(&self, number: u64) -> Option<&Sent> {
        let index = number.checked_sub(self.first)?;
        self.sent.get(usize::try_from(index).ok()?)
    }

    /// Remembers a packet until it is acknowledged.
    fn keep(&mut self, number: u64, sent: Sent) {
        if self.sent.is_empty() {
            self.first = number;
        }
        let Some(index) = number.checked_sub(self.first) else {
            return;
        };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index > self.sent.len() + MAX_PACKETS {
            // More packet numbers were skipped than any sender would.
            self.shorten(0);
            self.first = number;
            self.places = sent.places();
            self.sent.push_back(sent);
            return;
        }
        while self.sent.len() < index {
            self.sent.push_back(Sent::default());
        }
        let places = sent.places();
        match self.sent.get_mut(index) {
            Some(known) if known.at.is_none() => *known = sent,
            Some(_) => return,
            None => self.sent.push_back(sent),
        }
        self.places += places;
    }

    /// Keeps the latest packets, at most this many. The data of the others count as arrived, because nothing will be known of
    /// them. Returns how many packets with data those are.
    fn shorten(&mut self, most: usize) -> u64 {
        let mut with_data = 0;
        while self.sent.len() > most || self.places > MAX_PLACES {
            let Some(gone) = self.sent.pop_front() else {
                break;
            };
            self.first += 1;
            self.places -= gone.places();
            with_data += u64::from(!gone.places.is_empty());
            for place in gone.places.into_iter().chain(gone.given_up) {
                self.arrived.add(place, |_| ());
            }
        }
        with_data
    }

    /// Packets are acknowledged. Collects which of their data are new, and which had arrived before.
    fn hear(
        &mut self,
        ranges: &[(u64, u64)],
        new: &mut Vec<Range<u64>>,
        again: &mut Vec<Range<u64>>,
    ) {
        let last = self.first + self.sent.len() as u64;
        for (from, to) in ranges {
            for number in *from.max(&self.first)..to.saturating_add(1).min(last) {
                let index = usize::try_from(number - self.first).unwrap_or(usize::MAX);
                let Some(sent) = self.sent.get_mut(index).filter(|sent| !sent.is_acked) else {
                    continue;
                };
                sent.is_acked = true;
                self.places -= sent.places();
                for place in std::mem::take(&mut sent.places) {
                    let mut fresh = 0;
                    self.arrived.add(place.clone(), |part| {
                        fresh += part.end - part.start;
                        new.push(part);
                    });
                    if fresh == 0 {
                        again.push(place);
                    }
                }
                for place in std::mem::take(&mut sent.given_up) {
                    self.arrived.add(place, |_| ());
                }
            }
        }
        while self.sent.front().is_some_and(|sent| sent.is_acked) {
            self.sent.pop_front();
            self.first += 1;
        }
        self.una = self
            .arrived
            .first_from(START)
            .unwrap_or(self.una)
            .max(self.una);
        new.sort_unstable_by_key(|range| range.start);
        new.dedup_by(|next, before| {
            let is_one = before.end == next.start;
            if is_one {
                before.end = next.end;
            }
            is_one
        });
    }
}

impl Sent {
    fn places(&self) -> usize {
        self.places.len() + self.given_up.len()
    }
}

fn push(places: &mut Vec<Range<u64>>, place: Range<u64>) {
    match places.last_mut() {
        Some(last) if last.end == place.start => last.end = place.end,
        _ => places.push(place),
    }
}

/// This side, and the other.
fn pair(sides: &mut [Side; 2], side: usize) -> [&mut Side; 2] {
    let [client, server] = sides;
    if side == 0 {
        [client, server]
    } else {
        [server, client]
    }
}
