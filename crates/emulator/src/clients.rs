//! The clients of the relay.

use std::net::{IpAddr, SocketAddr};

use places::{Full, Host, Places};
use units::{Duration, Time};

use crate::alike::{Alike, Beginning};
use crate::socket::Socket;

/// The maximum number of clients at a time. Each takes a socket, of which a process commonly has 1024.
pub(crate) const MAX_CLIENTS: usize = 512;

/// Files and sockets that the process needs beside those of the clients.
const OTHER_FILES: u64 = 32;

/// A client that neither sent nor received for this long is forgotten. RFC 4787 (REQ-5) asks a NAT to keep a UDP
/// mapping at least as long, so a program that works behind NATs works behind the relay.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// One client.
pub(crate) struct Client {
    /// The socket toward the server for this client alone.
    pub(crate) upstream: Socket,
    /// The port of that socket.
    port: u16,
    /// The client's number, counted from the first. Queues use it as the flow of its packets.
    pub(crate) number: u64,
    /// Our address that the client uses.
    pub(crate) our_address: Option<IpAddr>,
    /// Its beginning, until the server answers.
    unanswered: Option<Beginning>,
}

/// A new client, as its first datagram shows it.
pub(crate) struct Newcomer<'a> {
    pub(crate) address: SocketAddr,
    /// Our address that it has sent to.
    pub(crate) our_address: Option<IpAddr>,
    /// Its first datagram.
    pub(crate) payload: &'a [u8],
}

/// The clients by their address. When there are too many, addresses share the places ([`Places`]).
pub(crate) struct Clients {
    places: Places<SocketAddr, Client>,
    seen: u64,
    alike: Alike,
}

/// The reason for which a new client is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no place for it, or the system has no socket left.
    NoPlace,
    /// Too many others of its host have begun alike ([`Alike`]).
    Loop,
}

impl Clients {
    /// Makes as many places as there can be sockets, up to [`MAX_CLIENTS`].
    pub(crate) fn new() -> Clients {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let sockets = files.map_or(u64::MAX, |files| files.saturating_sub(OTHER_FILES));
        let limit = usize::try_from(sockets).unwrap_or(usize::MAX);
        Clients::with_places(limit.clamp(1, MAX_CLIENTS))
    }

    fn with_places(limit: usize) -> Clients {
        Clients {
            places: Places::new(limit),
            seen: 0,
            alike: Alike::new(IDLE_TIMEOUT),
        }
    }

    /// Returns the client at `address`, if it is known, and records its activity.
    pub(crate) fn active(&mut self, address: SocketAddr, now: Time) -> Option<&mut Client> {
        self.places.active(&address, now)
    }

    /// Admits a new client for the server at `to`. Returns its number, and the client that lost its place for it.
    ///
    /// # Errors
    /// See [`Refused`].
    pub(crate) fn admit(
        &mut self,
        newcomer: &Newcomer<'_>,
        to: SocketAddr,
        now: Time,
    ) -> Result<(u64, Option<(SocketAddr, Client)>), Refused> {
        let host = Host::of(newcomer.address.ip());
        let beginning = self
            .alike
            .admit(newcomer.address, newcomer.payload, now)
            .ok_or(Refused::Loop)?;
        let evicted = self.places.make_room(host, now);
        let evicted = evicted.map_err(|Full| Refused::NoPlace)?;
        let no_socket = |_| Refused::NoPlace;
        let upstream = Socket::connected(to).map_err(no_socket)?;
        let client = Client {
            port: upstream.local_addr().map_err(no_socket)?.port(),
            upstream,
            number: self.seen,
            our_address: newcomer.our_address,
            unanswered: Some(beginning),
        };
        let number = client.number;
        self.places.insert(newcomer.address, host, client, now);
        self.seen += 1;
        self.alike.count(beginning);
        Ok((number, evicted))
    }

    /// Records that the server has answered the client at `address`.
    pub(crate) fn set_answered(&mut self, address: SocketAddr, now: Time) {
        let client = self.places.active(&address, now);
        if let Some(beginning) = client.and_then(|client| client.unanswered.take()) {
            self.alike.discount(beginning);
        }
    }

    /// Removes the clients that have been idle for too long, and returns them.
    pub(crate) fn expire(&mut self, now: Time) -> Vec<(SocketAddr, Client)> {
        self.places.expire(now, IDLE_TIMEOUT)
    }

