//! Tunnels.

use etherparse::IpNumber;

use super::Seen;
use super::bytes::{half, word};
use super::link::Walk;

/// The GRE protocol types of mirrored frames: one for ERSPAN types I and II, one for type III.
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;

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
        /// IPsec encryption (RFC 4303), which cannot be decoded.
        Esp = "esp",
        /// WireGuard, which cannot be decoded.
        WireGuard = "wireguard",
    }
}

/// Decodes the payload of an IP protocol other than TCP and UDP.
pub fn enter<'f>(walk: Walk<'f>, protocol: IpNumber, data: &'f [u8]) -> Seen<'f> {
    match protocol {
        IpNumber::IPV4 => within(walk, Tunnel::Ipip, |walk| walk.ip(data)),
        IpNumber::IPV6 => within(walk, Tunnel::Ip6, |walk| walk.ip(data)),
        IpNumber::GRE => within(walk, Tunnel::Gre, |walk| gre(walk, data)),
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD => Seen::Opaque(Tunnel::Esp),
        _ => Seen::Other,
    }
}

/// Decodes the payload of a datagram between these ports, if one of them is a tunnel's port.
pub fn of_ports<'f>(walk: Walk<'f>, (from, to): (u16, u16), data: &'f [u8]) -> Option<Seen<'f>> {
    match to {
        // Linux uses 8472 by default.
        4789 | 8472 if data.first()? & 0x08 != 0 => {
            let inner = data.get(8..)?;
            Some(within(walk, Tunnel::Vxlan, |walk| walk.ethernet(inner)))
        }
        6081 if data.first()? >> 6 == 0 => {
            let options = usize::from(data.first()? & 0x3f) * 4;
            let inner = data.get(8 + options..)?;
            let kind = half(data, 2);
            Some(within(walk, Tunnel::Geneve, |walk| walk.typed(kind, inner)))
        }
        2152 => gtp(walk, data),
        _ if [from, to].contains(&WIREGUARD) => {
            matches!(data, [1..=4, 0, 0, 0, ..]).then_some(Seen::Opaque(Tunnel::WireGuard))
        }
        _ if [from, to].contains(&NAT_TRAVERSAL) => match data {
            // IKE, or a keepalive.
            [0, 0, 0, 0, ..] | [_] | [] => None,
            _ => Some(Seen::Opaque(Tunnel::Esp)),
        },
        _ => None,
    }
}

fn within<'f>(
    walk: Walk<'f>,
    tunnel: Tunnel,
    inside: impl FnOnce(Walk<'f>) -> Seen<'f>,
) -> Seen<'f> {
    walk.within(Some(tunnel), inside)
}

fn gre<'f>(mut walk: Walk<'f>, data: &'f [u8]) -> Seen<'f> {
    let Some(flags) = half(data, 0) else {
        return Seen::Short;
    };
    // Checksum, key and sequence number take four bytes each. Versions above 0 have another format.
    let optional = [0x8000, 0x2000, 0x1000].map(|flag| usize::from(flags & flag != 0) * 4);
    if flags & 7 != 0 {
        return Seen::Opaque(Tunnel::Gre);
    }
    let from = 4 + optional.iter().sum::<usize>();
    let inner = data.get(from..).unwrap_or_default();
    let mirrored = match half(data, 2) {
        // Without a sequence number, ERSPAN has no header of its own.
        Some(ERSPAN) if flags & 0x1000 == 0 => 0,
        Some(ERSPAN) => 8,
        Some(ERSPAN_3) => match inner.get(11) {
            Some(last) => 12 + usize::from(last & 1) * 8,
            None => return Seen::Short,
        },
        kind => return walk.typed(kind, inner),
    };
    walk.tunnel = Some(Tunnel::Erspan);
    walk.ethernet(inner.get(mirrored..).unwrap_or_default())
}

/// A user packet ("G-PDU"). All other messages are signalling.
fn gtp<'f>(walk: Walk<'f>, data: &'f [u8]) -> Option<Seen<'f>> {
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
