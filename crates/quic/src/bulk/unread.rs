//! The bound on the unread data of all connections of a receiver.
//!
//! A stream that has a hole is not read. So each connection can make the receiver hold as much as its receive window,
//! and a window cannot be taken back. The first [`SHARE_DIVISOR`] connections get two thirds of all room, and later ones get
//! ever smaller windows, so that nobody can take everything. Flows over one bottleneck share its bandwidth-delay
//! product in the same way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::endpoint::RECEIVE_WINDOW_BYTES;

/// The receive window of every connection, in bytes: twice the bandwidth-delay product of 10 Mbit/s × 100 ms.
pub const MIN_WINDOW_BYTES: u32 = 256 << 10;

/// The bytes that all connections together may have beyond that.
const MAX_UNREAD_BYTES: u64 = 2 << 30;

/// A new connection gets the bytes that are left divided by this, up to a full window.
const SHARE_DIVISOR: u64 = 64;

/// The room for the unread data of all connections.
#[derive(Debug, Clone)]
pub struct Unread(Arc<AtomicU64>);

impl Unread {
    /// Returns free room.
    pub fn new() -> Unread {
        Unread(Arc::new(AtomicU64::new(MAX_UNREAD_BYTES)))
    }

    /// Takes the share of one more connection.
    pub fn share(&self) -> Share {
        let most = u64::from(RECEIVE_WINDOW_BYTES - MIN_WINDOW_BYTES);
        let part = |left: u64| (left / SHARE_DIVISOR).min(most);
        let left = self.0.update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left - part(left)
        });
        Share {
            bytes: part(left),
            of: self.clone(),
        }
    }
}

/// A connection's share of the room. It is free again when this is dropped.
#[derive(Debug)]
pub struct Share {
    bytes: u64,
    of: Unread,
}

impl Share {
    /// The connection's receive window, in bytes.
    pub fn window_bytes(&self) -> u32 {
        // The sum is at most a full window.
        MIN_WINDOW_BYTES + self.bytes as u32
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_connections_shares_what_one_receiver_may_hold() {
        let unread = Unread::new();
        let shares: Vec<Share> = (0..100_000).map(|_| unread.share()).collect();
        let windows: Vec<u32> = shares.iter().map(Share::window_bytes).collect();
        assert!(windows[0] == RECEIVE_WINDOW_BYTES && windows.is_sorted_by(|a, b| a >= b));
        let beyond = windows.iter().map(|window| window - MIN_WINDOW_BYTES);
        assert!(beyond.map(u64::from).sum::<u64>() <= MAX_UNREAD_BYTES);
        // The windows of so many flows over a path of 10 Gbit/s × 50 ms are large enough.
        for flows in [100, 300, 1_000] {
            assert!(u64::from(windows[flows - 1]) > 62_500_000 / flows as u64);
        }
        drop(shares);
        assert_eq!(unread.share().window_bytes(), RECEIVE_WINDOW_BYTES);
    }
}