    /// The known clients.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SocketAddr, &Client)> {
        self.places.iter()
    }

    /// The ports of all sockets toward the server.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u16> {
        self.places.iter().map(|(_, client)| client.port)
    }

    /// The number of known clients.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of clients so far.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alike::MAX_ALIKE;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    fn address(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, host], port))
    }

    /// Admits a client whose first datagram is its own address.
    fn admit(
        clients: &mut Clients,
        address: SocketAddr,
        now: Time,
    ) -> Result<(u64, Option<(SocketAddr, Client)>), Refused> {
        admit_with(clients, address, address.to_string().as_bytes(), now)
    }

    fn admit_with(
        clients: &mut Clients,
        address: SocketAddr,
        payload: &[u8],
        now: Time,
    ) -> Result<(u64, Option<(SocketAddr, Client)>), Refused> {
        let newcomer = Newcomer {
            address,
            our_address: None,
            payload,
        };
        clients.admit(&newcomer, self::address(1, 9), now)
    }

    #[test]
    fn the_silent_are_forgotten() {
        let [quiet, busy] = [1, 2].map(|port| address(1, port));
        let mut clients = Clients::new();
        for address in [quiet, busy] {
            admit(&mut clients, address, at(0)).unwrap();
        }
        assert!(clients.active(busy, at(100)).is_some());
        assert_eq!(clients.expire(at(120)).len(), 0);
        let forgotten = clients.expire(at(121));
        let forgotten = forgotten.into_iter().map(|(address, _)| address);
        assert!(forgotten.eq([quiet]));
        assert!(clients.active(quiet, at(121)).is_none());
        let (number, _) = admit(&mut clients, quiet, at(121)).unwrap();
        assert_eq!(number, 2, "another flow than before");
        assert_eq!((clients.len(), clients.seen()), (2, 3));
    }

    #[test]
    fn many_ports_of_one_address_shut_nobody_out() {
        let mut clients = Clients::with_places(8);
        admit(&mut clients, address(2, 1), at(0)).unwrap();
        let flood = |clients: &mut Clients, now| {
            (1..=700)
                .filter(|port| admit(clients, address(1, *port), now).is_ok())
                .count()
        };
        assert_eq!(flood(&mut clients, at(0)), 7);
        assert!(clients.active(address(2, 1), at(0)).is_some());
        let (_, evicted) = admit(&mut clients, address(3, 1), at(0)).unwrap();
        assert_eq!(evicted.unwrap().0, address(1, 1));
        // Its own address has no claim to a place, but may take those of idle clients.
        let refused = admit(&mut clients, address(1, 900), at(0));
        assert!(matches!(refused, Err(Refused::NoPlace)));
        admit(&mut clients, address(1, 900), at(1)).unwrap();
    }

    #[test]
    fn those_of_a_host_who_all_say_the_same_are_a_loop_until_they_are_answered() {
        let mut clients = Clients::new();
        let ports = 1..=u16::try_from(MAX_ALIKE).unwrap();
        for port in ports {
            admit_with(&mut clients, address(1, port), b"round", at(0)).unwrap();
        }
        // The time of a turn does not matter.
        for now in [0, 100] {
            let refused = admit_with(&mut clients, address(1, 100), b"round", at(now));
            assert!(matches!(refused, Err(Refused::Loop)));
        }
        admit_with(&mut clients, address(1, 101), b"other", at(100)).unwrap();
        admit_with(&mut clients, address(2, 100), b"round", at(100)).unwrap();
        clients.set_answered(address(1, 1), at(100));
        clients.set_answered(address(1, 1), at(100));
        admit_with(&mut clients, address(1, 100), b"round", at(100)).unwrap();
        let refused = admit_with(&mut clients, address(1, 102), b"round", at(100));
        assert!(matches!(refused, Err(Refused::Loop)));
    }

    /// A loop of more datagrams than there are places evicts its own clients.
    #[test]
    fn who_had_to_make_room_still_counts() {
        let mut clients = Clients::with_places(8);
        for secs in 0..MAX_ALIKE {
            let (port, now) = (u16::try_from(secs).unwrap() + 1, at(secs as u64));
            admit_with(&mut clients, address(1, port), b"round", now).unwrap();
        }
        assert_eq!(clients.len(), 8);
        let refused = admit_with(&mut clients, address(1, 100), b"round", at(100));
        assert!(matches!(refused, Err(Refused::Loop)));
    }
}
