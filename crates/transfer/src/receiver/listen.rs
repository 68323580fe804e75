//! The receiver's socket, its identity, and the content of its ticket.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use noq_proto::ServerConfig;
use noq_proto::congestion::CubicConfig;

use super::config::{ReceiverConfig, Resumption};
use super::door::GUEST_WINDOW;
use super::store::{SavedIdentity, Store};
use crate::error::Error;
use crate::ticket::{MAX_ADDRESSES, Secret, Ticket};
use crate::transport::transport;
use crate::wire;
use quic::Environment;
use quic::connection::Listener;
use quic::endpoint::{self, EndpointError, Identity};

/// Listens with the identity `before`, or with a new one, which is then saved.
pub fn listen(
    environment: Arc<dyn Environment>,
    config: &ReceiverConfig,
    store: &Store,
    before: Option<SavedIdentity>,
) -> Result<(Listener, Ticket, Resumption), Error> {
    let (identity, secret) = match &before {
        Some(saved) => (
            Identity::from_der(saved.certificate.clone(), saved.key.clone()),
            Secret(saved.secret),
        ),
        None => (
            Identity::generate()?,
            Secret::generate().ok_or_else(Error::randomness)?,
        ),
    };
    let mut transport = transport(Arc::new(CubicConfig::default()));
    transport.receive_window(GUEST_WINDOW);
    let server = endpoint::server_config(&identity, wire::ALPN, Arc::new(transport))?;
    let port = before.as_ref().map(|saved| saved.port);
    let listener = bind(environment, config.listen, port, &(server, &identity))?;
    let address = listener.local_addr();
    let saved = SavedIdentity {
        certificate: identity.certificate_der().to_vec(),
        key: identity.key_der().to_vec(),
        secret: secret.0,
        port: address.port(),
    };
    if before.as_ref() != Some(&saved) {
        store.save_identity(&saved)?;
    }
    let resumption = match port {
        None => Resumption::None,
        Some(port) if port == address.port() => Resumption::SameTicket,
        Some(_) => Resumption::NewPort,
    };
    let addresses = advertised(address, &config.advertise);
    let ticket = Ticket::new(addresses, identity.fingerprint(), secret);
    Ok((listener, ticket, resumption))
}

/// Binds to the port of the unfinished transfer, if `listen` leaves the port open and it is free.
fn bind(
    environment: Arc<dyn Environment>,
    listen: SocketAddr,
    before: Option<u16>,
    (server, identity): &(ServerConfig, &Identity),
) -> Result<Listener, EndpointError> {
    let bind = |address| endpoint::listen(environment.clone(), address, server.clone(), identity);
    if let Some(port) = before.filter(|_| listen.port() == 0) {
        let same = SocketAddr::new(listen.ip(), port);
        if let Ok(listener) = bind(same) {
            return Ok(listener);
        }
    }
    bind(listen)
}

/// The addresses in the ticket of a receiver that listens at `bound`.
fn advertised(bound: SocketAddr, advertise: &[SocketAddr]) -> Vec<SocketAddr> {
    let with_port = |ip| SocketAddr::new(ip, bound.port());
    if !advertise.is_empty() {
        let complete = |address: &SocketAddr| match address.port() {
            0 => with_port(address.ip()),
            _ => *address,
        };
        return advertise.iter().map(complete).collect();
    }
    if !bound.ip().is_unspecified() {
        return vec![bound];
    }
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let mut found: Vec<IpAddr> = interfaces.iter().map(|interface| interface.ip()).collect();
    found.retain(|ip| match ip {
        IpAddr::V4(ip) => !ip.is_loopback() && !ip.is_link_local(),
        // A link-local address needs a scope, which means nothing on another host.
        IpAddr::V6(ip) => bound.is_ipv6() && !ip.is_loopback() && !ip.is_unicast_link_local(),
    });
    if found.is_empty() {
        found.push(match bound {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    // IPv4 goes first: its addresses are shorter, and reach further in most local networks.
    found.sort_by_key(IpAddr::is_ipv6);
    found.dedup();
    found.truncate(MAX_ADDRESSES);
    found.into_iter().map(with_port).collect()
}
