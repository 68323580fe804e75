//! A QUIC connection as a capture shows it.

use std::net::IpAddr;
use std::sync::PoisonError;

use capture::packet::{Endpoint, Flags, Packet, Segment};
use capture::quic::frames::{self, Frame};
use capture::quic::hello::{ClientHello, Pieces};
use capture::quic::offload::{Division, Joined, Lengths};
use capture::quic::protection::Keys;
use capture::quic::wire::{Header, Id, Kind, Long, Short, Version};
use capture::read::Secrets;
use connection::Handshake;
use connection::memory::{Holder, Room};
use units::{Duration, Time};

use super::copies::{self, Copies};
use super::course::{Course, Opened};
use super::loss_bits::LossBits;
use super::spin::Spin;

/// The time over which a peak rate is measured.
const PEAK_INTERVAL: Duration = Duration::from_millis(100);

/// The most Initial packets of a client that are decrypted.
const MAX_INITIALS: u8 = 16;

/// When a client's Initial packet comes this long after the first one, it is a retransmission.
const RETRANSMISSION_TIME: Duration = Duration::from_millis(100);

/// One direction.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// Datagrams.
    pub datagrams: u64,
    /// Datagrams that were captured a second time. No other counter includes them.
    pub copies: u64,
    /// Datagrams that were captured joined, and whose lengths were inferred.
    pub offloaded: u64,
    /// Captured packets that may be several datagrams. Each counts as one.
    pub undivided: u64,
    /// UDP payload.
    pub bytes: u64,
    /// The payload of the longest datagram that was not captured joined.
    pub largest: u32,
    /// Datagrams with a congestion mark.
    pub marked: u64,
    /// The most payload within a tenth of a second.
    pub peak: u64,
    since: Time,
    present: u64,
    /// The loss bits.
    pub losses: LossBits,
    largest_number: Option<u64>,
    lengths: Lengths,
}

impl Way {
    fn on_datagram(&mut self, packet: &Packet<'_>, len: u32, is_one: bool) {
        if packet.at.since(self.since) >= PEAK_INTERVAL {
            self.since = packet.at;
            self.present = 0;
        }
        self.present += u64::from(len);
        self.peak = self.peak.max(self.present);
        self.datagrams += 1;
        self.bytes += u64::from(len);
        if is_one {
            self.largest = self.largest.max(len);
        } else {
            self.undivided += 1;
        }
        self.marked += u64::from(packet.is_marked);
    }

    /// The peak rate over a tenth of a second, in bit/s.
    pub fn peak_bps(&self) -> u64 {
        self.peak.saturating_mul(8 * 10)
    }
}

/// How far its packets can be decrypted.
#[derive(Debug)]
enum Opening {
    /// The client's Initial packets, until the ClientHello is complete.
    Hello(Option<Box<(Keys, Pieces)>>),
    /// The ClientHello was read, and there are no keys for the rest.
    Closed,
    /// There are keys: the candidates for the client's and for the server's packets.
    Open(Box<([Vec<Keys>; 2], Course)>),
}

/// A captured datagram.
#[derive(Debug, Clone, Copy)]
struct Datagram<'d> {
    side: usize,
    packet: Packet<'d>,
    len: u32,
    data: &'d [u8],
    /// True if it certainly is one alone.
    is_one: bool,
    room: Room,
}

impl<'d> Datagram<'d> {
    /// The datagrams of this length that were captured joined.
    fn parts(self, size: u32) -> impl Iterator<Item = Datagram<'d>> {
        let headers = self.packet.ip_len.saturating_sub(self.len);
        let starts = (0..self.len).step_by(size as usize).zip(0..);
        starts.map(move |(from, place): (u32, u16)| {
            let len = size.min(self.len - from);
            let data = self.data.get(from as usize..).unwrap_or_default();
            // Linux numbers them as it divides them (`inet_gso_segment`).
            let id = match self.packet.from.address {
                IpAddr::V4(_) => self.packet.id.wrapping_add(place),
                IpAddr::V6(_) => self.packet.id,
            };
            Datagram {
                packet: Packet {
                    ip_len: headers.saturating_add(len),
                    id,
                    ..self.packet
                },
                len,
                data: data.get(..len as usize).unwrap_or(data),
                ..self
            }
        })
    }
}

/// Decrypts a packet with a short header. Keys that open one are right, and others are forgotten.
fn open_any(
    keys: &mut Vec<Keys>,
    packet: &[u8],
    number_at: usize,
    largest: Option<u64>,
) -> Option<(u64, Vec<u8>)> {
    let mut buffer = Vec::new();
    for place in 0..keys.len() {
        if let Some((number, opened)) = keys[place].open(packet, number_at, largest, &mut buffer) {
            let opened = opened.to_vec();
            keys.swap(0, place);
            keys.truncate(1);
            return Some((number, opened));
        }
    }
    None
}

