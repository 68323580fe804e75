//! Connections as rows of text.

use std::collections::HashSet;
use std::net::SocketAddr;

use fleet::Connection;
use tables::numbers::count;

/// True if several of these connections have the same remote address and port, so that only the local end differs.
pub fn share_remotes(all: &[&Connection]) -> bool {
    let remotes: HashSet<SocketAddr> = all.iter().map(|one| one.seen.remote()).collect();
    remotes.len() < all.len()
}

/// The number of shown connections: `12 of 3400 connections`, or only the number if all are shown.
pub fn some_of(shown: usize, all: usize, thing: &str) -> String {
    let all_of_them = count(all as u64, thing);
    if shown == all {
        all_of_them
    } else {
        format!("{shown} of {all_of_them}")
    }
}
