//! A TCP connection as a capture shows it.

mod early;
mod next;

use capture::packet::{Endpoint, Flags, Packet, Segment, Tunnel};
use units::{Duration, Time};

use crate::account::Shares;
use crate::ecn;
use crate::flow::{Flow, IpPacket, Passage, Vantage};
use crate::handshake::Handshake;
use crate::memory::{Holder, Room};
use early::Early;

pub use next::Turn;

/// The capture is at an end if less than one part in this many of the round trip is on that end's side.
const NEAR_END_DIVISOR: u64 = 10;

/// The sequence numbers of a sender's RST and FIN are within this many bytes of those that it has sent.
const MAX_CLOSE_DISTANCE: u32 = 1 << 24;

/// The sequence numbers of its other segments are within this many bytes of those that are outstanding.
const MAX_DISTANCE: u32 = 1 << 20;

/// One end of a connection, as a sender.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// The first sequence number of its data, if its SYN was captured.
    start: Option<u32>,
    /// The options of its SYN.
    mss: Option<u16>,
    window_scale: Option<u8>,
    has_sent_syn: bool,
    /// The sequence number after its latest segment that was near those before.
    after: Option<u32>,
    /// True if the options of its SYN were not captured completely.
    is_cut: bool,
    has_timestamps: bool,
    /// Its data. `None` before the first.
    pub flow: Option<Box<Flow>>,
    /// Segments, with or without data.
    pub segments: u64,
}

/// A TCP connection.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Its ends. The client is the first, as far as that is known.
    pub ends: [Endpoint; 2],
    /// The same ends, as senders.
    pub sides: [Side; 2],
    /// When its first packet passed.
    pub first: Time,
    /// When its last packet passed.
    pub last: Time,
    /// Its handshake.
    pub handshake: Handshake,
    /// The innermost tunnel that carried it.
    pub tunnel: Option<Tunnel>,
    /// The ends that have sent FIN or RST, as bits.
    fins: u8,
    /// The meaning of CWR and ECE.
    ecn: ecn::Meaning,
    /// True if it was reset.
    pub is_reset: bool,
    /// True if it is a QUIC connection whose packets were decrypted.
    pub is_quic: bool,
    /// A connection between the same ends that may have begun.
    next: Option<Box<Connection>>,
    /// Packets that wait for one that was recorded late.
    early: Option<Box<Early>>,
    /// Segments.
    segments: u64,
    /// Where the capture was taken, for the data of each side.
    vantages: [Vantage; 2],
    /// The least round-trip time from the capture to each side, if QUIC has told it.
    measured: [Option<Duration>; 2],
    /// The bytes that [`Memory`](crate::memory::Memory) has counted for it.
    counted: usize,
}

impl Connection {
    /// A connection whose first captured packet is this one.
    pub fn new(packet: &Packet<'_>, segment: &Segment) -> Connection {
        let is_answer = segment.flags.has(Flags::SYN) && segment.flags.has(Flags::ACK);
        let ends = if is_answer {
            [packet.to, packet.from]
        } else {
            [packet.from, packet.to]
        };
        Connection {
            ends,
            sides: [Side::default(), Side::default()],
            first: packet.at,
            last: packet.at,
            handshake: Handshake::default(),
            tunnel: packet.tunnel,
            fins: 0,
            ecn: ecn::Meaning::default(),
            is_reset: false,
            is_quic: false,
            next: None,
            early: None,
            segments: 0,
            vantages: [Vantage::Elsewhere; 2],
            measured: [None; 2],
            counted: 0,
        }
    }

    /// True if this SYN begins another connection between the same ends: this connection was closed, or the SYN has another
    /// sequence number.
    fn is_over_at(&self, packet: &Packet<'_>, segment: &Segment) -> bool {
        if !segment.flags.has(Flags::SYN) {
            return false;
        }
        let from = self.side_of(packet);
        let side = &self.sides[from];
        let is_answer = segment.flags.has(Flags::ACK);
        if !self.may_answer(from, segment) {
            return true;
        }
        let is_own = match side.start {
            Some(start) => start == segment.seq.wrapping_add(1),
            // Both ends may send a SYN at once (RFC 9293, section 3.5).
            None => side.segments == 0 && (is_answer || self.is_young()),
        };
        if is_answer {
            // A second SYN-ACK with another sequence number, as from a server with SYN cookies, belongs to the same
            // connection.
            !is_own && !self.is_young()
        } else {
            !is_own || self.is_closed()
        }
    }

