//! IP headers, and the transport that they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bytes::{half, word};
use super::link::Walk;
use super::{Body, Decoded, Endpoint, Packet, Segment, Unread, tunnel};

/// "Congestion experienced" (RFC 3168, section 5).
const CE: u8 = 3;

/// The bits of the fragment offset beside the flags (RFC 791, section 3.1).
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// The lengths of the fixed headers.
const V4: usize = 20;
const V6: usize = 40;

/// IP protocols, and extension headers of IPv6 (Assigned Internet Protocol Numbers of IANA).
pub mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const IPV4: u8 = 4;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const IPV6: u8 = 41;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const GRE: u8 = 47;
    pub const ESP: u8 = 50;
    pub const AUTHENTICATION: u8 = 51;
    pub const DESTINATION: u8 = 60;
    pub const ETHER_IP: u8 = 97;
    pub const L2TP: u8 = 115;
    pub const MOBILITY: u8 = 135;
    pub const MPLS: u8 = 137;
    pub const HOST_IDENTITY: u8 = 139;
    pub const SHIM6: u8 = 140;
}

/// The fields of an IP header that matter.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    from: IpAddr,
    to: IpAddr,
    /// The length of the whole packet.
    len: u32,
    id: u16,
    ecn: u8,
    protocol: u8,
    is_later_fragment: bool,
}

pub fn parse<'f>(walk: Walk<'f>, data: &'f [u8]) -> Decoded<'f> {
    let parsed = match data.first().map(|first| first >> 4) {
        Some(4) => v4(&walk, data),
        Some(6) => v6(&walk, data),
        Some(_) => return Decoded::Other(Unread::NotIp),
        None => return Decoded::Short,
    };
    let Some((header, payload, payload_len)) = parsed else {
        return Decoded::Short;
    };
    if header.is_later_fragment {
        return Decoded::Fragment;
    }
    match header.protocol {
        protocol::TCP => tcp(&walk, &header, payload, payload_len),
        protocol::UDP => udp(walk, &header, payload),
        protocol => tunnel::enter(walk, protocol, payload),
    }
}

/// True if these data, whose first nibble is 4 or 6, are surely an IP packet: IPv4 has the right checksum; IPv6, which has none,
/// ends where the frame ends.
pub fn is_sound(walk: &Walk<'_>, data: &[u8]) -> bool {
    /// A frame check sequence, which some captures have.
    const TRAILER_BYTES: u32 = 4;
    /// The shortest Ethernet frame. Shorter ones are padded.
    const SHORTEST_BYTES: u32 = 60 + TRAILER_BYTES;
    let Some((header_len, spare)) = extent(walk, data) else {
        return false;
    };
    match data.get(..header_len) {
        Some(header) if header[0] >> 4 == 4 => {
            let sum = header.chunks_exact(2).fold(0, |sum: u32, pair| {
                sum + u32::from(u16::from_be_bytes([pair[0], pair[1]]))
            });
            // In ones' complement, carries are added at the lower end (RFC 1071).
            (sum >> 16) + (sum & 0xffff) == 0xffff
        }
        Some(_) => spare <= TRAILER_BYTES || walk.frame.wire_len <= SHORTEST_BYTES,
        None => false,
    }
}

/// True if these data may be an IP packet: its lengths fit what was on the wire.
pub fn is_plausible(walk: &Walk<'_>, data: &[u8]) -> bool {
    extent(walk, data).is_some()
}

/// The length of an IP header, and the bytes of the frame behind the packet. `None` if the lengths in the header cannot be.
fn extent(walk: &Walk<'_>, data: &[u8]) -> Option<(usize, u32)> {
    let there = whole(walk, data);
    let (header_len, len) = match data.first()? >> 4 {
        4 => {
            let len = half(data, 2)?.into();
            let len = if len == 0 { there } else { len };
            (usize::from(data[0] & 0xf) * 4, len)
        }
        6 => (V6, 40 + u32::from(half(data, 4)?)),
        _ => return None,
    };
    let is_possible = header_len >= V4 && u32::try_from(header_len).is_ok_and(|own| own <= len);
    Some((header_len, there.checked_sub(len)?)).filter(|_| is_possible)
}

/// The longest packet that a kernel builds before it splits it (Linux `GSO_MAX_SIZE`).
const MAX_PACKET_BYTES: u32 = 8 * u16::MAX as u32;

/// The length of a packet whose header has none: a kernel that splits the packet later leaves the field empty (RFC 2675,
/// "Big TCP").
fn whole(walk: &Walk<'_>, data: &[u8]) -> u32 {
    let before = walk.frame.data.len().saturating_sub(data.len());
    let before = u32::try_from(before).unwrap_or(u32::MAX);
    walk.frame
        .wire_len
        .saturating_sub(before)
        .min(MAX_PACKET_BYTES)
}

