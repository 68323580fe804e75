//! Small captures of each kind, intact and damaged.

mod blocks;
mod foreign;
mod hostile;
mod hosts;
mod late;
mod memory;
mod order;
mod recorded;
mod told;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

use capture::packet::{Flags, Unread};
use capture::write::{TcpOption, TcpPacket, Writer};
use units::Time;

use crate::{Counts, Summary, Trace};

const A: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000);
const B: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 80);

/// The IP packets of a short connection, with their times in milliseconds. A sends ten segments to B; the third is lost and
/// retransmitted. The round trip is 20 ms, and the capture is at A.
fn packets() -> Vec<(u64, Vec<u8>, u32)> {
    let mut packets: Vec<(u64, Vec<u8>, u32)> = Vec::new();
    let mut add = |at: u64, from_a: bool, seq: u32, ack: u32, flags, options: &[TcpOption], len| {
        let (from, to) = if from_a { (A, B) } else { (B, A) };
        let packet = TcpPacket {
            from,
            to,
            id: 1 + packets.len() as u16,
            ecn: 0,
            seq,
            ack,
            flags,
            window: 60_000,
            options,
            len,
        };
        packets.push((at, packet.headers(), len));
    };
    let syn = [
        TcpOption::MaximumSegmentSize(1460),
        TcpOption::SelectiveAcknowledgementPermitted,
    ];
    let start = u32::MAX - 3000;
    add(0, true, start, 0, Flags::SYN, &syn, 0);
    add(
        20,
        false,
        99,
        start + 1,
        Flags::SYN.with(Flags::ACK),
        &syn,
        0,
    );
    let position = |index: u32| (start + 1).wrapping_add(index * 1460);
    for index in 0..10 {
        add(20, true, position(index), 100, Flags::ACK, &[], 1460);
    }
    add(40, false, 100, position(2), Flags::ACK, &[], 0);
    let sack = |to| {
        [
            TcpOption::Noop,
            TcpOption::Noop,
            TcpOption::SelectiveAcknowledgement((position(3), position(to)), [None; 3]),
        ]
    };
    add(41, false, 100, position(2), Flags::ACK, &sack(6), 0);
    add(42, false, 100, position(2), Flags::ACK, &sack(10), 0);
    add(42, true, position(2), 100, Flags::ACK, &[], 1460);
    add(62, false, 100, position(10), Flags::ACK, &[], 0);
    add(
        70,
        true,
        position(10),
        100,
        Flags::ACK.with(Flags::FIN),
        &[],
        0,
    );
    packets
}

/// A pcap file of these packets, with `before` in front of each.
fn pcap(link: u32, before: &[u8], is_nano: bool, is_big_endian: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let word = |file: &mut Vec<u8>, word: u32| {
        file.extend(if is_big_endian {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    };
    word(&mut file, if is_nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 });
    let version = if is_big_endian {
        [0, 2, 0, 4]
    } else {
        [2, 0, 4, 0]
    };
    file.extend(version);
    for field in [0, 0, 65_535, link] {
        word(&mut file, field);
    }
    for (at, headers, len) in packets() {
        let captured = (before.len() + headers.len()) as u32;
        word(&mut file, 1_000);
        word(
            &mut file,
            at as u32 * if is_nano { 1_000_000 } else { 1_000 },
        );
        word(&mut file, captured);
        word(&mut file, captured + len);
        file.extend(before);
        file.extend(headers);
    }
    file
}

fn pcapng() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "test").expect("a vector takes everything");
    for (at, headers, len) in packets() {
        writer
            .raw(Time::from_nanos(at * 1_000_000), &headers, len)
            .expect("a vector takes everything");
    }
    writer.finish().expect("a vector takes everything")
}

/// The headers of Ethernet frames in VXLAN, in datagrams to this port.
fn vxlan(port: u16) -> Vec<u8> {
    let ethernet = [&[2_u8; 12][..], &[0x08, 0x00]].concat();
    let head = [8, 0, 0, 0, 0, 0, 5, 0];
    [&ethernet[..], &over_udp(port, &head), &ethernet].concat()
}

