//! Sources that no client can have: answers to them would come back to the relay.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

/// A port for sockets that send nothing (RFC 863).
const DISCARD: u16 = 9;

/// The addresses of the relay and of its server.
///
/// A source address can be forged. The server answers a datagram with the relay's own address as its source, and the
/// relay sends the answer to itself. The server answers a datagram with its own address as its source with another
/// answer to the relay. Both loop until they are stopped, so such a source never becomes a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// The relay's address.
    pub(crate) listen: SocketAddr,
    /// The server's address.
    pub(crate) to: SocketAddr,
}

impl Ends {
    /// True if an answer to `source` would come to the relay or to the server. `ports` are those of the relay's sockets
    /// toward the server.
    pub(crate) fn include(&self, source: SocketAddr, mut ports: impl Iterator<Item = u16>) -> bool {
        reaches(source, self.listen)
            || is_same_host_at(source, self.to)
            || (ports.any(|port| port == source.port()) && is_local(source))
    }
}

/// True if datagrams to `to` from this machine reach a socket bound to `bound`.
pub(crate) fn reaches(to: SocketAddr, bound: SocketAddr) -> bool {
    let (to, bound) = (destination(to), canonical(bound));
    let is_within = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => to.is_ipv4() && is_local(to),
        IpAddr::V6(ip) if ip.is_unspecified() => is_local(to),
        ip => to.ip() == ip,
    };
    to.port() == bound.port() && is_within
}

/// True if both are the same port of the same host. A server that listens on all of this machine's addresses has each
/// of them.
fn is_same_host_at(source: SocketAddr, server: SocketAddr) -> bool {
    let (source, server) = (destination(source), destination(server));
    source.port() == server.port()
        && (source.ip() == server.ip() || (is_local(server) && is_local(source)))
}

/// Returns the destination of datagrams to `address`: an unspecified address means this machine, as the loopback
/// address does.
fn destination(address: SocketAddr) -> SocketAddr {
    let address = canonical(address);
    let loopback: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        _ => return address,
    };
    SocketAddr::new(loopback, address.port())
}

/// Returns an IPv4-mapped IPv6 address as an IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// True if the address is one of this machine's. The source address toward such an address is the address itself.
/// Binding a socket to it proves nothing, because `net.ipv4.ip_nonlocal_bind` allows any address.
fn is_local(address: SocketAddr) -> bool {
    let any_port = match canonical(address) {
        SocketAddr::V4(address) => SocketAddr::new((*address.ip()).into(), DISCARD),
        // A link-local address needs its interface.
        SocketAddr::V6(address) => {
            SocketAddrV6::new(*address.ip(), DISCARD, 0, address.scope_id()).into()
        }
    };
    address.ip().is_loopback() || source_toward(any_port).is_ok_and(|from| from == any_port.ip())
}

/// Returns this machine's source address toward `to`. Nothing is sent.
fn source_toward(to: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address for documentation (RFC 5737), which no host has.
    const ELSEWHERE: &str = "192.0.2.1:7000";

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_reaches_a_socket() {
        for (to, bound, expected) in [
            ("127.0.0.1:7000", "127.0.0.1:7000", true),
            ("127.0.0.1:7001", "127.0.0.1:7000", false),
            ("127.0.0.2:7000", "127.0.0.1:7000", false),
            ("[::ffff:127.0.0.1]:7000", "127.0.0.1:7000", true),
            ("127.0.0.1:7000", "[::ffff:127.0.0.1]:7000", true),
            ("0.0.0.0:7000", "127.0.0.1:7000", true),
            ("127.0.0.1:7000", "0.0.0.0:7000", true),
            ("127.0.0.2:7000", "0.0.0.0:7000", true),
            ("0.0.0.0:7000", "0.0.0.0:7000", true),
            ("127.0.0.1:7000", "[::]:7000", true),
            ("[::ffff:127.0.0.1]:7000", "[::]:7000", true),
            ("[::1]:7000", "[::]:7000", true),
            ("[::]:7000", "[::1]:7000", true),
            ("[::1]:7000", "0.0.0.0:7000", false),
            (ELSEWHERE, "0.0.0.0:7000", false),
            (ELSEWHERE, "[::]:7000", false),
        ] {
            assert_eq!(
                reaches(address(to), address(bound)),
                expected,
                "{to} {bound}"
            );
        }
    }

    #[test]
    fn sources_that_no_client_has() {
        let ends = Ends {
            listen: address("127.0.0.1:7000"),
            to: address("127.0.0.1:7001"),
        };
        let is_end = |source: &str| ends.include(address(source), [7_002].into_iter());
        for source in [
            "127.0.0.1:7000",
            "[::ffff:127.0.0.1]:7000",
            "127.0.0.1:7001",
            "127.0.0.2:7001",
            "0.0.0.0:7001",
            "127.0.0.1:7002",
        ] {
            assert!(is_end(source), "{source}");
        }
        for source in [
            "127.0.0.1:7003",
            "192.0.2.1:7000",
            "192.0.2.1:7001",
            "192.0.2.1:7002",
        ] {
            assert!(!is_end(source), "{source}");
        }
        let far = Ends {
            listen: address("0.0.0.0:7000"),
            to: address(ELSEWHERE),
        };
        assert!(far.include(address(ELSEWHERE), [].into_iter()));
        assert!(far.include(address("127.0.0.9:7000"), [].into_iter()));
    }

    #[test]
    fn an_own_address_is_the_source_of_the_way_to_it() {
        // Without a route to the world, there may be only the loopback address.
        let own = source_toward(address(ELSEWHERE)).unwrap_or(Ipv4Addr::LOCALHOST.into());
        for (ip, expected) in [
            (own, true),
            (address(ELSEWHERE).ip(), false),
            (Ipv6Addr::LOCALHOST.into(), true),
        ] {
            assert_eq!(is_local(SocketAddr::new(ip, 7000)), expected, "{ip}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_address_that_can_be_bound_may_be_anothers() {
        use std::{fs, thread};

        use nix::sched::{CloneFlags, unshare};

        // The setting belongs to a network namespace, which a thread can have for itself.
        let elsewhere = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            fs::write("/proc/sys/net/ipv4/ip_nonlocal_bind", "1")?;
            UdpSocket::bind(ELSEWHERE)?;
            Ok::<bool, io::Error>(is_local(address(ELSEWHERE)))
        });
        match elsewhere.join().unwrap() {
            Ok(is_local) => assert!(!is_local),
            Err(error) => {
                skipping::skip!("addresses of others: {error}");
            }
        }
    }
}
