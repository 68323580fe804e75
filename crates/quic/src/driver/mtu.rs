//! The largest datagram that may reach a peer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The largest MTU that a link is assumed to have: jumbo frames of Ethernet. Larger ones exist on loopback, and in
/// networks that programs emulate, for example for containers. Such a program may split a datagram into many fragments.
const MAX_LINK_MTU: u16 = 9_216;

/// The headers of IP and UDP, and the largest UDP payload.
const IPV4: (u16, u16) = (20 + 8, 65_507);
const IPV6: (u16, u16) = (40 + 8, 65_527);

/// The largest UDP payload that may reach `peer` without fragmentation, according to the kernel's routes. `None` if it
/// is unknown.
pub(super) fn largest_datagram(peer: SocketAddr) -> Option<u16> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // `connect` gives a UDP socket a route, and sends nothing.
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(peer).ok()?;
    let mtu = route_mtu(&socket)?;
    let is_here = peer.ip().is_loopback() || socket.local_addr().ok()?.ip() == peer.ip();
    if mtu > MAX_LINK_MTU && !is_here {
        return None;
    }
    Some(payload(mtu, peer))
}

/// The largest UDP payload of a packet of this size to `peer`.
fn payload(mtu: u16, peer: SocketAddr) -> u16 {
    let (headers, most) = if peer.is_ipv4() { IPV4 } else { IPV6 };
    mtu.saturating_sub(headers).min(most)
}

/// The MTU of a connected socket's route. It is the MTU of the interface, or less if the route has a smaller MTU, or if
/// an ICMP message reported a smaller MTU in the last minutes.
#[cfg(target_os = "linux")]
fn route_mtu(socket: &UdpSocket) -> Option<u16> {
    use nix::sys::socket::{getsockopt, sockopt};

    // This works for IPv6, too, because the option concerns the socket's route, of whatever family.
    let mtu = getsockopt(socket, sockopt::IpMtu).ok()?;
    // The MTU of loopback is 65,536, which does not fit.
    u16::try_from(mtu.clamp(0, u16::MAX.into())).ok()
}

#[cfg(not(target_os = "linux"))]
fn route_mtu(_: &UdpSocket) -> Option<u16> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_take_their_part_of_a_packet() {
        let [four, six] = ["192.0.2.1:1", "[2001:db8::1]:1"].map(|peer| peer.parse().unwrap());
        for (mtu, over_four, over_six) in [
            (1_500, 1_472, 1_452),
            (9_000, 8_972, 8_952),
            (u16::MAX, 65_507, 65_487),
            (20, 0, 0),
        ] {
            assert_eq!(payload(mtu, four), over_four);
            assert_eq!(payload(mtu, six), over_six);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn loopback_carries_what_its_interface_does() {
        let mtu = std::fs::read_to_string("/sys/class/net/lo/mtu").unwrap();
        let mtu = mtu.trim().parse::<u32>().unwrap();
        let mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
        for peer in ["127.0.0.1:9", "127.0.0.9:9", "[::1]:9"] {
            let peer: SocketAddr = peer.parse().unwrap();
            if let Err(error) = UdpSocket::bind((peer.ip(), 0)) {
                skipping::skip!("the MTU on the way to {peer}: {error}");
                continue;
            }
            assert_eq!(largest_datagram(peer), Some(payload(mtu, peer)), "{peer}");
        }
    }
}
