//! What a relay is asked to do.

use std::net::SocketAddr;

use path::PathConfig;

/// A relay: where it listens, where it forwards to, and the path in between.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Where clients send to. Port 0 takes a free one, see [`Relay::local_addr`](crate::Relay::local_addr). An
    /// unspecified IPv6 address also serves IPv4 where the system allows it.
    pub listen: SocketAddr,
    /// The server that the clients' datagrams go to.
    pub to: SocketAddr,
    /// The path: `forward` from clients to server, `reverse` back.
    pub path: PathConfig,
    /// Seed of the path's random choices. The n-th client's own path (n from 0) has `seed + n`.
    pub seed: u64,
    /// Whether clients share the bottleneck.
    pub sharing: Sharing,
}

/// Whether clients share the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// All clients send through one path, and compete there.
    #[default]
    OneBottleneck,
    /// Each client has a path of its own.
    PathPerClient,
}
