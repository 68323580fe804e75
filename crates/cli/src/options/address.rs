//! Addresses as people write them.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// The address and port in `text`. The host may be an address or a name.
pub fn resolve(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and a port such as 127.0.0.1:4433";
    text.to_socket_addrs()
        .map_err(|error| format!("{expected} ({error})"))?
        .next()
        .ok_or_else(|| expected.to_owned())
}

/// An address to serve metrics at. A port alone means this machine, because metrics are private unless said otherwise.
pub fn local_or_named(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .parse()
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse()).map_err(|_| {
        "expected a port such as 9100, or an address and a port such as 127.0.0.1:9100".to_owned()
    })
}