/// A QUIC connection.
#[derive(Debug)]
pub struct QuicConnection {
    /// Its first ends. The client is the first, as far as that is known.
    pub ends: [Endpoint; 2],
    /// Its present ends, after migrations.
    pub present: [Endpoint; 2],
    /// Its ends before the latest migration.
    pub before: Option<[Endpoint; 2]>,
    /// How often the client's address has changed.
    pub migrations: u64,
    /// Its version, if its handshake was captured.
    pub version: Option<Version>,
    /// The first connection IDs that the client and the server chose for themselves.
    pub ids: [Option<Id>; 2],
    /// When its first packet passed.
    pub first: Time,
    /// When its last packet passed.
    pub last: Time,
    /// Its handshake.
    pub handshake: Handshake,
    /// True if the server sent a Retry.
    pub is_retried: bool,
    /// Packets with 0-RTT data.
    pub zero_rtt: u64,
    /// The client's ClientHello.
    pub hello: Option<ClientHello>,
    /// The spin bit.
    pub spin: Spin,
    /// The two directions.
    pub ways: [Way; 2],
    initials: u8,
    opening: Opening,
    copies: Copies,
    /// The bytes that [`Memory`](connection::memory::Memory) has counted for it.
    counted: usize,
}

impl QuicConnection {
    /// A connection whose first captured packet is this one.
    pub fn new(packet: &Packet<'_>, header: &Header<'_>) -> QuicConnection {
        let is_client = match header {
            // Only a client begins a connection.
            Header::Long(..) => true,
            Header::Short(_) => packet.to.port <= packet.from.port,
        };
        let ends = if is_client {
            [packet.from, packet.to]
        } else {
            [packet.to, packet.from]
        };
        QuicConnection {
            ends,
            present: ends,
            before: None,
            migrations: 0,
            version: None,
            ids: [None; 2],
            first: packet.at,
            last: packet.at,
            handshake: Handshake::default(),
            is_retried: false,
            zero_rtt: 0,
            hello: None,
            spin: Spin::default(),
            ways: Default::default(),
            initials: 0,
            opening: Opening::Hello(None),
            copies: Copies::default(),
            counted: 0,
        }
    }

    /// The payload of both directions.
    pub fn payload(&self) -> u64 {
        self.ways.iter().map(|way| way.bytes).sum()
    }

    /// True if this packet begins another connection between the same ends: a client chooses one ID for all its packets with
    /// long headers (RFC 9000, section 7.2). Clients without IDs have one connection at a time.
    pub fn is_another(&self, packet: &Packet<'_>, long: &Long<'_>) -> bool {
        let is_of_client = long.kind == Kind::Initial && packet.from == self.present[0];
        is_of_client && self.ids[0].is_some_and(|id| !id.is_empty() && id != long.from)
    }

    /// Takes in a datagram whose first packet has this header, or several that were captured joined. Returns the connection
    /// IDs that they announce, each with the side that chose it.
    pub fn on_datagram(
        &mut self,
        packet: &Packet<'_>,
        len: u32,
        data: &[u8],
        header: Header<'_>,
        secrets: &Secrets,
        room: Room,
    ) -> Vec<(Id, usize)> {
        let side = usize::from(packet.from != self.present[0]);
        let at = packet.at.max(self.last);
        self.last = at;
        let mut told = Vec::new();
        let whole = Datagram {
            side,
            packet: Packet { at, ..*packet },
            len,
            data,
            is_one: true,
            room,
        };
        match self.divide(side, len, data, header) {
            Division::Whole => {
                self.on_one(&whole, Some(header), false, secrets, &mut told);
            }
            Division::Unknown => {
                let whole = Datagram {
                    is_one: false,
                    ..whole
                };
                self.on_one(&whole, Some(header), false, secrets, &mut told);
            }
            Division::Into(size) => {
                let mut is_copy = false;
                for part in whole.parts(size) {
                    let header = Header::parse(part.data);
                    is_copy = self.on_one(&part, header, is_copy, secrets, &mut told);
                    self.ways[side].offloaded += u64::from(!is_copy);
                }
            }
        }
        told
    }

    /// How a captured payload is divided into datagrams.
    #[inline]
    fn divide(&mut self, side: usize, len: u32, data: &[u8], header: Header<'_>) -> Division {
        let to = self.ids[1 - side].map(|id| id.len());
        let way = &mut self.ways[side];
        let one = Joined {
            len,
            data,
            header,
            id_len: to,
        };
        let Opening::Open(open) = &mut self.opening else {
            return way.lengths.divide(&one, None);
        };
        let keys = &mut open.0[side];
        let largest = way.largest_number;
        let mut opens = |data: &[u8]| open_any(keys, data, 1 + to.unwrap_or(0), largest).is_some();
        way.lengths.divide(&one, Some(&mut opens))
    }

