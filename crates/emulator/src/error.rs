//! Why a relay did not start.

use std::io;
use std::net::SocketAddr;

/// Why a relay did not start. Once it runs, nothing stops it but [`stop`](crate::Relay::stop).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The path makes no sense, such as a rate of zero.
    #[error("impossible path: {0}")]
    Path(#[from] units::ConfigError),
    /// The listening address is taken, is not this machine's, or needs rights that we do not have.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// There is no way from here to the destination.
    #[error("cannot reach {address}: {source}")]
    Unreachable {
        /// The destination asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The destination is the relay itself: packets would go round for ever.
    #[error("the destination {address} is the relay's own address")]
    OwnAddress {
        /// The destination asked for.
        address: SocketAddr,
    },
    /// The system refused the relay its thread or pipe.
    #[error("cannot start the relay: {0}")]
    System(io::Error),
}