/// The headers of IPv6 with an extension header of each kind that may hold TCP, and IPv4 behind them.
fn extensions() -> Vec<u8> {
    let mut headers = [&[0x60, 0, 0, 0, 0, 0, 0, 64][..], &[1; 32]].concat();
    // Hop-by-hop, destination options, routing with a segment, fragment, authentication, mobility, host identity, shim6.
    for (next, length, len) in [
        (60, 0, 8),
        (43, 0, 8),
        (44, 2, 24),
        (51, 0, 8),
        (135, 1, 12),
        (139, 0, 8),
        (140, 0, 8),
        (4, 1, 16),
    ] {
        let mut header = vec![0; len];
        (header[0], header[1]) = (next, length);
        headers.extend(header);
    }
    headers
}

/// The headers of datagrams to this port, and `head`.
fn over_udp(port: u16, head: &[u8]) -> Vec<u8> {
    let ip = [
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
    ];
    let udp = [12_345, port, 0, 0].map(u16::to_be_bytes).concat();
    [&ip[..], &udp, head].concat()
}

/// The same from this port.
fn from_port(port: u16, head: &[u8]) -> Vec<u8> {
    let mut headers = over_udp(12_345, head);
    headers[20..22].copy_from_slice(&port.to_be_bytes());
    headers
}

/// The headers of IP packets of this protocol, and `head`.
fn over_ip(protocol: u8, head: &[u8]) -> Vec<u8> {
    let ip = [
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
    ];
    [&ip[..], head].concat()
}

