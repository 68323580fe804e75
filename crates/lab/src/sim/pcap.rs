//! The packets at the ends of simulated connections, and on their way, as TCP over IPv4.
//!
//! A flow's sending end is 10.1.x.y, and its receiving end 10.2.x.y, where x and y are the flow's number. Each
//! connection of a flow has a port of its own. TCP's state is the simulated one. The rest follows Linux: timestamps
//! count milliseconds, and window scaling uses [`WINDOW_SCALE`] bits.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

use ::sim::{End, Passing};
use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use path::Ecn;
use simulate::Tap;
use transport::segment::{Ack, Body, Data};
use units::{Bytes, Time};

use super::numbers::Numbers;

/// The window scale: windows count kilobytes, so that 64 MB can be expressed.
const WINDOW_SCALE: u8 = 10;

/// The receiving end's port: that of iperf.
const PORT: u16 = 5001;

/// The server's port of a connection that carries requests.
const REQUESTS_PORT: u16 = 80;

/// The first ephemeral port, and the number of ports before they repeat (Linux `ip_local_port_range`).
const FIRST_PORT: u32 = 32_768;
const PORTS: u32 = 28_232;

/// The size of the timestamp option, which the MSS option does not subtract (RFC 6691).
const TIMESTAMP_BYTES: u64 = 12;

/// Writes the packets at both ends, and those at links.
#[derive(Debug)]
pub(super) struct Pcap<W> {
    ends: [Writer<W>; 2],
    links: Vec<Writer<W>>,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
    /// The payload of each flow's full packets.
    mss: Vec<Bytes>,
    numbers: Numbers,
}

impl<W: Write> Pcap<W> {
    /// Creates captures of the sending end and of the receiving end, and those at links under these names; `mss` has the
    /// payload of each flow's full packets.
    pub fn new(
        [sending, receiving]: [W; 2],
        links: Vec<(String, W)>,
        mss: Vec<Bytes>,
    ) -> io::Result<Pcap<W>> {
        let links = links.into_iter().map(|(name, to)| Writer::new(to, &name));
        Ok(Pcap {
            links: links.collect::<Result<_, _>>()?,
            ends: [
                Writer::new(sending, "sender")?,
                Writer::new(receiving, "receiver")?,
            ],
            failed: None,
            mss,
            numbers: Numbers::default(),
        })
    }

    /// Finishes the captures and returns the writers: those of the ends, and those of the links.
    pub fn finish(self) -> io::Result<([W; 2], Vec<W>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let [sending, receiving] = self.ends;
        let links = self.links.into_iter().map(Writer::finish);
        let links = links.collect::<Result<_, _>>()?;
        Ok(([sending.finish()?, receiving.finish()?], links))
    }

    fn write(&mut self, now: Time, place: Place, passing: &Passing<'_>) {
        if self.failed.is_some() {
            return;
        }
        let to = match place {
            Place::End(end) => self.ends.get_mut(end),
            Place::Link(link) => self.links.get_mut(link),
        };
        let mss = self.mss[passing.id.flow];
        let number = self.numbers.of(passing);
        let written = to.map_or(Ok(()), |to| write(to, now, passing, mss, number));
        self.failed = written.err();
    }
}

/// The place of a capture: an end, or a link by its index among those that are captured.
#[derive(Debug, Clone, Copy)]
enum Place {
    End(usize),
    Link(usize),
}

impl<W: Write> Tap for Pcap<W> {
    const WANTS_SEGMENTS: bool = true;

    fn on_segment(&mut self, now: Time, passing: &Passing<'_>) {
        // Requests go the other way: their sending end is the receiving end of data.
        let is_at_data = (passing.end == End::Sending) != passing.is_of_requests;
        self.write(now, Place::End(usize::from(!is_at_data)), passing);
    }

    fn on_crossing(&mut self, now: Time, place: usize, passing: &Passing<'_>) {
        self.write(now, Place::Link(place), passing);
    }
}

/// The time in milliseconds, as Linux's timestamps count (`tcp_ts`).
#[expect(clippy::cast_possible_truncation, reason = "timestamps wrap")]
fn ticks(time: Time) -> u32 {
    (time.as_nanos() / 1_000_000) as u32
}