fn v4<'f>(walk: &Walk<'f>, data: &'f [u8]) -> Option<(Header, &'f [u8], u32)> {
    let (fixed, _) = data.split_first_chunk::<V4>()?;
    let header_len = usize::from(fixed[0] & 0xf) * 4;
    if header_len < V4 {
        return None;
    }
    let payload = data.get(header_len..)?;
    let len = match half(fixed, 2)? {
        0 => whole(walk, data),
        len => len.into(),
    };
    let address = |at| Some(Ipv4Addr::from_bits(word(fixed, at)?).into());
    let mut header = Header {
        from: address(12)?,
        to: address(16)?,
        len,
        id: half(fixed, 4)?,
        ecn: fixed[1] & 3,
        protocol: fixed[9],
        is_later_fragment: half(fixed, 6)? & FRAGMENT_OFFSET > 0,
    };
    let payload_len = len.saturating_sub(u32::try_from(header_len).ok()?);
    let mut payload = (cut(payload, payload_len), payload_len);
    if header.protocol == protocol::AUTHENTICATION && !header.is_later_fragment {
        payload = header.pass_extension(payload)?;
    }
    Some((header, payload.0, payload.1))
}

fn v6<'f>(walk: &Walk<'f>, data: &'f [u8]) -> Option<(Header, &'f [u8], u32)> {
    let (fixed, payload) = data.split_first_chunk::<V6>()?;
    let payload_len = match half(fixed, 4)? {
        0 => whole(walk, data).saturating_sub(40),
        len => len.into(),
    };
    let address = |at: usize| {
        let (octets, _) = fixed.get(at..)?.split_first_chunk::<16>()?;
        Some(Ipv6Addr::from(*octets).into())
    };
    let mut header = Header {
        from: address(8)?,
        to: address(24)?,
        len: payload_len.saturating_add(40),
        id: 0,
        ecn: fixed[1] >> 4 & 3,
        protocol: fixed[6],
        is_later_fragment: false,
    };
    let mut payload = (cut(payload, payload_len), payload_len);
    // Only the first extension header may be a hop-by-hop header (RFC 8200, section 4.1).
    if header.protocol == protocol::HOP_BY_HOP {
        payload = header.pass_extension(payload)?;
    }
    while header.has_extension() {
        payload = header.pass_extension(payload)?;
    }
    Some((header, payload.0, payload.1))
}

impl Header {
    /// True if an extension header follows that may be anywhere. Behind the header of a later fragment are data.
    #[inline]
    fn has_extension(&self) -> bool {
        use protocol::*;
        let is_extension = matches!(
            self.protocol,
            ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6
        );
        is_extension && !self.is_later_fragment
    }

    /// Passes an extension header. Its first two bytes are the next protocol and its own length. `None` if it is not complete.
    fn pass_extension<'f>(&mut self, (data, len): (&'f [u8], u32)) -> Option<(&'f [u8], u32)> {
        let (&next, &words) = (data.first()?, data.get(1)?);
        let own = match self.protocol {
            protocol::FRAGMENT => 8,
            // In units of four bytes, without the first two (RFC 4302, section 2.2).
            protocol::AUTHENTICATION => (usize::from(words) + 2) * 4,
            // In units of eight bytes, without the first one (RFC 6564, section 4).
            _ => (usize::from(words) + 1) * 8,
        };
        let rest = data.get(own..)?;
        if self.protocol == protocol::FRAGMENT {
            self.is_later_fragment = half(data, 2)? >> 3 > 0;
        }
        self.protocol = next;
        Some((rest, len.saturating_sub(u32::try_from(own).ok()?)))
    }
}

/// The packet without the link's padding or trailer.
fn cut(data: &[u8], len: u32) -> &[u8] {
    data.get(..len as usize).unwrap_or(data)
}

fn packet<'f>(walk: &Walk<'f>, header: &Header, ports: (u16, u16), body: Body<'f>) -> Decoded<'f> {
    Decoded::Packet(Packet {
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

fn tcp<'f>(walk: &Walk<'f>, header: &Header, data: &'f [u8], len: u32) -> Decoded<'f> {
    let (Some(from), Some(to), Some(segment)) =
        (half(data, 0), half(data, 2), Segment::parse(data, len))
    else {
        return Decoded::Short;
    };
    packet(walk, header, (from, to), Body::Tcp(segment))
}

fn udp<'f>(walk: Walk<'f>, header: &Header, data: &'f [u8]) -> Decoded<'f> {
    let (Some(from), Some(to), Some(len)) = (half(data, 0), half(data, 2), half(data, 4)) else {
        return Decoded::Short;
    };
    let payload = data.get(8..).unwrap_or_default();
    if let Some(seen) = tunnel::of_ports(walk, (from, to), payload) {
        return seen;
    }
    let len = u32::from(len).saturating_sub(8);
    let payload = cut(payload, len);
    packet(&walk, header, (from, to), Body::Udp { len, payload })
}
