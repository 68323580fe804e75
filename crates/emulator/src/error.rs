//! Errors of starting a relay.

use std::io;
use std::net::SocketAddr;

/// An error of starting a relay. A running relay ends only by [`stop`](crate::Relay::stop).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The path is invalid, such as a rate of zero.
    #[error("impossible path: {0}")]
    Path(#[from] units::ConfigError),
    /// The listening address is in use, is not this machine's, or needs rights that this process lacks.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// There is no route to the destination.
    #[error("cannot reach {address}: {source}")]
    Unreachable {
        /// The requested destination.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The destination is the relay itself, so packets would loop.
    #[error("the destination {address} is the relay's own address")]
    OwnAddress {
        /// The requested destination.
        address: SocketAddr,
    },
    /// The system refused a thread or a pipe.
    #[error("cannot start the relay: {0}")]
    System(io::Error),
}
