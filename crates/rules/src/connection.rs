//! A new connection, as rules test it.

use std::net::IpAddr;

use units::{Duration, Ratio};

use crate::form::{known_time, millionths};
use crate::interface::Interface;
use crate::quantity::Quantity;

/// The properties of a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The address of the other side.
    pub client: IpAddr,
    /// True if the connection was accepted.
    pub is_incoming: bool,
    /// This side's port if the connection was accepted, otherwise the other side's.
    pub port: u16,
    /// The interface through which its data leave, if it is known.
    pub interface: Option<Interface>,
    /// The time when the connection was set up, since 1970. No rule tests it; the draw of explorers uses it.
    pub at: Duration,
    /// The value of each quantity in [`Quantity::ALL`], if it is known.
    pub quantities: [Option<u64>; Quantity::ALL.len()],
}

impl Connection {
    /// A connection of this client, accepted at this port in 1970, of which no more is known.
    pub const fn incoming(client: IpAddr, port: u16) -> Connection {
        Connection {
            client,
            is_incoming: true,
            port,
            interface: None,
            at: Duration::ZERO,
            quantities: [None; Quantity::ALL.len()],
        }
    }

    /// The same with this value of a quantity. `None` if it is unknown.
    #[must_use]
    pub const fn with(mut self, quantity: Quantity, value: Option<u64>) -> Connection {
        self.quantities[quantity as usize] = value;
        self
    }

    /// The same with this RTT of the handshake. Zero if it is unknown, as with Fast Open.
    #[must_use]
    pub fn with_rtt(self, rtt: Duration) -> Connection {
        self.with(Quantity::Rtt, known_time(rtt))
    }

    /// The same with this share of packets that the connections of its client's network resent, in whole millionths as in the
    /// program.
    #[must_use]
    pub fn with_resent(self, share: Option<Ratio>) -> Connection {
        self.with(Quantity::Resent, share.map(millionths))
    }

    /// The value of a quantity, if it is known.
    pub const fn quantity(&self, quantity: Quantity) -> Option<u64> {
        self.quantities[quantity as usize]
    }
}