/// The initial sequence number of a connection's end: all differ, and some wrap.
fn first(serial: u32, from: End) -> u32 {
    let mixed = serial.wrapping_add(1).wrapping_mul(0x9e37_79b9);
    match from {
        End::Sending => mixed,
        End::Receiving => !mixed,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "sequence numbers wrap, and so do addresses"
)]
fn write<W: Write>(
    to: &mut Writer<W>,
    now: Time,
    passing: &Passing<'_>,
    mss: Bytes,
    number: u16,
) -> io::Result<()> {
    let serial = passing.id.connection;
    let [_, _, x, y] = (passing.id.flow as u32).wrapping_add(1).to_be_bytes();
    let port = (FIRST_PORT + serial % PORTS) as u16;
    let server = if passing.is_of_requests {
        REQUESTS_PORT
    } else {
        PORT
    };
    let nets = if passing.is_of_requests {
        [2, 1]
    } else {
        [1, 2]
    };
    let [sender, receiver] = nets.map(|net| Ipv4Addr::new(10, net, x, y));
    let ends = [
        SocketAddrV4::new(sender, port),
        SocketAddrV4::new(receiver, server),
    ];
    let sequence = |from: End, position: u64| {
        first(serial, from)
            .wrapping_add(1)
            .wrapping_add(position as u32)
    };
    let mut packet = TcpPacket {
        from: ends[0],
        to: ends[1],
        id: number,
        ecn: match passing.ecn {
            Ecn::NotCapable => 0,
            Ecn::L4s => 1,
            Ecn::Capable => 2,
            Ecn::Marked => 3,
        },
        seq: first(serial, End::Sending),
        ack: 0,
        flags: Flags::ACK,
        window: u16::MAX,
        options: &[],
        len: 0,
    };
    let mss = TcpOption::MaximumSegmentSize((mss.get() + TIMESTAMP_BYTES) as u16);
    let open = [
        mss,
        TcpOption::SelectiveAcknowledgementPermitted,
        TcpOption::Noop,
        TcpOption::WindowScale(WINDOW_SCALE),
    ];
    let plain = [TcpOption::Noop, TcpOption::Noop];
    let mut options: Vec<TcpOption> = Vec::with_capacity(8);
    let stamp = |sent, echo| TcpOption::Timestamp(ticks(sent), echo);
    match &passing.segment.body {
        Body::Syn { sent } => {
            options.extend(open);
            options.push(stamp(*sent, 0));
            packet.flags = Flags::SYN;
        }
        Body::FastOpen(data) => {
            options.extend(open);
            options.push(stamp(data.sent, 0));
            packet.flags = Flags::SYN;
            packet.len = data.len;
        }
        Body::SynAck {
            sent, echo, next, ..
        } => {
            options.extend(open);
            options.push(stamp(*sent, ticks(*echo)));
            (packet.from, packet.to) = (ends[1], ends[0]);
            packet.flags = Flags::SYN.with(Flags::ACK);
            packet.seq = first(serial, End::Receiving);
            packet.ack = sequence(End::Sending, *next);
        }
        Body::Data(data) => {
            options.extend(plain);
            options.push(stamp(data.sent, ticks(data.echo)));
            packet.seq = sequence(End::Sending, data.seq);
            packet.ack = sequence(End::Receiving, 0);
            packet.len = data.len;
            packet.flags = flags_of(data);
        }
        Body::Ack(ack) => {
            options.extend(plain);
            options.push(stamp(ack.sent, ticks(ack.echo)));
            let position = |position| sequence(End::Sending, position);
            options.extend(sacks(ack, position));
            (packet.from, packet.to) = (ends[1], ends[0]);
            packet.seq = sequence(End::Receiving, 0);
            packet.ack = position(ack.next);
            packet.window = u16::try_from(ack.window >> WINDOW_SCALE).unwrap_or(u16::MAX);
            if ack.ecn_echo {
                packet.flags = packet.flags.with(Flags::ECE);
            }
        }
    }
    packet.options = &options;
    to.packet(now, &packet)
}

fn flags_of(data: &Data) -> Flags {
    let mut flags = Flags::ACK;
    if data.push {
        flags = flags.with(Flags::PSH);
    }
    if data.cwr {
        flags = flags.with(Flags::CWR);
    }
    flags
}

/// The SACK option, after two no-operation options.
fn sacks(ack: &Ack, position: impl Fn(u64) -> u32) -> Vec<TcpOption> {
    let duplicate = ack.sacks.dsack().into_iter();
    let mut blocks = duplicate
        .chain(ack.sacks.ranges())
        .map(|range| (position(range.start), position(range.end)));
    let Some(first) = blocks.next() else {
        return Vec::new();
    };
    let more = [blocks.next(), blocks.next(), blocks.next()];
    vec![
        TcpOption::Noop,
        TcpOption::Noop,
        TcpOption::SelectiveAcknowledgement(first, more),
    ]
}
