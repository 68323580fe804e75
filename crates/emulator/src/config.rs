//! The settings of a relay.

use std::net::SocketAddr;

use path::PathConfig;

/// The settings of a relay: its address, its server, and the path between clients and server.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The address for clients. Port 0 takes a free one, see [`Relay::local_addr`](crate::Relay::local_addr). An
    /// unspecified IPv6 address also serves IPv4 where the system allows it.
    pub listen: SocketAddr,
    /// The server's address.
    pub to: SocketAddr,
    /// The path: `forward` from clients to server, `reverse` back.
    pub path: PathConfig,
    /// The seed of the path's random choices. The n-th client's own path (n from 0) has `seed + n`.
    pub seed: u64,
    /// The sharing of the bottleneck.
    pub sharing: Sharing,
}

/// The sharing of the bottleneck among clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// All clients send through one path, and compete there.
    #[default]
    OneBottleneck,
    /// Each client has its own path.
    PathPerClient,
}
