//! Why a tunnel did not start.

use std::fmt;
use std::io;
use std::net::IpAddr;

use super::config::Direction;

/// Why a tunnel did not start. Once it runs, it ends when it is stopped, or when one of its devices is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunnelError {
    /// A link makes no sense, such as one with a rate of zero.
    #[error("{direction} link {link}: {source}")]
    Link {
        /// The way that it is on.
        direction: Direction,
        /// Its index.
        link: usize,
        /// What is wrong with it.
        source: units::ConfigError,
    },
    /// A way without a route: its packets would go nowhere.
    #[error("the {direction} way has no route; give it at least one, whose links may be none")]
    NoRoute {
        /// The way.
        direction: Direction,
    },
    /// A route over a link that is not there.
    #[error("{direction} route {route} names link {link}, but there are {links}")]
    UnknownLink {
        /// The way.
        direction: Direction,
        /// The route's index.
        route: usize,
        /// The link that it names.
        link: usize,
        /// How many links the way has.
        links: usize,
    },
    /// A destination that two routes name, or one route twice.
    #[error("{direction} routes name the destination {address} twice")]
    SameDestination {
        /// The way.
        direction: Direction,
        /// The destination.
        address: IpAddr,
    },
    /// The system refused the tunnel a thread, a pipe, or reads that do not block.
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
