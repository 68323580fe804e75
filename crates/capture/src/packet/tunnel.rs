//! Tunnels.

use super::bytes::{half, word};
use super::ip::protocol::*;
use super::link::{Walk, ether_type};
use super::{Decoded, Unread};

/// The GRE protocol types of mirrored frames: one for ERSPAN types I and II, one for type III.
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;

/// The server's port of L2TP. The client may have another one (RFC 2661, section 8.1).
const L2TP_PORT: u16 = 1_701;

/// WireGuard's usual port. Either end may have it.
const WIREGUARD: u16 = 51_820;

/// The port of ESP in UDP, and of the IKE packets that negotiate its keys (RFC 3948, section 2).
const NAT_TRAVERSAL: u16 = 4_500;

units::named! {
    /// The tunnel that carried a packet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Tunnel, "tunnel" {
        /// IPv4 within IP (RFC 2003).
        Ipip = "ipip",
        /// IPv6 within IP (RFC 2473, RFC 4213).
        Ip6 = "ip6",
        /// Generic routing encapsulation (RFC 2784, RFC 2890).
        Gre = "gre",
        /// Mirrored Ethernet frames of a switch (draft-foschiano-erspan).
        Erspan = "erspan",
        /// Virtual Ethernet over UDP (RFC 7348).
        Vxlan = "vxlan",
        /// The successor of VXLAN (RFC 8926).
        Geneve = "geneve",
        /// The tunnel of mobile networks (3GPP TS 29.281).
        GtpU = "gtp-u",
        /// Ethernet over MPLS (RFC 4448).
        Pseudowire = "pseudowire",
        /// PPP or Ethernet of remote users (RFC 2661, RFC 3931).
        L2tp = "l2tp",
        /// Ethernet within IP (RFC 3378).
        EtherIp = "etherip",
        /// MPLS within IP or UDP (RFC 4023, RFC 7510).
        Mpls = "mpls-in-ip",
        /// IPv6 over UDP (RFC 4380).
        Teredo = "teredo",
        /// Frames that a sensor forwards (TaZmen Sniffer Protocol).
        Tzsp = "tzsp",
        /// Ethernet within a provider's Ethernet (IEEE 802.1ah).
        ProviderBackbone = "802.1ah",
        /// Ethernet between bridges that route (RFC 6325).
        Trill = "trill",
        /// Encryption of Ethernet (IEEE 802.1AE), which cannot be decoded.
        MacSec = "macsec",
        /// Encryption of wireless networks (IEEE 802.11), which cannot be decoded.
        WirelessEncryption = "802.11-encryption",
        /// IPsec encryption (RFC 4303), which cannot be decoded.
        Esp = "esp",
        /// WireGuard, which cannot be decoded.
        WireGuard = "wireguard",
    }
}

/// Decodes the payload of an IP protocol other than TCP and UDP.
pub fn enter<'f>(walk: Walk<'f>, protocol: u8, data: &'f [u8]) -> Decoded<'f> {
    match protocol {
        IPV4 => within(walk, Tunnel::Ipip, |walk| walk.ip(data)),
        IPV6 => within(walk, Tunnel::Ip6, |walk| walk.ip(data)),
        GRE => within(walk, Tunnel::Gre, |walk| gre(walk, data)),
        ESP => Decoded::Opaque(Tunnel::Esp),
        ETHER_IP => within(walk, Tunnel::EtherIp, |walk| {
            walk.ethernet(data.get(2..).unwrap_or_default())
        }),
        MPLS => within(walk, Tunnel::Mpls, |walk| walk.mpls(data)),
        // A session of number 0 is control (RFC 3931, section 4.1.1).
        L2TP => match word(data, 0) {
            Some(0) => Decoded::Other(Unread::IpProtocol(protocol)),
            Some(_) => within(walk, Tunnel::L2tp, |walk| pseudowire(walk, &data[4..])),
            None => Decoded::Short,
        },
        _ => Decoded::Other(Unread::IpProtocol(protocol)),
    }
}