    /// Takes in a datagram. What was not captured of a joined one is a copy if the part before it is. Returns whether it is a
    /// copy.
    fn on_one(
        &mut self,
        one: &Datagram<'_>,
        header: Option<Header<'_>>,
        is_before_copy: bool,
        secrets: &Secrets,
        told: &mut Vec<(Id, usize)>,
    ) -> bool {
        let Datagram {
            side,
            packet,
            len,
            mut data,
            is_one,
            room,
        } = *one;
        let is_copy = if data.len() < copies::MIN_PACKET_BYTES {
            is_before_copy
        } else {
            self.copies.is_one(packet.id, data, room)
        };
        if is_copy {
            self.ways[side].copies += 1;
            return true;
        }
        self.ways[side].on_datagram(&packet, len, is_one);
        let mut next = header;
        while let Some(header) = next {
            match header {
                Header::Long(long, rest) => {
                    if self.ids[side].is_none() && !long.from.is_empty() {
                        told.push((long.from, side));
                    }
                    self.on_long(&packet, side, &long, secrets);
                    data = rest;
                    // Zeros pad the datagram.
                    next = Header::parse(rest).filter(|_| rest[0] != 0);
                }
                Header::Short(short) => {
                    self.on_short(&packet, side, short, data, len, room, told);
                    next = None;
                }
            }
        }
        false
    }

    fn on_long(&mut self, packet: &Packet<'_>, side: usize, long: &Long<'_>, secrets: &Secrets) {
        if long.kind == Kind::ZeroRtt {
            self.zero_rtt += 1;
            return;
        }
        if long.kind != Kind::VersionNegotiation {
            self.version = Some(long.version);
        }
        let is_first = self.ids[side].is_none();
        self.ids[side] = Some(long.from);
        if long.kind == Kind::Retry {
            self.is_retried = true;
            self.opening = Opening::Hello(None);
        }
        let is_before = packet.at.since(self.first) < RETRANSMISSION_TIME;
        let flags = match (side, long.kind) {
            (0, Kind::Initial) if is_first => Some(Flags::SYN),
            // Another part of the ClientHello, or a retransmission.
            (0, Kind::Initial) if self.ids[1].is_none() => (!is_before).then_some(Flags::SYN),
            (0, _) => Some(Flags::ACK),
            (_, _) if is_first => Some(Flags::SYN.with(Flags::ACK)),
            (_, _) => None,
        };
        if let Some(flags) = flags {
            self.shake(packet, side, flags);
        }
        if side == 0 && long.kind == Kind::Initial {
            self.hear_hello(packet, long, secrets);
        }
    }

    fn shake(&mut self, packet: &Packet<'_>, side: usize, flags: Flags) {
        if self.handshake.is_done() {
            return;
        }
        let segment = Segment {
            flags,
            ..Segment::default()
        };
        self.handshake.on_segment(packet.at, &segment, side == 0);
        if let Opening::Open(open) = &mut self.opening {
            open.1.shake(packet, side, flags);
        }
    }

    /// An Initial packet of the client, which may complete the ClientHello.
    fn hear_hello(&mut self, packet: &Packet<'_>, long: &Long<'_>, secrets: &Secrets) {
        let Opening::Hello(reading) = &mut self.opening else {
            return;
        };
        self.initials += 1;
        if self.initials > MAX_INITIALS || !long.is_whole {
            self.opening = Opening::Closed;
            return;
        }
        if reading.is_none() {
            let keys = Keys::of_client_initial(long.version, &long.to);
            *reading = keys.map(|keys| Box::new((keys, Pieces::default())));
        }
        let Some((keys, pieces)) = reading.as_deref_mut() else {
            self.opening = Opening::Closed;
            return;
        };
        let mut buffer = Vec::new();
        let opened = keys.open(long.packet, long.number_at, None, &mut buffer);
        let Some(hello) = opened.and_then(|(_, payload)| pieces.add(payload)) else {
            return;
        };
        let log = secrets.lock().unwrap_or_else(PoisonError::into_inner);
        self.opening = match log.of(&hello.random) {
            Some(secrets) => {
                let keys = secrets.map(|secret| Keys::of_secret(long.version, secret));
                let mut course = Course::new(&Packet {
                    at: self.first,
                    from: packet.from,
                    to: packet.to,
                    ..*packet
                });
                course.tcp.first = self.first;
                course.delays[0] = hello.delays;
                Opening::Open(Box::new((keys, course)))
            }
            None => Opening::Closed,
        };
        self.hello = Some(hello);
    }