/// The headers before IPv4, with the link type, in the formats of tunnels, switches, wireless networks and capturing programs.
fn wrappings() -> Vec<(u32, Vec<u8>)> {
    let addresses = [2_u8; 12];
    let ethernet = [&addresses[..], &[8, 0]].concat();
    let behind = |head: &[u8]| [head, &ethernet].concat();
    let after = |tag: &[u8]| [&addresses[..], tag].concat();
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let wireless = [&[0x08, 2][..], &[0; 22], &snap].concat();
    let qos = [&[0x88, 3][..], &[0; 30], &snap].concat();
    let padded = [&[0x88, 2][..], &[0; 26], &snap].concat();
    // A timestamp and flags behind two words of the fields that there are.
    let mut radiotap = vec![0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0];
    radiotap.extend([0; 12]);
    radiotap.push(0x20);
    let mut pktap = [108, 0, 1].map(u32::to_le_bytes).concat();
    pktap.resize(108, 0);
    let ppi = [&[0, 0, 8, 0, 105, 0, 0, 0][..], &wireless].concat();
    let nflog = [2, 0, 0, 1, 5, 0, 10, 0, 7, 0, 0, 0, 0xff, 0xff, 9, 0];
    let big_nflog = [2, 0, 0, 1, 0, 5, 0, 10, 7, 0, 0, 0, 0xff, 0xff, 0, 9];
    let ppp = [0xff, 3, 0, 0x21];
    let l2tp = [
        &[0x4a, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2, 9, 9][..],
        &ppp,
    ]
    .concat();
    vec![
        (101, extensions()),
        (101, over_ip(51, &[4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        (101, over_ip(97, &behind(&[0x30, 0]))),
        (101, over_ip(115, &behind(&[0, 0, 0, 1, 0, 0, 0, 0]))),
        (101, over_ip(115, &behind(&[0, 0, 0, 1]))),
        (101, over_ip(115, &behind(&[1; 16]))),
        (101, over_ip(137, &[0, 0, 1, 64])),
        (
            101,
            over_ip(
                47,
                &[&[0x30, 0x81, 0x88, 0x0b], &[0; 12][..], &ppp].concat(),
            ),
        ),
        (101, over_udp(1701, &l2tp)),
        (
            101,
            over_udp(1701, &behind(&[0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])),
        ),
        (101, over_udp(4790, &behind(&[0x0c, 0, 0, 3, 0, 0, 0, 0]))),
        (
            101,
            over_udp(4790, &[0x0c, 0, 0, 4, 0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0]),
        ),
        (101, over_udp(4754, &[0, 0, 8, 0])),
        (101, over_udp(6635, &[0, 0, 1, 64])),
        (
            101,
            over_udp(37_008, &behind(&[1, 0, 0, 1, 0, 10, 1, 5, 1])),
        ),
        (101, from_port(1701, &[0, 2, 0, 1, 0, 2, 0, 0x21])),
        (1, after(&behind(&[0x88, 0xe7, 0, 0, 0, 1]))),
        (1, after(&[0x92, 0, 0, 5, 8, 0])),
        // An Ethernet frame behind a label: with a control word, and without.
        (1, after(&behind(&[0x88, 0x47, 0, 2, 1, 64, 0, 0, 0, 0]))),
        (1, after(&behind(&[0x88, 0x47, 0, 2, 1, 64]))),
        (
            1,
            after(&[&[0x88, 0x47, 0, 2, 1, 64][..], &[0x82; 12], &[8, 0]].concat()),
        ),
        (
            1,
            after(&behind(&[0x22, 0xf3, 0, 0x40, 0, 1, 0, 2, 0, 0, 0, 0])),
        ),
        (
            1,
            after(&[
                0x88, 0xe5, 0x20, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 0,
            ]),
        ),
        (1, after(&[0x89, 0x26, 0, 0, 0, 1, 8, 0])),
        (1, after(&[0x89, 0x3f, 0, 0, 0, 1, 0, 0, 8, 0])),
        (1, after(&[0xda, 0xda, 0, 0, 1, 2, 3, 4, 8, 0])),
        (1, after(&[&[1, 0][..], &snap].concat())),
        (100, snap.to_vec()),
        (100, vec![0xfe, 0xfe, 3, 0xcc]),
        (105, wireless.clone()),
        (105, qos),
        (119, [&[0; 144][..], &wireless].concat()),
        (127, [radiotap, padded].concat()),
        (
            163,
            [&[0, 0, 0, 0, 0, 0, 0, 64][..], &[0; 56], &wireless].concat(),
        ),
        (166, [&[1][..], &ppp].concat()),
        (192, ppi),
        (205, vec![1, 0x0f, 0, 8, 0]),
        (219, vec![0, 0, 1, 64]),
        (109, vec![0; 12]),
        (117, vec![61; 64]),
        (226, vec![0; 24]),
        (239, nflog.to_vec()),
        (239, big_nflog.to_vec()),
        (240, behind(&[0; 4])),
        (241, behind(&[0; 12])),
        (258, behind(&pktap)),
        (274, behind(&[0; 8])),
        (281, after(&[1, 2, 3, 4, 8, 0])),
        (282, behind(&[1, 2, 3, 4])),
        (284, after(&[1, 2, 3, 4, 8, 0])),
        (285, after(&[0xda, 0xda, 0, 0, 1, 2, 3, 4, 8, 0])),
    ]
}

/// Small captures in each format, with each link type.
fn corpus() -> Vec<Vec<u8>> {
    let ethernet = [&[2_u8; 12][..], &[0x08, 0x00]].concat();
    let vlan = [
        &[2_u8; 12][..],
        &[0x88, 0xa8, 0, 7, 0x81, 0x00, 0, 9, 0x08, 0x00],
    ]
    .concat();
    let mpls = [&[2_u8; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
    let pppoe = [
        &[2_u8; 12][..],
        &[0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21],
    ]
    .concat();
    let sll = [&[0_u8; 14][..], &[0x08, 0x00]].concat();
    let sll2 = [&[0x08, 0x00][..], &[0; 18]].concat();
    let gre = over_ip(47, &[0x20, 0, 8, 0, 0, 0, 0, 1]);
    let erspan = {
        let head = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 0, 0, 0, 0, 0];
        [over_ip(47, &head), ethernet.clone()].concat()
    };
    vec![
        pcapng(),
        pcap(1, &ethernet, false, false),
        pcap(1, &vlan, true, false),
        pcap(1, &mpls, false, true),
        pcap(1, &pppoe, true, true),
        pcap(113, &sll, false, false),
        pcap(276, &sll2, false, false),
        pcap(101, &[], false, false),
        pcap(0, &[2, 0, 0, 0], false, false),
        pcap(1, &vxlan(4_789), false, false),
        pcap(101, &gre, false, false),
        pcap(101, &erspan, false, false),
        pcap(9, &[0xff, 3, 0, 0x21], false, false),
    ]
}

/// A capture of 802.11 whose frames have all packets of a moment and direction, and the longest frame.
fn aggregates() -> (Vec<u8>, Vec<u8>) {
    let all = packets();
    let of_frame = |(at, headers, _): &(u64, Vec<u8>, u32)| (*at, headers[15]);
    let mut file = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 105]
        .map(u32::to_le_bytes)
        .concat();
    let mut longest = Vec::new();
    for frame in all.chunk_by(|one, other| of_frame(one) == of_frame(other)) {
        let mut data = [&[0x88, 2][..], &[0; 22], &[0x80, 0]].concat();
        for (_, headers, rest) in frame {
            data.resize(26 + (data.len() - 26).next_multiple_of(4), 0);
            data.extend([2; 12]);
            data.extend((8 + headers.len() as u16 + *rest as u16).to_be_bytes());
            data.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
            data.extend(headers);
            data.resize(data.len() + *rest as usize, 0);
        }
        // The frame check sequence.
        data.extend([0; 4]);
        let (ms, len) = (frame[0].0 as u32, data.len() as u32);
        file.extend([1_000, ms * 1_000, len, len].map(u32::to_le_bytes).concat());
        file.extend(&data);
        if data.len() > longest.len() {
            longest = data;
        }
    }
    (file, longest)
}

/// A segment with options of many kinds, two of them unknown.
fn options() -> Vec<u8> {
    let options = [
        &[2, 4, 5, 180, 3, 3, 7, 4, 2, 30, 4, 0, 1][..],
        &[174, 5, 0, 0, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
        &[5, 10, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0],
    ]
    .concat();
    let mut packet = packets()[2].1[..40].to_vec();
    packet[3] = 40 + options.len() as u8;
    packet[32] = 15 << 4;
    packet.extend(options);
    packet
}

/// A log as a sequence of texts with line breaks in them, as Windows saves it.
fn sequence() -> Vec<u8> {
    let header = "\u{feff}\u{1e}{\r\n \"qlog_version\": \"0.3\",\r\n \"trace\": {}}\r\n";
    let event = |name: &str, time: u32, frame: &str| {
        format!(
            "\u{1e}{{\r\n \"time\": {time}, \"name\": \"transport:{name}\",\r\n \"data\": {{\"header\": \
             {{\"packet_number\": 1, \"packet_type\": \"1RTT\"}}, \"raw\": {{\"length\": 1200}}, \"frames\": \
             [{frame}]}}}}\r\n"
        )
    };
    let stream = r#"{"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 1000}"#;
    let ack = r#"{"frame_type": "ack", "ack_delay": 1.5, "acked_ranges": [[0, 1]]}"#;
    [
        header.to_owned(),
        event("packet_sent", 0, stream),
        event("packet_received", 20, ack),
    ]
    .concat()
    .into_bytes()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain).expect("a vector takes everything");
    gzip.finish().expect("a vector takes everything")
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

/// The captures to damage: those of the corpus, compressed captures, and the beginnings of a QUIC capture and of a qlog.
fn breakable() -> Vec<Vec<u8>> {
    let quic = include_bytes!("../../data/quic.pcap");
    let mut log = String::new();
    let whole = flate2::read::GzDecoder::new(&include_bytes!("../../data/quic.qlog.gz")[..]);
    whole.take(4_000).read_to_string(&mut log).expect("a qlog");
    let events = log.rfind("}, {\"data\"").expect("an event");
    let qlog = [
        &log[..events],
        "}], \"vantage_point\": {\"type\": \"client\"}}]}",
    ]
    .concat()
    .into_bytes();
    let mut all = corpus();
    // Damage to their headers is of interest, and not to all packets behind them.
    all.extend(wrappings().into_iter().map(|(link, before)| {
        let mut capture = pcap(link, &before, false, false);
        capture.truncate(24 + 2 * (16 + before.len() + 48));
        capture
    }));
    all.extend([
        gzip(&pcapng()),
        zstd(&pcapng()),
        quic[..quic.len().min(4_000)].to_vec(),
        qlog,
        sequence(),
        aggregates().0[..400].to_vec(),
    ]);
    all
}

fn summary(capture: &[u8]) -> Summary {
    let mut trace = Trace::new();
    trace.read(capture, &|| true).expect("a capture");
    Summary::of(trace).0
}

fn check(summary: &Summary) {
    assert_eq!(summary.connections.len(), 1, "{:?}", summary.read);
    let connection = &summary.connections[0];
    assert_eq!(connection.handshake_ms, Some(20.0));
    let [flow] = &connection.flows[..] else {
        panic!("{connection:?}");
    };
    assert_eq!(
        (flow.from.as_str(), flow.place),
        ("10.0.0.1:40000", "sender")
    );
    assert_eq!((flow.delivered_bytes, flow.packets), (14_600, 11));
    assert_eq!(
        (flow.retransmitted, flow.lost, flow.spurious),
        (1, Some(1), 0)
    );
    assert_eq!(flow.rtprop_ms, Some(20.0));
}

#[test]
fn each_format_and_link_says_the_same() {
    for capture in corpus() {
        check(&summary(&capture));
    }
    for (link, before) in wrappings() {
        let summary = summary(&pcap(link, &before, false, false));
        assert_eq!(
            summary.connections.len(),
            1,
            "link {link}: {before:?}: {:?}",
            summary.read
        );
        check(&summary);
    }
}

/// The counts of a capture with one packet of these bytes.
fn read(link: u32, packet: &[u8]) -> Counts {
    let len = packet.len() as u32;
    let mut file = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, link, 1, 0, len, len]
        .map(u32::to_le_bytes)
        .concat();
    file.extend(packet);
    summary(&file).read
}

/// Hop-by-hop options are allowed only as the first extension header. The second ones, and what they would lead to, are not
/// followed: the next protocol would be read from behind the packet.
#[test]
fn extension_headers_end_where_the_packet_ends() {
    let whole = [extensions(), packets()[2].1.clone()].concat();
    assert_eq!(read(101, &whole).tcp, 1);
    let headers = extensions().len();
    for len in 0..whole.len() {
        let counts = read(101, &whole[..len]);
        assert_eq!(
            (counts.packets, counts.tcp, counts.short),
            (1, 0, 1),
            "{len}"
        );
    }
    for place in [48, 56, headers - 16] {
        let mut twice = whole.clone();
        twice[place] = 0;
        let counts = read(101, &twice);
        let others: Vec<_> = counts.others.into_iter().collect();
        assert_eq!(others, [(Unread::IpProtocol(0), 1)], "{place}");
    }
    // The only extension header claims to be followed by another one.
    let mut alone = whole[..48].to_vec();
    for next in 0..=255 {
        alone[40] = next;
        assert_eq!(read(101, &alone).tcp, 0, "{next}");
    }
}

/// The packets of one moment and direction in one frame, as 802.11 aggregates them.
#[test]
fn packets_that_share_a_wireless_frame_are_read() {
    let (file, longest) = aggregates();
    let summary = summary(&file);
    assert_eq!(summary.read.packets, packets().len() as u64);
    check(&summary);
    // What the capture has cut off counts, each packet where it is known.
    let counts = read(105, &longest[..longest.len() / 2]);
    assert_eq!((counts.packets, counts.tcp), (5, 5));
    for len in 0..longest.len() {
        read(105, &longest[..len]);
    }
}

#[test]
fn what_is_not_read_is_named() {
    let frame = |kind: [u8; 2]| [&[2; 12][..], &kind, &[0x45; 40]].concat();
    for (link, packet, name) in [
        (1, frame([8, 6]), "EtherType 0x0806 (ARP)"),
        (1, frame([0x89, 0x15]), "EtherType 0x8915 (RoCE)"),
        (1, frame([0xab, 0xcd]), "EtherType 0xabcd"),
        (1, frame([0, 40]), "IEEE 802.2 (LLC)"),
        (101, over_ip(132, &[0; 20]), "IP protocol 132 (SCTP)"),
        (101, over_ip(115, &[0; 20]), "IP protocol 115"),
        (101, vec![0x50; 20], "an unknown version of IP"),
        (
            9,
            vec![0, 0xfd, 1, 2],
            "PPP protocol 0x00fd (compressed or encrypted)",
        ),
        (105, vec![0x80; 40], "IEEE 802.11 management"),
    ] {
        let counts = read(link, &packet);
        let named: Vec<_> = counts.others.keys().map(Unread::to_string).collect();
        assert_eq!((counts.other, &named[..]), (1, &[name.to_owned()][..]));
    }
    for (link, packet, name) in [
        (
            105,
            [&[0x08, 0x42][..], &[0; 40]].concat(),
            "802.11-encryption",
        ),
        (1, frame([0x88, 0xe5]), "macsec"),
        (101, over_ip(115, &[9; 40]), "l2tp"),
        (
            101,
            over_udp(1701, &[&[0, 3][..], &[9; 40]].concat()),
            "l2tp",
        ),
    ] {
        let counts = read(link, &packet);
        assert_eq!(counts.opaque.into_iter().collect::<Vec<_>>(), [(name, 1)]);
    }
    let links = read(253, &[0; 20]).unknown_links;
    assert_eq!(links.into_iter().collect::<Vec<_>>(), [(253, 1)]);
}

#[test]
fn tunnels_have_more_ports_than_one() {
    check(&summary(&pcap(1, &vxlan(8_472), false, false)));
    for (ports, payload, name) in [
        ([51_820, 4_000], &[4, 0, 0, 0, 1][..], Some("wireguard")),
        ([4_000, 51_820], &[4, 0, 0, 0, 1], Some("wireguard")),
        ([4_500, 4_000], &[1, 2, 3, 4, 5], Some("esp")),
        ([4_000, 4_500], &[1, 2, 3, 4, 5], Some("esp")),
        // IKE.
        ([4_500, 4_500], &[0, 0, 0, 0, 5], None),
        ([4_000, 4_001], &[1, 2, 3, 4, 5], None),
    ] {
        let mut packet = vec![
            0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
        ];
        let len = 8 + payload.len() as u16;
        packet.extend([ports[0], ports[1], len, 0].map(u16::to_be_bytes).concat());
        packet.extend(payload);
        let mut writer = Writer::new(Vec::new(), "tunnel").expect("a vector takes everything");
        let written = writer.raw(Time::ZERO, &packet, 0);
        written.expect("a vector takes everything");
        let read = summary(&writer.finish().expect("a vector takes everything")).read;
        let opaque = read.opaque.keys().next().map(|name| &**name);
        assert_eq!(opaque, name, "{ports:?}");
    }
}

#[test]
fn compressed_captures_and_pieces_of_them_are_read() {
    let plain = pcapng();
    check(&summary(&gzip(&plain)));
    // Two members, as `cat a.gz b.gz` makes them. The capture is split at any place.
    let (one, other) = plain.split_at(plain.len() / 3);
    check(&summary(&[one, other].map(gzip).concat()));
    let [one, other] = [one, other].map(zstd);
    check(&summary(&[&one[..], &other].concat()));
    // Skippable frames, as in files of `pzstd` and in seekable files.
    let skip = [&[0x5e, 0x2a, 0x4d, 0x18, 5, 0, 0, 0], &b"12345"[..]].concat();
    let frames = [&skip[..], &skip, &one, &skip, &other, &skip].concat();
    check(&summary(&frames));
}

#[test]
fn what_is_no_capture_is_answered_in_a_line() {
    for (bytes, says) in [
        (&b""[..], "empty"),
        (b"no", "not a capture"),
        (
            b"no capture at all, but text that is long enough",
            "not a capture",
        ),
        (&[0xd4, 0xc3, 0xb2, 0xa1, 0, 0], "header"),
        (&[0x1f, 0x8b, 8, 0, 0, 0], "cannot be read"),
        (&[0x28, 0xb5, 0x2f, 0xfd, 0], "cannot be read"),
    ] {
        let error = Trace::new().read(bytes, &|| true).expect_err("no capture");
        assert!(error.to_string().contains(says), "{error} for {bytes:?}");
    }
}

/// The captures that are damaged below are readable undamaged.
#[test]
fn seeds_are_read() {
    let logged = summary(&sequence());
    assert_eq!(logged.connections.len(), 1);
    assert_eq!(logged.connections[0].flows[0].delivered_bytes, 1_000);
    let counts = read(101, &options());
    assert_eq!((counts.tcp, counts.damaged_options), (1, 0));
}

#[test]
fn every_truncation_has_an_answer() {
    for capture in breakable() {
        for length in 0..capture.len() {
            crate::fuzz::files(&capture[..length]);
        }
    }
}

#[test]
fn every_flipped_bit_has_an_answer() {
    for mut capture in breakable() {
        for place in 0..capture.len() * 8 {
            capture[place / 8] ^= 1 << (place % 8);
            crate::fuzz::files(&capture);
            capture[place / 8] ^= 1 << (place % 8);
        }
    }
}

#[test]
fn fuzz_any_bytes_have_an_answer() {
    fuzzing::run("trace_files", &breakable(), crate::fuzz::files);
}

#[test]
fn connections_are_bounded_and_the_small_ones_go() {
    let mut writer = Writer::new(Vec::new(), "many").expect("a vector takes everything");
    for number in 0..120_000_u32 {
        let [_, x, y, z] = number.to_be_bytes();
        let packet = TcpPacket {
            from: SocketAddrV4::new(Ipv4Addr::new(10, x, y, z), 1_000),
            to: B,
            id: 0,
            ecn: 0,
            seq: 1,
            ack: 1,
            flags: Flags::ACK,
            window: 1,
            options: &[],
            len: if number < 100 { 1_000 } else { 0 },
        };
        let at = Time::from_nanos(number.into());
        writer
            .packet(at, &packet)
            .expect("a vector takes everything");
    }
    let summary = summary(&writer.finish().expect("a vector takes everything"));
    assert!(summary.connections.len() <= crate::MAX_CONNECTIONS);
    assert_eq!(summary.connections.len() as u64 + summary.evicted, 120_000);
    let with_data = summary
        .connections
        .iter()
        .filter(|one| !one.flows.is_empty());
    assert_eq!(with_data.count(), 100);
}

#[test]
fn fuzz_any_packets_have_an_answer() {
    let packet = &packets()[2].1;
    let corpus = wrappings().into_iter().map(|(link, before)| {
        let link = u16::try_from(link).expect("two bytes").to_be_bytes();
        [&link[..], &before, packet].concat()
    });
    let mut corpus: Vec<_> = corpus.collect();
    corpus.push([&[0, 101][..], &options()].concat());
    corpus.push([&[0, 105][..], &aggregates().1[..3_100]].concat());
    for one in &corpus {
        for len in 0..one.len() {
            crate::fuzz::packets(&one[..len]);
        }
    }
    fuzzing::run("trace_packets", &corpus, crate::fuzz::packets);
}

/// The most memory for a damaged file: a Zstandard window, which has at most 100 MB, and the reader's own buffers.
const MEMORY: u64 = 160 << 20;

/// The number of damaged captures to try, and the seed.
const CASES: (&str, u64) = ("FULLPIPE_FUZZ_CASES", 20_000);
const SEED: (&str, u64) = ("FULLPIPE_FUZZ_SEED", 1);

/// `FULLPIPE_FUZZ_CASES=1000000 cargo test -p fullpipe-trace --lib damaged -- --nocapture` tries a million captures.
#[test]
fn damaged_captures_have_an_answer_and_take_little_memory() {
    let number = |(name, default): (&str, u64)| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}: expected a number")),
        Err(_) => default,
    };
    let (cases, seed) = (number(CASES), number(SEED));
    let corpus = breakable();
    let mut random = seed;
    let mut draw = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let mut most = 0;
    for case in 0..cases {
        let mut capture = corpus[draw(corpus.len())].clone();
        for _ in 0..=draw(4) {
            let place = draw(capture.len());
            capture[place] ^= 1 << draw(8);
        }
        if draw(2) == 0 {
            capture.truncate(draw(capture.len()));
        }
        let taken = allocation_counter::measure(|| crate::fuzz::files(&capture)).bytes_max;
        assert!(
            taken <= MEMORY,
            "case {case} of seed {seed} took {taken} bytes"
        );
        most = most.max(taken);
    }
    println!("{cases} damaged captures, seed {seed}: at most {most} bytes at once");
}
