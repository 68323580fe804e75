//! The headers before IP.

use super::bytes::{half, word};
use super::{Decoded, Tunnel, Unread, ip, tunnel, wireless};
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
    pub const ATM_RFC1483: u32 = 100;
    pub const RAW: u32 = 101;
    pub const C_HDLC: u32 = 104;
    pub const IEEE802_11: u32 = 105;
    pub const LOOP: u32 = 108;
    pub const ENC: u32 = 109;
    pub const LINUX_SLL: u32 = 113;
    pub const PFLOG: u32 = 117;
    pub const PRISM: u32 = 119;
    pub const RADIOTAP: u32 = 127;
    pub const AVS: u32 = 163;
    pub const PPP_PPPD: u32 = 166;
    pub const PPI: u32 = 192;
    pub const PPP_WITH_DIR: u32 = 204;
    pub const C_HDLC_WITH_DIR: u32 = 205;
    pub const MPLS: u32 = 219;
    pub const IPNET: u32 = 226;
    pub const IPV4: u32 = 228;
    pub const IPV6: u32 = 229;
    pub const NFLOG: u32 = 239;
    pub const NETANALYZER: u32 = 240;
    pub const NETANALYZER_TRANSPARENT: u32 = 241;
    pub const PKTAP: u32 = 258;
    pub const ETHERNET_MPACKET: u32 = 274;
    pub const LINUX_SLL2: u32 = 276;
    pub const DSA_TAG_BRCM: u32 = 281;
    pub const DSA_TAG_BRCM_PREPEND: u32 = 282;
    pub const DSA_TAG_DSA: u32 = 284;
    pub const DSA_TAG_EDSA: u32 = 285;
}

/// EtherTypes (IEEE 802 Numbers of IANA).
pub mod ether_type {
    pub const IPV4: u16 = 0x0800;
    pub const TRILL: u16 = 0x22f3;
    pub const BRIDGED: u16 = 0x6558;
    pub const VLAN: u16 = 0x8100;
    pub const IPV6: u16 = 0x86dd;
    pub const PPP: u16 = 0x880b;
    pub const MPLS: u16 = 0x8847;
    pub const MPLS_MULTICAST: u16 = 0x8848;
    pub const PPPOE: u16 = 0x8864;
    pub const PROVIDER_VLAN: u16 = 0x88a8;
    pub const MACSEC: u16 = 0x88e5;
    pub const PROVIDER_BACKBONE: u16 = 0x88e7;
    pub const VN_TAG: u16 = 0x8926;
    pub const E_TAG: u16 = 0x893f;
    pub const SERVICE_HEADER: u16 = 0x894f;
    pub const OLD_VLAN: u16 = 0x9100;
    pub const OLD_VLAN_2: u16 = 0x9200;
    /// Marvell's tag of switch ports: the default of Linux (`ETH_P_EDSA`).
    pub const SWITCH_PORT: u16 = 0xdada;
}

/// The most tags and labels on a packet.
const MAX_TAGS: usize = 16;

/// LLC and SNAP before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// The deepest nesting of packets.
const MAX_NESTED_PACKETS: u8 = 4;