    /// True if the capture shows only a handshake so far.
    fn is_young(&self) -> bool {
        !self.handshake.is_done() && self.sides.iter().all(|side| side.flow.is_none())
    }

    /// True if it is closed: both ends have sent FIN, or one has sent RST.
    fn is_closed(&self) -> bool {
        self.fins == 3 || self.is_reset
    }

    /// True if this side has sent FIN.
    fn has_closed(&self, side: usize) -> bool {
        self.fins >> side & 1 == 1
    }

    /// Takes in a packet in its turn.
    fn take_in(&mut self, packet: &Packet<'_>, segment: &Segment, room: Room) {
        let from = self.side_of(packet);
        let at = packet.at.max(self.last);
        self.last = at;
        self.segments += 1;
        let side = &self.sides[from];
        let is_near = side.after.is_none() || side.is_near(segment.seq, MAX_CLOSE_DISTANCE);
        if segment.flags.has(Flags::RST) {
            self.is_reset |= is_near;
            return;
        }
        if !self.handshake.is_done() && self.may_answer(from, segment) {
            self.handshake.on_segment(at, segment, from == 0);
            self.look_around();
            if self.handshake.is_done() {
                // Data in a SYN came before.
                self.take_handshake(0);
                self.take_handshake(1);
            }
        }
        self.ecn.on_segment(segment);
        self.sides[from].on_segment(segment, is_near);
        // The acknowledgement comes first: the sender had processed it before it sent the data.
        let is_ack = segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN);
        let mut has_moved = is_ack && self.take_ack(from, packet, segment, room);
        if segment.len > 0 {
            has_moved |= self.take_data(from, packet, segment, room);
        } else if let Some(flow) = &mut self.sides[from].flow
            && (self.is_quic || flow.is_near(segment.seq, MAX_DISTANCE.into()))
        {
            flow.on_no_data(packet.id);
        }
        if has_moved {
            self.look_around();
        }
        if segment.flags.has(Flags::FIN) && is_near {
            self.close(from, segment);
        }
    }

    /// Takes in an acknowledgement from this side. Returns whether round-trip times have changed.
    fn take_ack(
        &mut self,
        from: usize,
        packet: &Packet<'_>,
        segment: &Segment,
        room: Room,
    ) -> bool {
        let scale = self.scale_of(from);
        let passage = self.passage(1 - from, room);
        let flow = self.sides[1 - from].flow.as_deref_mut();
        flow.is_some_and(|flow| flow.on_ack(passage, segment, packet.id, scale))
    }

    /// Takes in data of this side. Returns whether round-trip times have changed.
    fn take_data(
        &mut self,
        from: usize,
        packet: &Packet<'_>,
        segment: &Segment,
        room: Room,
    ) -> bool {
        let passage = self.passage(from, room);
        if self.sides[from].flow.is_none() {
            self.open(from, passage);
        }
        let ip = IpPacket {
            headers: packet.ip_len.saturating_sub(segment.len).into(),
            id: packet.id,
            is_marked: packet.is_marked,
        };
        let flow = self.sides[from].flow.as_deref_mut();
        flow.is_some_and(|flow| flow.on_data(passage, segment, ip, self.ecn))
    }

    /// The present packet, for the data of this side.
    fn passage(&self, side: usize, room: Room) -> Passage {
        Passage {
            at: self.last,
            vantage: self.vantages[side],
            room,
        }
    }

    /// This side has closed with this segment, unless it has sent data behind it.
    fn close(&mut self, from: usize, segment: &Segment) {
        if let Some(flow) = &mut self.sides[from].flow {
            if !flow.ends_at(segment.seq.wrapping_add(segment.len)) {
                return;
            }
            flow.on_close(segment);
        }
        self.fins |= 1 << from;
    }

    /// This side sends data for the first time.
    fn open(&mut self, from: usize, passage: Passage) {
        let opened = self.handshake.done.unwrap_or(passage.at);
        let full = self.mss_of(from);
        let side = &mut self.sides[from];
        let mut flow = Flow::new(opened, side.start, full, !self.is_quic);
        flow.refresh(passage.vantage);
        side.flow = Some(Box::new(flow));
        self.take_handshake(from);
    }

    /// A sender's RTprop includes its handshake, whose packets have no serialization time (Linux `tcp_synack_rtt_meas`).
    fn take_handshake(&mut self, side: usize) {
        let vantage = self.vantages[side];
        let rtt = self.handshake.rtt().filter(|_| !self.is_quic);
        let is_known = vantage == Vantage::Sender || self.sides[side].has_timestamps;
        let flow = self.sides[side].flow.as_deref_mut();
        if let Some(((flow, rtt), done)) = flow.zip(rtt).zip(self.handshake.done) {
            flow.on_handshake(done, rtt, is_known.then_some(vantage));
        }
    }

    /// How long each limit held this side's data. `None` without its acknowledgements; also away from the sender if the
    /// scale of the receive window is unknown.
    pub fn shares(&self, side: usize) -> Option<Shares> {
        let flow = self.sides[side].flow.as_deref()?;
        let near = self.halves(side).0.unwrap_or_default();
        (flow.totals.acks > 0 && self.knows_window(side))
            .then(|| flow.shares(self.last, near, self.vantages[side]))
    }

    /// The number of packets that a segment of this connection is made of.
    #[inline]
    pub fn packets_in(&self, packet: &Packet<'_>, segment: &Segment) -> u64 {
        let flow = self.sides[self.side_of(packet)].flow.as_deref();
        flow.map_or(1, |flow| flow.packets_in(segment.len.into()))
    }

    /// The packet's number follows that of another connection between the same hosts.
    #[cold]
    pub fn on_number_of_other(&mut self, packet: &Packet<'_>) {
        let from = self.side_of(packet);
        if let Some(flow) = &mut self.sides[from].flow {
            flow.on_number_of_other(packet.id);
        }
    }

    /// The payload of both directions.
    pub fn payload(&self) -> u64 {
        self.flows().map(|flow| flow.totals.bytes).sum()
    }

    /// The capture's clock was set back: nothing that began before is measured.
    pub fn on_clock_step(&mut self) {
        self.release(Room::Plenty);
        self.handshake.spoil();
        let sides = self.sides.iter_mut();
        let flows = sides.filter_map(|side| side.flow.as_deref_mut());
        flows.for_each(Flow::on_clock_step);
        if let Some(next) = &mut self.next {
            next.on_clock_step();
        }
    }

    /// True if its memory must be counted again: after each of its first packets, then after every sixteenth, and while packets
    /// wait.
    #[inline]
    pub fn is_to_be_counted(&self) -> bool {
        self.segments < 16 || self.segments.is_multiple_of(16) || self.early.is_some()
    }

    /// The directions with data.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.sides.iter().filter_map(|side| side.flow.as_deref())
    }

    /// Drops the state that only further packets would need.
    pub fn rest(&mut self) {
        let sides = self.sides.iter_mut();
        let flows = sides.filter_map(|side| side.flow.as_deref_mut());
        flows.for_each(Flow::rest);
    }

    /// The window scale of this side; `None` if it is unknown.
    fn scale_of(&self, side: usize) -> Option<u8> {
        if self.is_quic {
            return None;
        }
        let told = |side: &Side| side.has_sent_syn && (side.window_scale.is_some() || !side.is_cut);
        let is_without = |side: &Side| told(side) && side.window_scale.is_none();
        // The option is valid only if both SYNs have it (RFC 7323, section 2.2).
        if self.sides.iter().all(told) && self.sides.iter().any(is_without) {
            return Some(0);
        }
        let [one, other] = &self.sides;
        let own = self.sides[side].window_scale;
        own.filter(|_| one.window_scale.is_some() && other.window_scale.is_some())
    }

    /// True if the capture tells when the receive window limits this side's data.
    fn knows_window(&self, side: usize) -> bool {
        let is_known = self.is_quic || self.scale_of(1 - side).is_some();
        is_known || self.vantages[side] == Vantage::Sender
    }

    /// The payload of a full segment from this side, if a SYN told it: the lower of both MSS, less the timestamp option.
    fn mss_of(&self, side: usize) -> Option<u64> {
        let other = u64::from(self.sides[1 - side].mss?);
        let own = self.sides[side].mss.map_or(other, u64::from);
        let option = if self.sides[side].has_timestamps {
            12
        } else {
            0
        };
        Some(own.min(other).saturating_sub(option).max(1))
    }

    /// QUIC has told a round-trip time from the capture to this side.
    pub fn on_measured(&mut self, side: usize, span: Duration) {
        let half = &mut self.measured[side];
        if half.is_none_or(|least| span < least) {
            *half = Some(span);
            self.look_around();
        }
    }

    /// Updates the place of the capture after the least round-trip times may have changed.
    fn look_around(&mut self) {
        self.vantages = [self.vantage(0), self.vantage(1)];
    }

    /// Where the capture was taken, for the data of this side.
    fn vantage(&self, side: usize) -> Vantage {
        let (near, far) = self.halves(side);
        match near.zip(far) {
            Some((near, far)) if near * NEAR_END_DIVISOR <= near + far => Vantage::Sender,
            _ => Vantage::Elsewhere,
        }
    }

    /// The least round-trip times from the capture to this side, and to the other side, as far as they are known.
    pub fn halves(&self, side: usize) -> (Option<Duration>, Option<Duration>) {
        let handshake = [self.handshake.to_client, self.handshake.to_server];
        let flow = self.sides[side].flow.as_deref();
        let near = flow.and_then(Flow::nearest);
        let least = |one: Option<Duration>, other: Option<Duration>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let far = least(
            least(handshake[1 - side], self.measured[1 - side]),
            flow.and_then(Flow::far),
        );
        let near = least(least(handshake[side], self.measured[side]), near);
        // An upper bound says where the capture was taken only if it is short.
        let bound = flow.and_then(Flow::nearest_bound);
        let bound =
            bound.filter(|near| far.is_some_and(|far| *near * NEAR_END_DIVISOR <= *near + far));
        (least(near, bound), far)
    }

    /// True if nothing tells what this side's sender knew when it sent. Away from the sender, TCP's timestamps tell it;
    /// QUIC has none.
    pub fn is_blind(&self, side: usize, is_at_sender: bool) -> bool {
        !is_at_sender && (self.is_quic || !self.sides[side].has_timestamps)
    }

    /// True if this side's segments have timestamps.
    pub fn has_timestamps(&self, side: usize) -> bool {
        self.sides[side].has_timestamps
    }
}

