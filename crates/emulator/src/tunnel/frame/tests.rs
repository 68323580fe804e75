//! Tests of frames against a reference with another crate's headers and checksums.

use std::ops::Range;
use std::os::fd::OwnedFd;

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{
    Icmpv4Type, Icmpv6Type, IpNumber, Ipv4Header, Ipv6Header, NetHeaders, TcpHeader,
    TransportHeader, TransportSlice,
};
use path::Ecn;
use proptest::prelude::*;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use super::virtio::{GSO_ECN, GSO_NONE, GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VIRTIO, Virtio};
use super::{Frame, Inbox, Received};

/// A large send of TCP.
#[derive(Debug, Clone)]
struct Send {
    ip: Ip,
    tcp: TcpHeader,
    payload: Vec<u8>,
    mss: usize,
}

#[derive(Debug, Clone)]
enum Ip {
    V4(Ipv4Header),
    V6(Ipv6Header),
}

impl Ip {
    fn new(v6: bool, ecn: u8, identification: u16) -> Ip {
        if v6 {
            return Ip::V6(Ipv6Header {
                traffic_class: 0xb8 | ecn,
                next_header: IpNumber::TCP,
                source: [0xfd; 16],
                destination: [0xfe; 16],
                hop_limit: 64,
                ..Ipv6Header::default()
            });
        }
        let mut header =
            Ipv4Header::new(0, 64, IpNumber::TCP, [10, 9, 8, 7], [192, 168, 5, 4]).unwrap();
        header.ecn = ecn.try_into().unwrap();
        header.identification = identification;
        Ip::V4(header)
    }

    /// Returns the headers of a packet with a payload of `length` bytes.
    fn bytes(&self, segment: usize, length: usize, mark: bool) -> Vec<u8> {
        match self.clone() {
            Ip::V4(mut header) => {
                header.set_payload_len(length).unwrap();
                header.identification = header.identification.wrapping_add(segment as u16);
                if mark {
                    header.ecn = 3.try_into().unwrap();
                }
                header.header_checksum = header.calc_header_checksum();
                header.to_bytes().to_vec()
            }
            Ip::V6(mut header) => {
                header.set_payload_length(length).unwrap();
                header.traffic_class |= u8::from(mark) * 3;
                header.to_bytes().to_vec()
            }
        }
    }

    fn checksum(&self, tcp: &TcpHeader, payload: &[u8]) -> u16 {
        match self {
            Ip::V4(header) => tcp.calc_checksum_ipv4(header, payload).unwrap(),
            Ip::V6(header) => tcp.calc_checksum_ipv6(header, payload).unwrap(),
        }
    }

