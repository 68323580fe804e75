//! The headers before IP.

use super::bytes::{half, word};
use super::{Seen, Tunnel, ip};
use crate::read::Frame;

/// Link types (<https://www.tcpdump.org/linktypes.html>).
mod link_type {
    pub const NULL: u32 = 0;
    pub const ETHERNET: u32 = 1;
    pub const PPP: u32 = 9;
    pub const RAW_BSD: u32 = 12;
    pub const RAW_OPENBSD: u32 = 14;
    pub const PPP_HDLC: u32 = 50;
    pub const PPP_ETHER: u32 = 51;
    pub const RAW: u32 = 101;
    pub const C_HDLC: u32 = 104;
    pub const LOOP: u32 = 108;
    pub const LINUX_SLL: u32 = 113;
    pub const IPV4: u32 = 228;
    pub const IPV6: u32 = 229;
    pub const LINUX_SLL2: u32 = 276;
}

/// EtherTypes (IEEE 802 Numbers of IANA).
mod ether_type {
    pub const IPV4: u16 = 0x0800;
    pub const VLAN: u16 = 0x8100;
    pub const OLD_VLAN: u16 = 0x9100;
    pub const IPV6: u16 = 0x86dd;
    pub const MPLS: u16 = 0x8847;
    pub const MPLS_MULTICAST: u16 = 0x8848;
    pub const PPPOE: u16 = 0x8864;
    pub const PROVIDER_VLAN: u16 = 0x88a8;
    pub const BRIDGED: u16 = 0x6558;
}

/// The most tags and labels on a packet.
const MOST_TAGS: usize = 16;

/// The deepest nesting of packets.
const DEEPEST: u8 = 4;

pub fn parse<'f>(frame: &Frame<'f>) -> Seen<'f> {
    use link_type::*;
    let data = frame.data;
    let walk = Walk {
        frame: *frame,
        tunnel: None,
        depth: 0,
    };
    let behind = |bytes: usize| data.get(bytes..).unwrap_or_default();
    match frame.link {
        ETHERNET => walk.ethernet(data),
        // The header is the address family of the capturing machine. IPv4 is 2 everywhere, but IPv6 differs. The IP version
        // tells them apart.
        NULL | LOOP => walk.ip(behind(4)),
        RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => walk.ip(data),
        LINUX_SLL => walk.typed(half(data, 14), behind(16)),
        LINUX_SLL2 => walk.typed(half(data, 0), behind(20)),
        PPP | PPP_HDLC => walk.ppp(data),
        PPP_ETHER => walk.ppp(behind(6)),
        C_HDLC => walk.typed(half(data, 2), behind(4)),
        other => Seen::UnknownLink(other),
    }
}

/// The position in a frame while it is decoded.
#[derive(Debug, Clone, Copy)]
pub struct Walk<'f> {
    pub frame: Frame<'f>,
    /// The innermost tunnel that was entered.
    pub tunnel: Option<Tunnel>,
    /// The number of packets around this position.
    pub depth: u8,
}

impl<'f> Walk<'f> {
    /// Decodes a packet within this one with `inside`.
    pub fn within(
        mut self,
        tunnel: Option<Tunnel>,
        inside: impl FnOnce(Walk<'f>) -> Seen<'f>,
    ) -> Seen<'f> {
        if self.depth >= DEEPEST {
            return Seen::Other;
        }
        self.depth += 1;
        self.tunnel = tunnel.or(self.tunnel);
        inside(self)
    }

