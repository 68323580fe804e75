//! Connections as rows of text.

use std::collections::HashSet;
use std::net::SocketAddr;

use fleet::Connection;

/// Whether several of these connections lead to the same port of the same host. Then only this side tells which is which.
pub fn share_remotes(all: &[&Connection]) -> bool {
    let remotes: HashSet<SocketAddr> = all.iter().map(|one| one.seen.remote()).collect();
    remotes.len() < all.len()
}
