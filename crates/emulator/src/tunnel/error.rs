//! Errors of starting a tunnel.

use std::fmt;
use std::io;
use std::net::IpAddr;

use super::config::Direction;

/// An error of starting a tunnel. A running tunnel ends when it is stopped, or when one of its devices is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunnelError {
    /// A link is invalid, such as one with a rate of zero.
    #[error("{direction} link {link}: {source}")]
    Link {
        /// Its direction.
        direction: Direction,
        /// Its index.
        link: usize,
        /// The error.
        source: units::ConfigError,
    },
    /// A direction has no route, so its packets would go nowhere.
    #[error("the {direction} way has no route; give it at least one, whose links may be none")]
    NoRoute {
        /// The direction.
        direction: Direction,
    },
    /// A route has a link that does not exist.
    #[error("{direction} route {route} names {of} link {link}, but there are {links}")]
    UnknownLink {
        /// The direction.
        direction: Direction,
        /// The route's index.
        route: usize,
        /// The direction of the link.
        of: Direction,
        /// The index of the link.
        link: usize,
        /// The number of that direction's links.
        links: usize,
    },
    /// Two routes have the same destination, or one has it twice.
    #[error("{direction} routes name the destination {address} twice")]
    SameDestination {
        /// The direction.
        direction: Direction,
        /// The destination.
        address: IpAddr,
    },
    /// The system refused a thread, a pipe, or non-blocking reads.
    #[error("cannot start the tunnel: {0}")]
    System(#[from] io::Error),
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        })
    }
}