/// Decodes the payload of a datagram between these ports, if one of them is a tunnel's port.
pub fn of_ports<'f>(walk: Walk<'f>, (from, to): (u16, u16), data: &'f [u8]) -> Option<Decoded<'f>> {
    let version = data.first()? >> 4;
    match to {
        // Linux uses 8472 by default.
        4789 | 8472 if data.first()? & 0x08 != 0 => {
            let inner = data.get(8..)?;
            Some(within(walk, Tunnel::Vxlan, |walk| walk.ethernet(inner)))
        }
        // VXLAN-GPE: the bits of version, instance and next protocol (draft-ietf-nvo3-vxlan-gpe, section 3).
        4790 if data.first()? & 0x3c == 0x0c => {
            let (next, inner) = (*data.get(3)?, data.get(8..)?);
            Some(within(walk, Tunnel::Vxlan, |walk| {
                walk.next_protocol(next, inner)
            }))
        }
        6081 if data.first()? >> 6 == 0 => {
            let options = usize::from(data.first()? & 0x3f) * 4;
            let inner = data.get(8 + options..)?;
            let kind = half(data, 2);
            Some(within(walk, Tunnel::Geneve, |walk| walk.typed(kind, inner)))
        }
        2152 => gtp(walk, data),
        3544 if version == 6 => Some(within(walk, Tunnel::Teredo, |walk| walk.ip(data))),
        4754 => Some(within(walk, Tunnel::Gre, |walk| gre(walk, data))),
        6635 => Some(within(walk, Tunnel::Mpls, |walk| walk.mpls(data))),
        37_008 => tzsp(walk, data),
        _ if [from, to].contains(&L2TP_PORT) => l2tp(walk, data),
        _ if [from, to].contains(&WIREGUARD) => {
            matches!(data, [1..=4, 0, 0, 0, ..]).then_some(Decoded::Opaque(Tunnel::WireGuard))
        }
        _ if [from, to].contains(&NAT_TRAVERSAL) => match data {
            // IKE, or a keepalive.
            [0, 0, 0, 0, ..] | [_] | [] => None,
            _ => Some(Decoded::Opaque(Tunnel::Esp)),
        },
        _ => None,
    }
}

fn within<'f>(
    walk: Walk<'f>,
    tunnel: Tunnel,
    inside: impl FnOnce(Walk<'f>) -> Decoded<'f>,
) -> Decoded<'f> {
    walk.within(Some(tunnel), inside)
}

fn gre<'f>(mut walk: Walk<'f>, data: &'f [u8]) -> Decoded<'f> {
    let Some(flags) = half(data, 0) else {
        return Decoded::Short;
    };
    // Checksum, key and sequence number take four bytes each. Versions above 0 have another format.
    let optional = [0x8000, 0x2000, 0x1000].map(|flag| usize::from(flags & flag != 0) * 4);
    if flags & 7 == 1 && half(data, 2) == Some(ether_type::PPP) {
        // PPTP (RFC 2637, section 4.1): the key is always there, and there may be an acknowledgement.
        let optional = [0x1000, 0x0080].map(|flag| usize::from(flags & flag != 0) * 4);
        let inner = data.get(8 + optional[0] + optional[1]..);
        // Without a payload, it is an acknowledgement alone.
        return match inner {
            Some(inner) if optional[0] > 0 => walk.ppp(inner),
            _ => Decoded::Other(Unread::IpProtocol(GRE)),
        };
    }
    if flags & 7 != 0 {
        return Decoded::Opaque(Tunnel::Gre);
    }
    let from = 4 + optional.iter().sum::<usize>();
    let inner = data.get(from..).unwrap_or_default();
    let mirrored = match half(data, 2) {
        // Without a sequence number, ERSPAN has no header of its own.
        Some(ERSPAN) if flags & 0x1000 == 0 => 0,
        Some(ERSPAN) => 8,
        Some(ERSPAN_3) => match inner.get(11) {
            Some(last) => 12 + usize::from(last & 1) * 8,
            None => return Decoded::Short,
        },
        kind => return walk.typed(kind, inner),
    };
    walk.tunnel = Some(Tunnel::Erspan);
    walk.ethernet(inner.get(mirrored..).unwrap_or_default())
}