    #[expect(clippy::too_many_arguments, reason = "a packet's parts")]
    fn on_short(
        &mut self,
        packet: &Packet<'_>,
        side: usize,
        short: Short,
        data: &[u8],
        len: u32,
        room: Room,
        told: &mut Vec<(Id, usize)>,
    ) {
        if side == 0 {
            self.shake(packet, side, Flags::ACK);
        }
        let handshake = self.handshake.rtt();
        self.spin
            .on_packet(packet.at, side, short.spin(), handshake, room);
        let way = &mut self.ways[side];
        way.losses.on_packet(short.square(), short.loss());
        let Opening::Open(open) = &mut self.opening else {
            return;
        };
        let (keys, course) = &mut **open;
        let to = self.ids[1 - side].map_or(0, |id| id.len());
        let largest = way.largest_number;
        let Some((number, payload)) = open_any(&mut keys[side], data, 1 + to, largest) else {
            return;
        };
        way.largest_number = way.largest_number.max(Some(number));
        let mut frames = Vec::new();
        frames::read(&payload, course.delays[side].exponent, &mut frames);
        for frame in &frames {
            if let Frame::NewId(id) = frame {
                told.push((*id, side));
            }
        }
        let opened = Opened {
            side,
            number,
            len,
            frames: &frames,
        };
        course.on_packet(packet, &opened, room);
    }

    /// The capture's clock was set back: nothing that began before is measured.
    pub(crate) fn on_clock_step(&mut self) {
        self.handshake.spoil();
        if let Opening::Open(open) = &mut self.opening {
            open.1.tcp.on_clock_step();
        }
    }

    /// The QUIC connection. If its packets were decrypted, also the connection as TCP would show it.
    pub fn into_opened(self) -> (QuicConnection, Option<connection::Connection>) {
        let mut closed = self;
        let opening = std::mem::replace(&mut closed.opening, Opening::Closed);
        let opened = match opening {
            Opening::Open(open) => Some(open.1.tcp),
            _ => None,
        };
        let has_data =
            |one: &connection::Connection| one.sides.iter().any(|side| side.flow.is_some());
        (closed, opened.filter(has_data))
    }
}

impl Holder for QuicConnection {
    fn held(&self) -> usize {
        let opening = match &self.opening {
            Opening::Hello(None) | Opening::Closed => 0,
            Opening::Hello(Some(reading)) => size_of_val(&**reading) + reading.1.held(),
            Opening::Open(open) => {
                let ([own, other], course) = &**open;
                let keys = (own.capacity() + other.capacity()) * size_of::<Keys>();
                size_of_val(&**open) + keys + course.held()
            }
        };
        let hello = self.hello.as_ref().map_or(0, ClientHello::held);
        size_of::<QuicConnection>() + self.spin.held() + self.copies.held() + hello + opening
    }

    fn course(&self) -> usize {
        let course = match &self.opening {
            Opening::Hello(Some(reading)) => reading.1.held(),
            Opening::Open(open) => open.1.tcp.course(),
            Opening::Hello(None) | Opening::Closed => 0,
        };
        self.spin.held() + course
    }

    fn thin(&mut self, most: usize) {
        self.spin.thin(most);
        self.copies.thin();
        match &mut self.opening {
            Opening::Open(open) => open.1.thin(most),
            // A ClientHello that is not complete by now hardly ever will be.
            Opening::Hello(Some(reading)) if reading.1.held() > most => {
                self.opening = Opening::Closed;
            }
            _ => {}
        }
    }

    fn counted(&self) -> usize {
        self.counted
    }

    fn set_counted(&mut self, held: usize) {
        self.counted = held;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use capture::packet::Body;

    #[test]
    fn a_first_message_that_never_ends_goes_if_there_is_no_memory() {
        let end = Endpoint {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 443,
        };
        let packet = Packet {
            at: Time::ZERO,
            from: end,
            to: end,
            ip_len: 0,
            id: 0,
            is_marked: false,
            tunnel: None,
            body: Body::Udp {
                len: 0,
                payload: &[],
            },
        };
        let header = Header::parse(&[0x40]).expect("a short one");
        let mut connection = QuicConnection::new(&packet, &header);
        let keys = Keys::of_client_initial(Version::V1, &Id::default()).expect("known");
        let mut pieces = Pieces::default();
        // The last of 16,384 bytes.
        assert_eq!(pieces.add(&[6, 0x7f, 0xff, 1, b'x']), None);
        connection.opening = Opening::Hello(Some(Box::new((keys, pieces))));
        let before = connection.held();
        assert!(connection.course() > 1 << 14);
        connection.thin(1 << 16);
        assert_eq!(connection.held(), before);
        connection.thin(0);
        assert!(connection.held() + (1 << 14) < before);
    }
}
