//! Who the relay speaks for.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use units::{Duration, Time};

use crate::socket::Socket;

/// The most clients at a time. Each takes a socket, of which a process commonly has 1024; what comes from more
/// clients is dropped and counted.
pub(crate) const MAX_CLIENTS: usize = 512;

/// A client that neither sent nor received for this long is forgotten: as long as RFC 4787 (REQ-5) asks a NAT to keep
/// a UDP mapping at least, so a program that works behind NATs works behind the relay.
const IDLE: Duration = Duration::from_secs(120);

/// One client.
pub(crate) struct Client {
    /// The socket that speaks to the server for this client alone.
    pub(crate) upstream: Socket,
    /// Which client this is, counted from the first: the flow that its packets are, to a queue that tells flows apart.
    pub(crate) number: u64,
    /// The address of ours that the client knows.
    pub(crate) our_address: Option<IpAddr>,
    last_active: Time,
}

/// The clients by their address.
#[derive(Default)]
pub(crate) struct Clients {
    table: HashMap<SocketAddr, Client>,
    seen: u64,
}

impl Clients {
    /// The client at `address`, if it is known; counts as activity.
    pub(crate) fn active(&mut self, address: SocketAddr, now: Time) -> Option<&mut Client> {
        let client = self.table.get_mut(&address)?;
        client.last_active = now;
        Some(client)
    }

    /// Takes in a new client who wants to speak to the server at `to`; returns its number.
    ///
    /// # Errors
    /// The table is full, or the system has no socket left.
    pub(crate) fn admit(
        &mut self,
        address: SocketAddr,
        our_address: Option<IpAddr>,
        to: SocketAddr,
        now: Time,
    ) -> io::Result<u64> {
        if self.table.len() >= MAX_CLIENTS {
            return Err(io::Error::other("too many clients"));
        }
        let client = Client {
            upstream: Socket::connected(to)?,
            number: self.seen,
            our_address,
            last_active: now,
        };
        let number = client.number;
        self.table.insert(address, client);
        self.seen += 1;
        Ok(number)
    }

    /// Forgets the clients that have been idle for too long; returns them.
    pub(crate) fn expire(&mut self, now: Time) -> impl Iterator<Item = (SocketAddr, Client)> {
        self.table
            .extract_if(move |_, client| now.since(client.last_active) > IDLE)
    }

    /// All clients now known.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SocketAddr, &Client)> {
        self.table.iter()
    }

    /// How many clients are known now.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// How many clients there have been.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_silent_are_forgotten() {
        let [quiet, busy, server] = [1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        let mut clients = Clients::default();
        for address in [quiet, busy] {
            clients.admit(address, None, server, at(0)).unwrap();
        }
        assert!(clients.active(busy, at(100)).is_some());
        assert_eq!(clients.expire(at(120)).count(), 0);
        let forgotten = clients.expire(at(121)).map(|(address, _)| address);
        assert!(forgotten.eq([quiet]));
        assert!(clients.active(quiet, at(121)).is_none());
        let number = clients.admit(quiet, None, server, at(121)).unwrap();
        assert_eq!(number, 2, "another flow than before");
        assert_eq!((clients.len(), clients.seen()), (2, 3));
    }
}