pub fn parse<'f>(frame: &Frame<'f>) -> Decoded<'f> {
    let walk = Walk {
        frame: *frame,
        tunnel: None,
        depth: 0,
    };
    walk.link(frame.link, frame.data)
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
        inside: impl FnOnce(Walk<'f>) -> Decoded<'f>,
    ) -> Decoded<'f> {
        if self.depth >= MAX_NESTED_PACKETS {
            return Decoded::Other(Unread::TooDeep);
        }
        self.depth += 1;
        self.tunnel = tunnel.or(self.tunnel);
        inside(self)
    }

    /// A frame of this link type.
    fn link(self, link: u32, data: &'f [u8]) -> Decoded<'f> {
        use link_type::*;
        let behind = |bytes: usize| data.get(bytes..).unwrap_or_default();
        match link {
            ETHERNET => self.ethernet(data),
            // The header is the address family of the capturing machine. IPv4 is 2 everywhere, but IPv6 differs. The IP version
            // tells them apart.
            NULL | LOOP => self.ip(behind(4)),
            RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => self.ip(data),
            ENC => self.ip(behind(12)),
            IPNET => self.ip(behind(24)),
            // Its first byte is its length, without padding.
            PFLOG => self.ip(behind(
                data.first()
                    .map_or(0, |len| usize::from(*len).next_multiple_of(4)),
            )),
            LINUX_SLL => self.typed(half(data, 14), behind(16)),
            LINUX_SLL2 => self.typed(half(data, 0), behind(20)),
            PPP | PPP_HDLC => self.ppp(data),
            PPP_ETHER => self.ppp(behind(6)),
            PPP_PPPD | PPP_WITH_DIR => self.ppp(behind(1)),
            C_HDLC => self.typed(half(data, 2), behind(4)),
            C_HDLC_WITH_DIR => self.typed(half(data, 3), behind(5)),
            MPLS => self.mpls(data),
            ATM_RFC1483 => self.logical_link(data),
            NETANALYZER => self.ethernet(behind(4)),
            NETANALYZER_TRANSPARENT => self.ethernet(behind(12)),
            ETHERNET_MPACKET => self.ethernet(behind(8)),
            // The tags of switch ports are before, or behind, the addresses of an Ethernet frame.
            DSA_TAG_BRCM_PREPEND => self.ethernet(behind(4)),
            DSA_TAG_BRCM | DSA_TAG_DSA => self.typed(half(data, 16), behind(18)),
            DSA_TAG_EDSA => self.typed(half(data, 20), behind(22)),
            IEEE802_11 => wireless::frame(self, data, false),
            RADIOTAP => wireless::radiotap(self, data),
            PRISM => wireless::frame(self, behind(144), false),
            AVS => wireless::frame(
                self,
                behind(word(data, 4).map_or(usize::MAX, |len| len as usize)),
                false,
            ),
            NFLOG => self.netfilter(data),
            PKTAP => self.described(word(data, 0).map(u32::swap_bytes), word(data, 8), data),
            PPI => self.described(
                half(data, 2).map(|len| len.swap_bytes().into()),
                word(data, 4),
                data,
            ),
            other => Decoded::UnknownLink(other),
        }
    }

    /// A frame behind a header that has this length and tells the link type as a little-endian number.
    fn described(self, len: Option<u32>, link: Option<u32>, data: &'f [u8]) -> Decoded<'f> {
        let (Some(len), Some(link)) = (len, link.map(u32::swap_bytes)) else {
            return Decoded::Short;
        };
        let inner = data.get(len as usize..).unwrap_or_default();
        self.within(None, |walk| walk.link(link, inner))
    }

    /// An Ethernet frame.
    pub fn ethernet(self, data: &'f [u8]) -> Decoded<'f> {
        self.typed(half(data, 12), data.get(14..).unwrap_or_default())
    }

    /// Decodes data by their EtherType.
    pub fn typed(self, kind: Option<u16>, data: &'f [u8]) -> Decoded<'f> {
        use ether_type::*;
        let (Some(mut kind), mut data) = (kind, data) else {
            return Decoded::Short;
        };
        for _ in 0..MAX_TAGS {
            // The offset of the next EtherType; data follow it.
            let next = match kind {
                IPV4 | IPV6 => return self.ip(data),
                VLAN | OLD_VLAN | OLD_VLAN_2 | PROVIDER_VLAN => 2,
                MPLS | MPLS_MULTICAST => return self.mpls(data),
                PPPOE => return self.ppp(data.get(6..).unwrap_or_default()),
                PPP => return self.ppp(data),
                BRIDGED if self.depth > 0 => return self.within(None, |walk| walk.ethernet(data)),
                PROVIDER_BACKBONE => return self.inside(Tunnel::ProviderBackbone, data.get(4..)),
                TRILL => {
                    // The length of its options, in units of four bytes (RFC 6325, section 3.5).
                    let options = half(data, 0).map_or(0, |head| usize::from(head >> 6 & 31) * 4);
                    return self.inside(Tunnel::Trill, data.get(6 + options..));
                }
                SERVICE_HEADER => return self.service_header(data),
                // The encryption bits, and whether eight bytes name the channel (IEEE 802.1AE, section 9.5).
                MACSEC => match data.first() {
                    Some(head) if head & 0x0c != 0 => return Decoded::Opaque(Tunnel::MacSec),
                    Some(head) => 6 + usize::from(head & 0x20 != 0) * 8,
                    None => return Decoded::Short,
                },
                VN_TAG => 4,
                E_TAG | SWITCH_PORT => 6,
                // A length as in IEEE 802.3: LLC follows, and perhaps SNAP with an EtherType (RFC 1042).
                length if length < 0x600 && data.starts_with(&SNAP) => 6,
                length if length < 0x600 => return Decoded::Other(Unread::Llc),
                _ => return Decoded::Other(Unread::EtherType(kind)),
            };
            let Some(found) = half(data, next) else {
                return Decoded::Short;
            };
            (kind, data) = (found, &data[next + 2..]);
        }
        Decoded::Other(Unread::TooDeep)
    }

    /// LLC and SNAP with an EtherType (RFC 1042), or IP directly behind LLC (RFC 2684, section 5.2).
    pub fn logical_link(self, data: &'f [u8]) -> Decoded<'f> {
        match data {
            [0xfe, 0xfe, 3, 0xcc, rest @ ..] => self.ip(rest),
            [] => Decoded::Short,
            // As behind a length.
            _ => self.typed(Some(0), data),
        }
    }

    /// An Ethernet frame in a tunnel.
    fn inside(self, tunnel: Tunnel, frame: Option<&'f [u8]>) -> Decoded<'f> {
        self.within(Some(tunnel), |walk| {
            walk.ethernet(frame.unwrap_or_default())
        })
    }

    /// A network service header (RFC 8300, section 2.2): its length in units of four bytes, and the protocol behind it.
    pub fn service_header(self, data: &'f [u8]) -> Decoded<'f> {
        let [_, words, _, next, ..] = *data else {
            return Decoded::Short;
        };
        let inner = data
            .get(usize::from(words & 0x3f) * 4..)
            .unwrap_or_default();
        self.within(None, |walk| walk.next_protocol(next, inner))
    }

    /// The protocol behind a network service header (RFC 8300, section 11.2.5) or a VXLAN-GPE header.
    pub fn next_protocol(self, next: u8, data: &'f [u8]) -> Decoded<'f> {
        use ether_type::*;
        let kind = match next {
            1 => IPV4,
            2 => IPV6,
            3 => return self.ethernet(data),
            4 => SERVICE_HEADER,
            5 => MPLS,
            _ => return Decoded::Other(Unread::NotIp),
        };
        self.typed(Some(kind), data)
    }

    /// Attributes of a packet that Linux netfilter logged (LINKTYPE_NFLOG). They have the byte order of the capturing machine.
    fn netfilter(self, data: &'f [u8]) -> Decoded<'f> {
        const PAYLOAD: u16 = 9;
        let orders: [fn([u8; 2]) -> u16; 2] = [u16::from_le_bytes, u16::from_be_bytes];
        for order in orders {
            let mut rest = data.get(4..).unwrap_or_default();
            while let [a, b, c, d, ..] = *rest {
                let len = usize::from(order([a, b]));
                if len < 4 {
                    break;
                }
                if order([c, d]) == PAYLOAD {
                    return self.ip(rest.get(4..len).unwrap_or(&rest[4..]));
                }
                rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
            }
        }
        Decoded::Short
    }

    /// MPLS labels (RFC 3032). Behind the last one is IP, or an Ethernet frame, before which there may be a control word (RFC
    /// 4448). Without one, the first nibble of a MAC address may be 4 or 6, as that of IP is (RFC 8469, section 3).
    pub fn mpls(self, mut data: &'f [u8]) -> Decoded<'f> {
        const BOTTOM: u32 = 1 << 8;
        for _ in 0..MAX_TAGS {
            let Some(label) = word(data, 0) else {
                return Decoded::Short;
            };
            data = &data[4..];
            if label & BOTTOM != 0 {
                let frame = match data.first().map(|first| first >> 4) {
                    Some(4 | 6) if ip::is_sound(&self, data) => return self.ip(data),
                    Some(0) => tunnel::frame_at(data, &[4, 0]).or(data.get(4..)),
                    Some(_) => tunnel::frame_at(data, &[0]),
                    None => return Decoded::Short,
                };
                return match frame {
                    Some(_) => self.inside(Tunnel::Pseudowire, frame),
                    None if ip::is_plausible(&self, data) => self.ip(data),
                    None => Decoded::Other(Unread::Mpls),
                };
            }
        }
        Decoded::Other(Unread::TooDeep)
    }

    /// PPP, with or without address and control fields (RFC 1661, RFC 1662). The protocol may have one byte.
    pub fn ppp(self, data: &'f [u8]) -> Decoded<'f> {
        let data = data.strip_prefix(&[0xff, 3]).unwrap_or(data);
        let (protocol, data) = match data {
            [first, rest @ ..] if first & 1 == 1 => (u16::from(*first), rest),
            [first, second, rest @ ..] => (u16::from_be_bytes([*first, *second]), rest),
            _ => return Decoded::Short,
        };
        match protocol {
            0x21 | 0x57 => self.ip(data),
            0x281 => self.mpls(data),
            _ => Decoded::Other(Unread::PppProtocol(protocol)),
        }
    }

    /// IPv4 or IPv6.
    pub fn ip(self, data: &'f [u8]) -> Decoded<'f> {
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
            Decoded::Packet(_) => "packet",
            Decoded::Other(Unread::TooDeep) => "too deep",
            _ => "something else",
        }
    }

    #[test]
    fn packets_within_packets_end_somewhere() {
        let ethernet = |kind: [u8; 2]| [&[0; 12], &kind[..]].concat();
        // A label, the last label, and a control word, with Ethernet behind them.
        let wire = [&ethernet([0x88, 0x47])[..], &[0, 0, 1, 0, 0, 0, 0, 0]].concat();
        assert_eq!(seen(&[], &wire, 2), "packet");
        assert_eq!(seen(&[], &wire, 100_000), "too deep");
        let mut gre = [&ethernet([8, 0])[..], &TCP[..20], &[0, 0, 0x65, 0x58]].concat();
        (gre[14 + 2], gre[14 + 3], gre[14 + 9]) = (0xff, 0xff, 47);
        let bridged = ethernet([0x65, 0x58]);
        assert_eq!(seen(&gre, &bridged, 1), "packet");
        assert_eq!(seen(&gre, &bridged, 100_000), "too deep");
    }

    /// The carrier of the packet behind a label, if there is one.
    fn behind_label(payload: &[u8]) -> Result<Option<Tunnel>, bool> {
        let data = [&[0; 12], &[0x88, 0x47, 0, 0, 1, 64][..], payload].concat();
        let frame = Frame {
            at: Time::ZERO,
            link: link_type::ETHERNET,
            wire_len: u32::try_from(data.len()).expect("short"),
            data: &data,
        };
        match packet::parse(&frame) {
            Decoded::Packet(packet) => Ok(packet.tunnel),
            other => Err(matches!(other, Decoded::Other(Unread::Mpls))),
        }
    }

    #[test]
    fn a_mac_address_behind_a_label_is_not_taken_for_ip() {
        for mac in [
            [0x02, 0, 0, 0, 0, 1],
            [0x4c, 0x1f, 0xcc, 0x12, 0x34, 0x56],
            [0x45, 0, 0, 40, 0, 1],
            [0x60, 0xf1, 0x89, 0x12, 0x34, 0x56],
            [0x60, 0, 0, 0, 0, 1],
        ] {
            let ethernet = [&mac[..], &[2, 0, 0, 0, 0, 2, 8, 0], &TCP].concat();
            let seen = behind_label(&ethernet);
            assert_eq!(seen, Ok(Some(Tunnel::Pseudowire)), "{mac:x?}");
        }
        let resolution = [&[0x4c, 0x1f, 0xcc, 0x12, 0x34, 0x56][..], &[2; 6], &[8, 6]].concat();
        assert_eq!(behind_label(&[resolution, vec![0; 46]].concat()), Err(true));
    }

    #[test]
    fn ip_behind_a_label_is_not_taken_for_ethernet() {
        // Some programs write no checksum, or change addresses only.
        assert_eq!(behind_label(&TCP), Ok(None));
        // A source address that looks like an EtherType and the version of IPv4.
        let mut v4 = TCP;
        (v4[12], v4[13], v4[14]) = (8, 0, 0x40);
        (v4[10], v4[11]) = (0x68, 0xce);
        assert_eq!(behind_label(&v4), Ok(None));
        let mut v6 = [&[0x60, 0, 0, 0, 0, 20, 6, 64][..], &[0; 32], &TCP[20..]].concat();
        (v6[8], v6[12], v6[13], v6[14]) = (0x20, 8, 0, 0x40);
        assert_eq!(behind_label(&v6), Ok(None));
        // With a frame check sequence.
        assert_eq!(behind_label(&[v6, vec![0; 4]].concat()), Ok(None));
    }
}
