//! The addresses of the two hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A version of the Internet Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Near,
    Far,
}

impl Side {
    /// The subnet of the side, in both families.
    fn subnet(self) -> u8 {
        match self {
            Side::Near => 0,
            Side::Far => 1,
        }
    }

    /// The address of `group` on this side (RFC 1918; RFC 4193, "Unique Local IPv6 Unicast Addresses"):
    /// 10.200.*side*.*group + 1* or fd66:756c:6c70:*side*::*group + 1*.
    pub(super) fn address(self, group: u16, family: Family) -> IpAddr {
        let host = u8::try_from(group.saturating_add(1)).unwrap_or(u8::MAX);
        let subnet = self.subnet();
        match family {
            Family::V4 => Ipv4Addr::new(10, 200, subnet, host).into(),
            Family::V6 => {
                Ipv6Addr::new(0xfd66, 0x756c, 0x6c70, subnet.into(), 0, 0, 0, host.into()).into()
            }
        }
    }
}