impl Holder for Connection {
    #[inline]
    fn held(&self) -> usize {
        let next = self.next.as_deref().map_or(0, Connection::held);
        let early = self.early.as_deref().map_or(0, Early::held);
        size_of::<Connection>() + self.flows().map(Flow::held).sum::<usize>() + next + early
    }

    fn course(&self) -> usize {
        let next = self.next.as_deref().map_or(0, Connection::course);
        self.flows().map(Flow::course).sum::<usize>() + next
    }

    fn thin(&mut self, most: usize) {
        self.release(Room::Little);
        if self.is_closed() {
            self.rest();
        }
        let each = most / self.flows().count().max(1);
        let sides = self.sides.iter_mut();
        let flows = sides.filter_map(|side| side.flow.as_deref_mut());
        flows.for_each(|flow| flow.thin(each));
        if let Some(next) = &mut self.next {
            next.thin(most);
        }
    }

    fn counted(&self) -> usize {
        self.counted
    }

    fn set_counted(&mut self, held: usize) {
        self.counted = held;
    }
}

impl Side {
    fn on_segment(&mut self, segment: &Segment, is_near: bool) {
        self.segments += 1;
        if is_near || segment.flags.has(Flags::SYN) {
            let end = segment.seq.wrapping_add(segment.len);
            self.after = Some(end.wrapping_add(segment.flags.has(Flags::SYN).into()));
        }
        self.has_timestamps |= segment.timestamps.is_some();
        if segment.flags.has(Flags::SYN) {
            self.has_sent_syn = true;
            self.start = Some(segment.seq.wrapping_add(1));
            self.mss = segment.mss;
            self.window_scale = segment.window_scale;
            self.is_cut = segment.is_cut;
        }
    }

    /// True if a sequence number is within so many bytes of those that it has sent.
    fn is_near(&self, number: u32, bytes: u32) -> bool {
        let away = |after: u32| number.wrapping_sub(after).cast_signed().unsigned_abs();
        let flow = self.flow.as_deref();
        self.after.is_some_and(|after| away(after) < bytes)
            || flow.is_some_and(|flow| flow.is_near(number, bytes.into()))
    }
}