    /// An Ethernet frame.
    pub fn ethernet(self, data: &'f [u8]) -> Seen<'f> {
        self.typed(half(data, 12), data.get(14..).unwrap_or_default())
    }

    /// Decodes data by their EtherType.
    pub fn typed(self, kind: Option<u16>, data: &'f [u8]) -> Seen<'f> {
        use ether_type::*;
        let (Some(mut kind), mut data) = (kind, data) else {
            return Seen::Short;
        };
        for _ in 0..MOST_TAGS {
            match kind {
                IPV4 | IPV6 => return self.ip(data),
                VLAN | OLD_VLAN | PROVIDER_VLAN => {
                    let Some(next) = half(data, 2) else {
                        return Seen::Short;
                    };
                    (kind, data) = (next, &data[4..]);
                }
                MPLS | MPLS_MULTICAST => return self.mpls(data),
                PPPOE => return self.ppp(data.get(6..).unwrap_or_default()),
                BRIDGED if self.depth > 0 => return self.within(None, |walk| walk.ethernet(data)),
                // A length as in IEEE 802.3: LLC follows, and perhaps SNAP with an EtherType (RFC 1042).
                length if length < 0x600 && data.starts_with(&[0xaa, 0xaa, 3, 0, 0, 0]) => {
                    let Some(next) = half(data, 6) else {
                        return Seen::Short;
                    };
                    (kind, data) = (next, &data[8..]);
                }
                _ => return Seen::Other,
            }
        }
        Seen::Other
    }

    /// MPLS labels (RFC 3032). Behind the last one is IP, or a control word and an Ethernet frame (RFC 4448).
    fn mpls(self, mut data: &'f [u8]) -> Seen<'f> {
        const BOTTOM: u32 = 1 << 8;
        for _ in 0..MOST_TAGS {
            let Some(label) = word(data, 0) else {
                return Seen::Short;
            };
            data = &data[4..];
            if label & BOTTOM != 0 {
                return match data.first().map(|first| first >> 4) {
                    Some(4 | 6) => self.ip(data),
                    Some(0) => self.within(Some(Tunnel::Pseudowire), |walk| {
                        walk.ethernet(data.get(4..).unwrap_or_default())
                    }),
                    Some(_) => Seen::Other,
                    None => Seen::Short,
                };
            }
        }
        Seen::Other
    }

    /// PPP, with or without address and control fields (RFC 1661, RFC 1662). The protocol may have one byte.
    fn ppp(self, data: &'f [u8]) -> Seen<'f> {
        let data = data.strip_prefix(&[0xff, 3]).unwrap_or(data);
        let (protocol, data) = match data {
            [first, rest @ ..] if first & 1 == 1 => (u16::from(*first), rest),
            [first, second, rest @ ..] => (u16::from_be_bytes([*first, *second]), rest),
            _ => return Seen::Short,
        };
        match protocol {
            0x21 | 0x57 => self.ip(data),
            0x281 => self.mpls(data),
            _ => Seen::Other,
        }
    }

    /// IPv4 or IPv6.
    pub fn ip(self, data: &'f [u8]) -> Seen<'f> {
        ip::parse(self, data)
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::packet;

    /// An IPv4 packet with TCP from 10.0.0.1 to 10.0.0.2.
    const TCP: [u8; 40] = {
        let mut bytes = [0; 40];
        (bytes[0], bytes[3], bytes[9]) = (0x45, 40, 6);
        (bytes[12], bytes[15], bytes[16], bytes[19]) = (10, 1, 10, 2);
        (bytes[32], bytes[33]) = (0x50, 16);
        bytes
    };

    /// The result of decoding `outer`, `inner` this many times, and a TCP segment.
    fn seen(outer: &[u8], inner: &[u8], times: usize) -> &'static str {
        let data = [outer, &inner.repeat(times), &[0; 12], &[8, 0], &TCP].concat();
        let frame = Frame {
            at: Time::ZERO,
            link: link_type::ETHERNET,
            wire_len: u32::try_from(data.len()).expect("short"),
            data: &data,
        };
        match packet::parse(&frame) {
            Seen::Packet(_) => "packet",
            Seen::Other => "other",
            _ => "something else",
        }
    }

    #[test]
    fn packets_within_packets_end_somewhere() {
        let ethernet = |kind: [u8; 2]| [&[0; 12], &kind[..]].concat();
        // A label, the last label, and a control word, with Ethernet behind them.
        let wire = [&ethernet([0x88, 0x47])[..], &[0, 0, 1, 0, 0, 0, 0, 0]].concat();
        assert_eq!(seen(&[], &wire, 2), "packet");
        assert_eq!(seen(&[], &wire, 100_000), "other");
        let mut gre = [&ethernet([8, 0])[..], &TCP[..20], &[0, 0, 0x65, 0x58]].concat();
        (gre[14 + 2], gre[14 + 3], gre[14 + 9]) = (0xff, 0xff, 47);
        let bridged = ethernet([0x65, 0x58]);
        assert_eq!(seen(&gre, &bridged, 1), "packet");
        assert_eq!(seen(&gre, &bridged, 100_000), "other");
    }
}
