//! Addresses as people write them.

use std::net::{SocketAddr, ToSocketAddrs};

/// The address and port in `text`. The host may be an address or a name.
pub fn resolve(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and a port such as 127.0.0.1:4433";
    text.to_socket_addrs()
        .map_err(|error| format!("{expected} ({error})"))?
        .next()
        .ok_or_else(|| expected.to_owned())
}
