//! A TCP connection, as a capture sees it.

mod busy;
mod echoes;
mod flow;
mod handshake;
mod limits;
mod model;
mod peaks;
mod ranges;
mod recoveries;
mod repeats;
mod rounds;
mod scoreboard;
mod sequence;
mod series;

use units::{Duration, Time};

use crate::packet::{Endpoint, Flags, Packet, Segment, Tunnel};

pub use flow::{Flow, Totals};
pub use handshake::Handshake;
pub use limits::{Limit, Limits, Shares};
pub(crate) use ranges::Ranges;
pub use recoveries::Cut;
pub use rounds::Round;
pub use series::Sample;

use flow::Vantage;

/// A share of the round trip below which one is at its end.
const NEAR: u64 = 10;

/// So many times must something have been measured before the capture's place is told from it.
const ENOUGH: u64 = 4;

/// How much memory there is for what a connection has outstanding, and for its course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// As much as one connection may have.
    Plenty,
    /// All connections together have too much.
    Little,
}

/// One end of a connection, as a sender.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// The first sequence number of its data, if its SYN was seen.
    start: Option<u32>,
    /// What its SYN says.
    mss: Option<u16>,
    window_scale: Option<u8>,
    has_sent_syn: bool,
    has_timestamps: bool,
    /// Its data, once there are any.
    pub flow: Option<Box<Flow>>,
    /// Segments, with or without data.
    pub segments: u64,
}

/// A connection.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Its ends: the one that asked for the connection first, as far as that is known.
    pub ends: [Endpoint; 2],
    /// The same ends, as senders.
    pub sides: [Side; 2],
    /// When its first packet passed.
    pub first: Time,
    /// When its last packet passed.
    pub last: Time,
    /// Its handshake.
    pub handshake: Handshake,
    /// What it was carried in.
    pub tunnel: Option<Tunnel>,
    /// Whether an end has said that it is over: FIN of both, or RST.
    fins: u8,
    /// Whether it was reset.
    pub is_reset: bool,
    /// Whether it is of QUIC, and its packets could be opened.
    pub is_quic: bool,
    /// The least time to each side and back, as far as its protocol tells that beyond what TCP does.
    pub measured: [Option<Duration>; 2],
    /// What of [`Connection::held`] is counted among what all hold.
    pub(crate) counted: usize,
}