/// A user packet ("G-PDU"). All other messages are signalling.
fn gtp<'f>(walk: Walk<'f>, data: &'f [u8]) -> Option<Decoded<'f>> {
    let (flags, kind) = (data.first()?, data.get(1)?);
    if flags >> 5 != 1 || *kind != 0xff {
        return None;
    }
    let mut from = 8;
    if flags & 7 != 0 {
        from += 4;
        // Extension headers. Each has its length, and the type of the next one.
        let mut next = *data.get(11)?;
        while next != 0 {
            let length = usize::from(*data.get(from)?) * 4;
            if length == 0 {
                return None;
            }
            from += length;
            next = *data.get(from - 1)?;
        }
    }
    word(data, from)?;
    let inner = &data[from..];
    Some(within(walk, Tunnel::GtpU, |walk| walk.ip(inner)))
}

/// A data message of L2TP: PPP in version 2 (RFC 2661, section 3.1), and Ethernet in version 3 over UDP (RFC 3931, section
/// 4.1.2). All other messages are control.
fn l2tp<'f>(walk: Walk<'f>, data: &'f [u8]) -> Option<Decoded<'f>> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = half(data, 0)?;
    if flags & CONTROL != 0 {
        return None;
    }
    match flags & 0xf {
        2 => {
            let has = |flag: u16| usize::from(flags & flag != 0);
            let mut from = 6 + has(LENGTH) * 2 + has(SEQUENCE) * 4;
            if flags & OFFSET != 0 {
                from += 2 + usize::from(half(data, from)?);
            }
            let inner = data.get(from..)?;
            Some(within(walk, Tunnel::L2tp, |walk| walk.ppp(inner)))
        }
        3 => {
            let inner = data.get(8..)?;
            Some(within(walk, Tunnel::L2tp, |walk| pseudowire(walk, inner)))
        }
        _ => None,
    }
}

/// An Ethernet frame of L2TPv3. Only the ends know how long the cookie before it is (0, 4 or 8 bytes), and whether a sublayer of
/// four bytes is used (RFC 3931, section 4.1). The EtherType and the IP version behind it show where it begins.
fn pseudowire<'f>(walk: Walk<'f>, data: &'f [u8]) -> Decoded<'f> {
    match frame_at(data, &[4, 0, 8, 12]) {
        Some(frame) => walk.ethernet(frame),
        None => Decoded::Opaque(Tunnel::L2tp),
    }
}

/// The Ethernet frame at the first of these places whose EtherType and IP version agree.
pub fn frame_at<'f>(data: &'f [u8], places: &[usize]) -> Option<&'f [u8]> {
    let is_frame = |data: &&[u8]| match (half(data, 12), data.get(14)) {
        (Some(ether_type::IPV4), Some(first)) => first >> 4 == 4,
        (Some(ether_type::IPV6), Some(first)) => first >> 4 == 6,
        (Some(kind), Some(_)) => [ether_type::VLAN, ether_type::PROVIDER_VLAN].contains(&kind),
        _ => false,
    };
    let mut frames = places.iter().filter_map(|from| data.get(*from..));
    frames.find(is_frame)
}

/// A received or sent Ethernet frame behind TZSP's header and its tags. Other messages are signalling.
fn tzsp<'f>(walk: Walk<'f>, data: &'f [u8]) -> Option<Decoded<'f>> {
    let [1, 0 | 1, 0, 1, tags @ ..] = data else {
        return None;
    };
    let mut tags = tags;
    loop {
        tags = match tags {
            // Padding, and the last tag.
            [0, rest @ ..] => rest,
            [1, frame @ ..] => {
                return Some(within(walk, Tunnel::Tzsp, |walk| walk.ethernet(frame)));
            }
            [_, len, rest @ ..] => rest.get(usize::from(*len)..)?,
            _ => return None,
        };
    }
}
