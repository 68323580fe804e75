//! Names of what is not read: link types, EtherTypes, and protocols over IP and PPP.

use std::fmt;

use serde::{Serialize, Serializer};

/// A packet with neither TCP nor UDP, by its innermost header that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unread {
    /// A frame of this EtherType.
    EtherType(u16),
    /// A packet of this IP protocol.
    IpProtocol(u8),
    /// A packet of this PPP protocol.
    PppProtocol(u16),
    /// A frame of IEEE 802.2 (LLC) without an EtherType.
    Llc,
    /// A frame of IEEE 802.11 that manages the wireless network.
    WirelessControl,
    /// A payload of MPLS that is neither IP nor Ethernet.
    Mpls,
    /// Something else in the place of an IP packet.
    NotIp,
    /// A packet behind more headers than are followed.
    TooDeep,
}

impl Unread {
    /// True if such packets only serve the network itself. Others may carry connections.
    pub fn is_control(self) -> bool {
        match self {
            Unread::EtherType(kind) => find(ETHER_TYPES, kind).is_some_and(|(_, control)| control),
            Unread::IpProtocol(kind) => {
                find(IP_PROTOCOLS, kind).is_some_and(|(_, control)| control)
            }
            // Network and link control protocols (RFC 1661, section 2).
            Unread::PppProtocol(kind) => kind >= 0x8000,
            Unread::Llc | Unread::WirelessControl => true,
            Unread::Mpls | Unread::NotIp | Unread::TooDeep => false,
        }
    }
}

/// `EtherType 0x0806 (ARP)`.
impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |f: &mut fmt::Formatter<'_>, found: Option<(&str, bool)>| {
            found.map_or(Ok(()), |(name, _)| write!(f, " ({name})"))
        };
        match *self {
            Unread::EtherType(kind) => {
                write!(f, "EtherType {kind:#06x}")?;
                name(f, find(ETHER_TYPES, kind))
            }
            Unread::IpProtocol(kind) => {
                write!(f, "IP protocol {kind}")?;
                name(f, find(IP_PROTOCOLS, kind))
            }
            Unread::PppProtocol(kind) => {
                write!(f, "PPP protocol {kind:#06x}")?;
                let found = PPP_PROTOCOLS.iter().find(|(known, _)| *known == kind);
                found.map_or(Ok(()), |(_, name)| write!(f, " ({name})"))
            }
            Unread::Llc => f.write_str("IEEE 802.2 (LLC)"),
            Unread::WirelessControl => f.write_str("IEEE 802.11 management"),
            Unread::Mpls => f.write_str("MPLS with an unknown payload"),
            Unread::NotIp => f.write_str("an unknown version of IP"),
            Unread::TooDeep => f.write_str("more nested headers than are followed"),
        }
    }
}

impl Serialize for Unread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The name of a number, and whether it only serves the network itself.
type Name<N> = (N, &'static str, bool);

fn find<N: Copy + PartialEq>(names: &'static [Name<N>], number: N) -> Option<(&'static str, bool)> {
    let found = names.iter().find(|(known, ..)| *known == number);
    found.map(|(_, name, is_control)| (*name, *is_control))
}

/// IEEE 802 Numbers of IANA.
const ETHER_TYPES: &[Name<u16>] = &[
    (0x0806, "ARP", true),
    (0x2000, "CDP", true),
    (0x8035, "RARP", true),
    (0x8809, "slow protocols", true),
    (0x880b, "PPP", false),
    (0x8863, "PPPoE discovery", true),
    (0x887e, "HomePlug", true),
    (0x888e, "EAPOL", true),
    (0x88cc, "LLDP", true),
    (0x88e5, "MACsec", false),
    (0x88f5, "MVRP", true),
    (0x88f7, "PTP", true),
    (0x8902, "CFM", true),
    (0x8903, "FabricPath", false),
    (0x8906, "FCoE", false),
    (0x8915, "RoCE", false),
    (0x9000, "loopback", true),
    (0x4305, "B.A.T.M.A.N.", false),
    (0xa0ed, "6LoWPAN", false),
];

/// Assigned Internet Protocol Numbers of IANA.
const IP_PROTOCOLS: &[Name<u8>] = &[
    (0, "hop-by-hop options in a wrong place", false),
    (1, "ICMP", true),
    (2, "IGMP", true),
    (33, "DCCP", false),
    (46, "RSVP", true),
    (58, "ICMPv6", true),
    (59, "no next header", true),
    (88, "EIGRP", true),
    (89, "OSPF", true),
    (103, "PIM", true),
    (108, "IPComp", false),
    (112, "VRRP", true),
    (132, "SCTP", false),
    (136, "UDP-Lite", false),
];

/// PPP DLL Protocol Numbers of IANA.
const PPP_PROTOCOLS: &[(u16, &str)] = &[
    (0x003d, "multilink"),
    (0x0053, "encrypted"),
    (0x00fd, "compressed or encrypted"),
    (0x8021, "IPCP"),
    (0x8057, "IPv6CP"),
    (0xc021, "LCP"),
    (0xc023, "PAP"),
    (0xc223, "CHAP"),
];

/// Link types that are not read (<https://www.tcpdump.org/linktypes.html>).
const LINKS: &[(u32, &str)] = &[
    (6, "Token Ring"),
    (7, "ARCNET"),
    (8, "SLIP"),
    (10, "FDDI"),
    (107, "Frame Relay"),
    (123, "ATM of SunATM"),
    (129, "ARCNET of Linux"),
    (143, "DOCSIS"),
    (147, "private use"),
    (187, "Bluetooth HCI"),
    (189, "USB of Linux"),
    (195, "IEEE 802.15.4"),
    (201, "Bluetooth HCI"),
    (220, "USB of Linux"),
    (227, "CAN"),
    (230, "IEEE 802.15.4"),
    (242, "IP over InfiniBand"),
    (247, "InfiniBand"),
    (249, "USB of Windows"),
    (251, "Bluetooth Low Energy"),
    (253, "netlink"),
    (254, "Bluetooth monitor"),
    (256, "Bluetooth Low Energy"),
    (271, "vsock"),
    (279, "USB 2.0"),
    (283, "IEEE 802.15.4"),
];

/// The name of a link type that is not read.
pub fn link_name(link: u32) -> Option<&'static str> {
    let found = LINKS.iter().find(|(known, _)| *known == link);
    found.map(|(_, name)| *name)
}