impl Connection {
    /// A connection whose first packet that was captured is this one.
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
            is_reset: false,
            is_quic: false,
            measured: [None; 2],
            counted: 0,
        }
    }

    /// Whether a SYN begins another connection between the same ends.
    pub fn is_over_at(&self, segment: &Segment) -> bool {
        let is_request = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        is_request && (self.fins == 3 || self.is_reset)
    }

    /// A packet of this connection.
    pub fn on_packet(&mut self, packet: &Packet<'_>, segment: &Segment, room: Room) {
        let from = usize::from(packet.from != self.ends[0]);
        let at = packet.at.max(self.last);
        self.last = at;
        if segment.flags.has(Flags::RST) {
            self.is_reset = true;
            return;
        }
        if !self.handshake.is_done() {
            self.handshake.on_segment(at, segment, from == 0);
        }
        self.sides[from].on_segment(segment);
        // First what it acknowledges: a sender does so before it sends.
        if segment.flags.has(Flags::ACK)
            && !segment.flags.has(Flags::SYN)
            && self.sides[1 - from].flow.is_some()
        {
            let scale = self.scale_of(from);
            let of_other = self.vantage(1 - from);
            if let Some(flow) = &mut self.sides[1 - from].flow {
                flow.on_ack(at, segment, scale, of_other, room);
            }
        }
        if segment.len > 0 {
            let vantage = self.vantage(from);
            let mss = self.mss_of(from);
            let opened = self.handshake.done.unwrap_or(at);
            let side = &mut self.sides[from];
            let (start, full) = (side.start, mss);
            // A sender's RTprop begins with its handshake, whose packets take no time on the wire (Linux `tcp_synack_rtt_meas`).
            let is_known = vantage == Vantage::Sender || side.has_timestamps;
            let handshake = self.handshake.rtt().filter(|_| is_known && !self.is_quic);
            let flow = side.flow.get_or_insert_with(|| {
                let mut flow = Flow::new(opened, start, full);
                if let Some(rtt) = handshake {
                    flow.model.on_rtt(opened, rtt);
                }
                Box::new(flow)
            });
            if full.is_none() {
                flow.mss = flow.mss.max(u64::from(segment.len).min(1460));
            }
            // What segmentation offload cuts has these headers once in the capture, and with each packet on the way.
            let payload = u64::from(segment.len);
            let headers = u64::from(packet.ip_len).saturating_sub(payload);
            flow.totals.ip_bytes += payload + headers * payload.div_ceil(flow.mss.max(1));
            flow.totals.marked += u64::from(packet.is_marked);
            flow.on_data(at, segment, vantage, room);
        }
        if segment.flags.has(Flags::FIN) {
            self.fins |= 1 << from;
            if let Some(flow) = &mut self.sides[from].flow {
                flow.on_close();
            }
        }
    }

    /// How long what limited this side's data.
    pub fn shares(&self, side: usize) -> Option<Shares> {
        let flow = self.sides[side].flow.as_deref()?;
        Some(flow.shares(self.last, self.vantage(side)))
    }

    /// The payload of both directions.
    pub fn payload(&self) -> u64 {
        let flows = self.sides.iter().filter_map(|side| side.flow.as_deref());
        flows.map(|flow| flow.totals.bytes).sum()
    }

    /// How many bytes there are of packets, samples and rounds that it holds.
    #[inline]
    pub fn held(&self) -> usize {
        let flows = self.sides.iter().filter_map(|side| side.flow.as_deref());
        flows.map(Flow::held).sum()
    }

    /// How far the windows of this side are to be shifted; `None` if that is not known.
    fn scale_of(&self, side: usize) -> Option<u8> {
        let [one, other] = &self.sides;
        if self.is_quic {
            return None;
        }
        if !one.has_sent_syn || !other.has_sent_syn {
            return None;
        }
        // Both or none (RFC 7323, section 2.2).
        let scales = one.window_scale.is_some() && other.window_scale.is_some();
        let own = self.sides[side].window_scale.filter(|_| scales);
        Some(own.unwrap_or(0))
    }

    /// The payload of a full segment that this side sends, if a SYN told: what both take, less the timestamp.
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

    /// Where the capture is, for the data of this side.
    fn vantage(&self, side: usize) -> Vantage {
        let (near, far) = self.halves(side);
        match near.zip(far) {
            Some((near, far)) if near * NEAR <= near + far => Vantage::Sender,
            _ => Vantage::Elsewhere,
        }
    }

    /// The least time to this side and back, and to the other side and back, as far as they are known.
    pub fn halves(&self, side: usize) -> (Option<Duration>, Option<Duration>) {
        let handshake = [self.handshake.to_client, self.handshake.to_server];
        let flow = self.sides[side].flow.as_deref();
        let measured = flow.filter(|flow| flow.near_samples() >= ENOUGH);
        let near = measured.and_then(|flow| flow.near_min);
        let far = flow.and_then(|flow| flow.far);
        let least = |one: Option<Duration>, other: Option<Duration>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        (
            least(least(handshake[side], self.measured[side]), near),
            least(least(handshake[1 - side], self.measured[1 - side]), far),
        )
    }

    /// Whether this side's segments have timestamps.
    pub fn has_timestamps(&self, side: usize) -> bool {
        self.sides[side].has_timestamps
    }
}

impl Side {
    fn on_segment(&mut self, segment: &Segment) {
        self.segments += 1;
        self.has_timestamps |= segment.timestamps.is_some();
        if segment.flags.has(Flags::SYN) {
            self.has_sent_syn = true;
            self.start = Some(segment.seq.wrapping_add(1));
            self.mss = segment.mss;
            self.window_scale = segment.window_scale;
        }
    }
}
