//! IP headers, and the transport that they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice};

use super::bytes::half;
use super::link::Walk;
use super::{Body, Endpoint, Packet, Seen, Segment, tunnel};

/// "Congestion experienced" (RFC 3168, section 5).
const CE: u8 = 3;

/// The fields of an IP header that matter.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    from: IpAddr,
    to: IpAddr,
    /// The length of the whole packet.
    len: u32,
    id: u16,
    ecn: u8,
    protocol: IpNumber,
    is_later_fragment: bool,
}

pub fn parse<'f>(walk: Walk<'f>, data: &'f [u8]) -> Seen<'f> {
    let parsed = match data.first().map(|first| first >> 4) {
        Some(4) => v4(&walk, data),
        Some(6) => v6(&walk, data),
        Some(_) => return Seen::Other,
        None => return Seen::Short,
    };
    let Some((header, payload, payload_len)) = parsed else {
        return Seen::Short;
    };
    if header.is_later_fragment {
        return Seen::Fragment;
    }
    match header.protocol {
        IpNumber::TCP => tcp(&walk, &header, payload, payload_len),
        IpNumber::UDP => udp(walk, &header, payload),
        protocol => tunnel::enter(walk, protocol, payload),
    }
}

/// The longest packet that a kernel builds before it splits it (Linux `GSO_MAX_SIZE`).
const LONGEST: u32 = 8 * u16::MAX as u32;

/// The length of a packet whose header has none: a kernel that splits the packet later leaves the field empty (RFC 2675,
/// "Big TCP").
fn whole(walk: &Walk<'_>, data: &[u8]) -> u32 {
    let before = walk.frame.data.len().saturating_sub(data.len());
    let before = u32::try_from(before).unwrap_or(u32::MAX);
    walk.frame.wire_len.saturating_sub(before).min(LONGEST)
}

fn v4<'f>(walk: &Walk<'f>, data: &'f [u8]) -> Option<(Header, &'f [u8], u32)> {
    let ip = Ipv4HeaderSlice::from_slice(data).ok()?;
    let header_len = ip.slice().len();
    let len = match ip.total_len() {
        0 => whole(walk, data),
        len => len.into(),
    };
    let header = Header {
        from: Ipv4Addr::from(ip.source()).into(),
        to: Ipv4Addr::from(ip.destination()).into(),
        len,
        id: ip.identification(),
        ecn: ip.ecn().value(),
        protocol: ip.protocol(),
        is_later_fragment: ip.fragments_offset().value() > 0,
    };
    let payload_len = len.saturating_sub(u32::try_from(header_len).ok()?);
    Some((header, cut(&data[header_len..], payload_len), payload_len))
}

fn v6<'f>(walk: &Walk<'f>, data: &'f [u8]) -> Option<(Header, &'f [u8], u32)> {
    let ip = Ipv6HeaderSlice::from_slice(data).ok()?;
    let payload_len = match ip.payload_length() {
        0 => whole(walk, data).saturating_sub(40),
        len => len.into(),
    };
    let payload = cut(&data[40..], payload_len);
    let mut header = Header {
        from: Ipv6Addr::from(ip.source()).into(),
        to: Ipv6Addr::from(ip.destination()).into(),
        len: payload_len.saturating_add(40),
        id: 0,
        ecn: ip.traffic_class() & 3,
        protocol: ip.next_header(),
        is_later_fragment: false,
    };
    if matches!(header.protocol, IpNumber::TCP | IpNumber::UDP) {
        return Some((header, payload, payload_len));
    }
    let (extensions, protocol, rest, _) =
        Ipv6ExtensionsSlice::from_slice_lax(header.protocol, payload);
    let later = |extension| match extension {
        etherparse::Ipv6ExtensionSlice::Fragment(fragment) => {
            fragment.fragment_offset().value() > 0
        }
        _ => false,
    };
    header.is_later_fragment = extensions.into_iter().any(later);
    header.protocol = protocol;
    let before = u32::try_from(payload.len().saturating_sub(rest.len())).ok()?;
    Some((header, rest, payload_len.saturating_sub(before)))
}

/// The packet without the link's padding or trailer.
fn cut(data: &[u8], len: u32) -> &[u8] {
    data.get(..len as usize).unwrap_or(data)
}

fn packet<'f>(walk: &Walk<'f>, header: &Header, ports: (u16, u16), body: Body<'f>) -> Seen<'f> {
    Seen::Packet(Packet {
        at: walk.frame.at,
        from: Endpoint {
            address: header.from,
            port: ports.0,
        },
        to: Endpoint {
            address: header.to,
            port: ports.1,
        },
        ip_len: header.len,
        id: header.id,
        is_marked: header.ecn == CE,
        tunnel: walk.tunnel,
        body,
    })
}

fn tcp<'f>(walk: &Walk<'f>, header: &Header, data: &'f [u8], len: u32) -> Seen<'f> {
    let (Some(from), Some(to), Some(segment)) =
        (half(data, 0), half(data, 2), Segment::parse(data, len))
    else {
        return Seen::Short;
    };
    packet(walk, header, (from, to), Body::Tcp(segment))
}

fn udp<'f>(walk: Walk<'f>, header: &Header, data: &'f [u8]) -> Seen<'f> {
    let (Some(from), Some(to), Some(len)) = (half(data, 0), half(data, 2), half(data, 4)) else {
        return Seen::Short;
    };
    let payload = data.get(8..).unwrap_or_default();
    if let Some(seen) = tunnel::of_ports(walk, (from, to), payload) {
        return seen;
    }
    let len = u32::from(len).saturating_sub(8);
    packet(&walk, header, (from, to), Body::Udp { len, payload })
}