    /// Returns the pseudo header's sum, word by word, which replaces the checksum until that is computed.
    fn partial(&self, length: usize) -> u16 {
        let addresses = match self {
            Ip::V4(header) => [&header.source[..], &header.destination].concat(),
            Ip::V6(header) => [&header.source[..], &header.destination].concat(),
        };
        let mut sum = 6 + length as u64;
        for word in addresses.chunks(2) {
            sum += u64::from(word[0]) * 256 + u64::from(word[1]);
        }
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

impl Send {
    fn segments(&self) -> u32 {
        self.payload.len().div_ceil(self.mss).max(1) as u32
    }

    /// Returns the packets that a network card sends, each with its own headers and checksums.
    fn packets(&self, segments: Range<u32>, mark: bool) -> Vec<Vec<u8>> {
        segments
            .map(|segment| {
                let mut tcp = self.tcp.clone();
                let start = segment as usize * self.mss;
                let end = (start + self.mss).min(self.payload.len());
                let payload = &self.payload[start..end];
                tcp.sequence_number = tcp.sequence_number.wrapping_add(start as u32);
                tcp.cwr &= segment == 0;
                let is_last = segment + 1 == self.segments();
                tcp.fin &= is_last;
                tcp.psh &= is_last;
                tcp.checksum = self.ip.checksum(&tcp, payload);
                let length = tcp.header_len() + payload.len();
                let ip = self.ip.bytes(segment as usize, length, mark);
                [ip, tcp.to_bytes().to_vec(), payload.to_vec()].concat()
            })
            .collect()
    }

    /// Returns the frame that the kernel passes on.
    fn frame(&self) -> Vec<u8> {
        let mut tcp = self.tcp.clone();
        let length = tcp.header_len() + self.payload.len();
        tcp.checksum = self.ip.partial(length);
        let ip = self.ip.bytes(0, length, false);
        let kind = match self.ip {
            Ip::V4(_) => GSO_TCPV4,
            Ip::V6(_) => GSO_TCPV6,
        };
        let virtio = Virtio {
            flags: NEEDS_CSUM,
            gso_type: kind | if tcp.cwr { GSO_ECN } else { 0 },
            hdr_len: (ip.len() + tcp.header_len()) as u16,
            gso_size: self.mss as u16,
            csum_start: ip.len() as u16,
            csum_offset: 16,
        };
        [&virtio.to_bytes()[..], &ip, &tcp.to_bytes(), &self.payload].concat()
    }

    /// Reads the result of `frame`.
    fn from_frame(frame: &[u8]) -> (Virtio, Send) {
        let (virtio, packet) = frame.split_first_chunk::<VIRTIO>().unwrap();
        let virtio = Virtio::from_bytes(virtio);
        let (ip, rest) = match packet[0] >> 4 {
            4 => {
                let (header, rest) = Ipv4Header::from_slice(packet).unwrap();
                assert_eq!(header.header_checksum, header.calc_header_checksum());
                assert_eq!(usize::from(header.total_len), packet.len());
                (Ip::V4(header), rest)
            }
            _ => {
                let (header, rest) = Ipv6Header::from_slice(packet).unwrap();
                assert_eq!(usize::from(header.payload_length), rest.len());
                (Ip::V6(header), rest)
            }
        };
        let (tcp, payload) = TcpHeader::from_slice(rest).unwrap();
        assert_eq!(virtio.flags, NEEDS_CSUM);
        assert_eq!(usize::from(virtio.csum_start), packet.len() - rest.len());
        assert_eq!(virtio.csum_offset, 16);
        assert_eq!(usize::from(virtio.hdr_len), packet.len() - payload.len());
        assert_eq!(tcp.checksum, ip.partial(rest.len()), "partial checksum");
        let send = Send {
            ip,
            mss: match virtio.gso_type {
                GSO_NONE => payload.len().max(1),
                _ => virtio.gso_size.into(),
            },
            payload: payload.to_vec(),
            tcp,
        };
        (virtio, send)
    }
}

/// The kernel's end and ours.
struct Device {
    kernel: OwnedFd,
    ours: OwnedFd,
    inbox: Inbox,
}

impl Device {
    fn new() -> Device {
        let (kernel, ours) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .unwrap();
        Device {
            kernel,
            ours,
            inbox: Inbox::new(),
        }
    }

    fn read(&mut self, frame: &[u8]) -> Option<Frame> {
        rustix::net::send(&self.kernel, frame, SendFlags::empty()).unwrap();
        match self.inbox.read(&self.ours).unwrap() {
            Received::Frame(frame) => Some(frame),
            Received::Malformed => None,
            Received::End => panic!("the kernel's end is open"),
        }
    }

    fn written(&self, frame: &Frame, segments: Range<u32>, mark: bool) -> Vec<u8> {
        frame.write(&self.ours, &segments, mark).unwrap();
        self.received()
    }

    fn received(&self) -> Vec<u8> {
        let mut bytes = vec![0; 80_000];
        let (length, _) = rustix::net::recv(&self.kernel, &mut bytes, RecvFlags::empty()).unwrap();
        bytes.truncate(length);
        bytes
    }
}

fn sends() -> impl Strategy<Value = Send> {
    let flags = any::<[bool; 4]>();
    let options = prop::sample::select(vec![0, 4, 12, 40]);
    let payload = prop_oneof![1..4_000usize, 1..64_000usize];
    let mss = prop_oneof![536..1_461usize, 1_000..9_000usize];
    (
        any::<bool>(),
        0..4u8,
        any::<u16>(),
        any::<u32>(),
        flags,
        options,
        payload,
        mss,
    )
        .prop_map(
            |(v6, ecn, identification, sequence, [fin, psh, cwr, ack], options, payload, mss)| {
                let mut tcp = TcpHeader::new(40_000, 443, sequence, 512);
                (tcp.fin, tcp.psh, tcp.cwr, tcp.ack) = (fin, psh, cwr, ack);
                tcp.set_options_raw(&vec![1; options]).unwrap();
                Send {
                    ip: Ip::new(v6, ecn, identification),
                    tcp,
                    payload: (0..payload).map(|byte| (byte * 7 % 251) as u8).collect(),
                    mss,
                }
            },
        )
}

/// Returns adjacent parts of all segments, each marked or not.
fn parts(segments: u32) -> impl Strategy<Value = Vec<(Range<u32>, bool)>> {
    prop::collection::vec((1..12u32, any::<bool>()), 1..40).prop_map(move |lengths| {
        let mut next = 0;
        let mut parts = Vec::new();
        for (length, mark) in lengths {
            let end = (next + length).min(segments);
            if next < end {
                parts.push((next..end, mark));
            }
            next = end;
        }
        if next < segments {
            parts.push((next..segments, false));
        }
        parts
    })
}

proptest! {
    #[test]
    fn parts_are_the_packets_that_a_card_would_have_sent(
        (send, parts) in sends().prop_flat_map(|send| {
            let parts = parts(send.segments());
            (Just(send), parts)
        })
    ) {
        let mut device = Device::new();
        let frame = device.read(&send.frame()).unwrap();
        let layout = frame.layout();
        prop_assert_eq!(layout.segments(), send.segments());
        for (segments, mark) in parts {
            let expected = send.packets(segments.clone(), mark);
            let size = expected.iter().map(Vec::len).sum::<usize>();
            prop_assert_eq!(layout.wire_size(&segments), size);
            let one = segments.start..segments.start + 1;
            prop_assert_eq!(layout.size(&one), expected[0].len());
            let is_untouched = segments.len() as u32 == send.segments() && !mark;
            let written = device.written(&frame, segments.clone(), mark);
            let (virtio, joined) = Send::from_frame(&written);
            // A large packet of one segment may pass unchanged.
            if segments.len() == 1 && !is_untouched {
                prop_assert_eq!(virtio.gso_type, GSO_NONE);
            }
            prop_assert_eq!(virtio.gso_type & GSO_ECN != 0, joined.tcp.cwr && virtio.gso_type != GSO_NONE);
            prop_assert_eq!(joined.packets(0..joined.segments(), false), &expected[..]);
            // A damaged packet has its own checksum and one wrong bit. A checksum of zero is written as in Linux.
            frame.write_damaged(&device.ours, &one, mark).unwrap();
            let damaged = device.received();
            prop_assert_eq!(&damaged[..VIRTIO], &Virtio::default().to_bytes());
            let mut whole = expected[0].clone();
            let checksum = layout.large.as_ref().unwrap().tcp + 16;
            if whole[checksum..checksum + 2] == [0, 0] {
                whole[checksum..checksum + 2].fill(0xff);
            }
            *whole.last_mut().unwrap() ^= 1;
            prop_assert_eq!(&damaged[VIRTIO..], whole);
        }
    }

    #[test]
    fn what_makes_no_sense_does_no_harm(
        bytes in prop::collection::vec(any::<u8>(), 1..200),
        ip in prop::sample::select(vec![0x45, 0x46, 0x4f, 0x60, 0x00]),
        protocol in prop::sample::select(vec![6, 17, 58]),
        gso in prop::sample::select(vec![0, 1, 4, 0x81, 0x84, 3, 5, 0xff]),
        length in prop_oneof![1..200usize, 1..70_000usize],
        segments in any::<(u32, u32)>(),
        mark in any::<bool>(),
    ) {
        let mut frame = bytes;
        frame.resize(length, 0);
        // These bytes make the frame likely to be a valid packet.
        for (place, byte) in [(1, gso), (10, ip), (16, protocol), (19, protocol)] {
            if let Some(place) = frame.get_mut(place) {
                *place = byte;
            }
        }
        let mut device = Device::new();
        if let Some(read) = device.read(&frame) {
            let count = read.layout().segments();
            let start = segments.0 % count;
            let end = start + 1 + segments.1 % (count - start);
            let layout = read.layout();
            prop_assert!(layout.size(&(start..end)) <= length);
            let all = layout.wire_size(&(0..count));
            prop_assert!(all >= length.min(67_584) - VIRTIO);
            device.written(&read, start..end, mark);
            prop_assert_eq!(device.written(&read, 0..count, false), &frame[..length.min(67_584)]);
        }
    }
}

#[test]
fn fuzzed_frames() {
    let corpus = [(false, 1_000), (true, 250), (false, 10)].map(|(v6, payload)| {
        let send = Send {
            ip: Ip::new(v6, 2, 9),
            tcp: TcpHeader::new(40_000, 443, 5, 512),
            payload: vec![1; payload],
            mss: 100,
        };
        send.frame()
    });
    fuzzing::run("emulator_frames", &corpus, super::fuzz::frames);
}

#[test]
fn flows_and_codepoints_are_told_apart() {
    let mut device = Device::new();
    let mut layout = |port: u16, ecn: u8, v6: bool| {
        let mut tcp = TcpHeader::new(port, 443, 0, 0);
        tcp.ack = true;
        let send = Send {
            ip: Ip::new(v6, ecn, 0),
            tcp,
            payload: vec![0; 3_000],
            mss: 1_448,
        };
        device.read(&send.frame()).unwrap().layout().clone()
    };
    for v6 in [false, true] {
        assert_eq!(layout(1, 0, v6).flow, layout(1, 2, v6).flow);
        assert_ne!(layout(1, 0, v6).flow, layout(2, 0, v6).flow);
        let ecn = [0, 1, 2, 3].map(|ecn| layout(1, ecn, v6).ecn);
        let expected = [Ecn::NotCapable, Ecn::L4s, Ecn::Capable, Ecn::Marked];
        assert_eq!(ecn, expected);
    }
    assert_ne!(layout(1, 0, false).flow, layout(1, 0, true).flow);
}

#[test]
fn reports_have_the_mtu_and_quote_the_segment() {
    let mut device = Device::new();
    for v6 in [false, true] {
        let send = Send {
            ip: Ip::new(v6, 2, 9),
            tcp: TcpHeader::new(40_000, 443, 5, 512),
            payload: vec![1; 4_000],
            mss: 1_448,
        };
        let frame = device.read(&send.frame()).unwrap();
        let mtu = path::Mtu::new(1_400).unwrap();
        let report = frame.too_big(&(1..2), mtu).unwrap();
        assert_eq!(report[..VIRTIO], Virtio::default().to_bytes());
        let slice = etherparse::SlicedPacket::from_ip(&report[VIRTIO..]).unwrap();
        let headers = etherparse::PacketHeaders::from_ip_slice(&report[VIRTIO..]).unwrap();
        let quoted = match (headers.transport.unwrap(), headers.net.unwrap()) {
            (TransportHeader::Icmpv4(icmp), NetHeaders::Ipv4(ip, _)) => {
                let needed = DestUnreachableHeader::FragmentationNeeded {
                    next_hop_mtu: 1_400,
                };
                assert_eq!(icmp.icmp_type, Icmpv4Type::DestinationUnreachable(needed));
                assert_eq!(
                    (ip.source, ip.destination),
                    ([192, 168, 5, 4], [10, 9, 8, 7])
                );
                let Some(TransportSlice::Icmpv4(slice)) = slice.transport else {
                    panic!("no ICMP");
                };
                assert_eq!(icmp.checksum, icmp.icmp_type.calc_checksum(slice.payload()));
                slice.payload().to_vec()
            }
            (TransportHeader::Icmpv6(icmp), NetHeaders::Ipv6(ip, _)) => {
                let told = Icmpv6Type::PacketTooBig { mtu: 1_400 };
                assert_eq!(icmp.icmp_type, told);
                assert_eq!((ip.source, ip.destination), ([0xfe; 16], [0xfd; 16]));
                let Some(TransportSlice::Icmpv6(slice)) = slice.transport else {
                    panic!("no ICMP");
                };
                let checksum = told.calc_checksum(ip.source, ip.destination, slice.payload());
                assert_eq!(icmp.checksum, checksum.unwrap());
                slice.payload().to_vec()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(quoted.len(), 548);
        // Its checksum is not computed yet, as in the kernel's frame.
        let segment = &send.packets(1..2, false)[0];
        let checksum = frame.layout().large.as_ref().unwrap().tcp + 16;
        assert_eq!(quoted[..checksum], segment[..checksum]);
        assert_eq!(quoted[checksum + 2..], segment[checksum + 2..548]);
    }
}

#[test]
fn memory_is_used_again() {
    let mut device = Device::new();
    let send = Send {
        ip: Ip::new(false, 0, 0),
        tcp: TcpHeader::new(1, 2, 0, 0),
        payload: vec![0; 60_000],
        mss: 1_448,
    };
    let mut places = std::collections::HashSet::new();
    for _ in 0..100 {
        let frame = device.read(&send.frame()).unwrap();
        places.insert(std::ptr::from_ref(frame.layout()));
    }
    assert!(places.len() <= 2, "{}", places.len());
}
