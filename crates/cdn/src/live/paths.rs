//! The hosts at both ends, and a path between them for each line.

use std::net::{IpAddr, Ipv4Addr};

use emulator::tunnel::{Hop, Route, Tunnel, TunnelConfig, TunnelError, Way};
use linux::{Host, Network, NetworkConfig};

use crate::laboratory::LabError;
use crate::line::{Line, addresses};

/// The most client networks. The servers' networks follow those of clients, and both must be below the hosts' own
/// addresses (10.200.0.0/15).
pub(super) const MAX_NETWORKS: usize = 100;

/// The address of the server for a line's client. Each line has its own, so that the destination address of each packet
/// identifies the line.
pub(super) fn server(line: &Line) -> IpAddr {
    let [_, network, place, host] = match line.client {
        IpAddr::V4(client) => client.octets(),
        IpAddr::V6(_) => [0; 4],
    };
    Ipv4Addr::new(10, network.saturating_add(MAX_NETWORKS as u8), place, host).into()
}

/// The host of the clients, which has all of their addresses, and the host of the servers.
pub(super) fn hosts(networks: usize) -> Result<Network, LabError> {
    let network = Network::create(&NetworkConfig::default())?;
    for place in 0..networks {
        let (clients, servers) = (addresses(place), addresses(place + MAX_NETWORKS));
        network.near.own(clients.first(), clients.length())?;
        network.far.own(servers.first(), servers.length())?;
    }
    Ok(network)
}

/// Puts the lines' paths between the hosts.
pub(super) fn join(network: &Network, lines: &[Line], seed: u64) -> Result<Tunnel, LabError> {
    let (mut up, mut down) = (Way::default(), Way::default());
    for (place, line) in lines.iter().enumerate() {
        let config = line.path().config()?;
        for (way, link, to) in [
            (&mut up, config.reverse, server(line)),
            (&mut down, config.forward, line.client),
        ] {
            way.links.push(link);
            way.routes.push(Route {
                to: vec![to],
                links: vec![Hop::Own(place)],
            });
        }
    }
    let device = |host: &Host| host.tun().try_clone().map_err(TunnelError::from);
    Ok(Tunnel::start(TunnelConfig {
        near: device(&network.near)?,
        far: device(&network.far)?,
        forward: up,
        reverse: down,
        seed,
    })?)
}
