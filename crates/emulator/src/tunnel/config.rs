//! The settings of a tunnel.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use path::LinkConfig;

/// The settings of a tunnel: its two devices, and the links between them.
#[derive(Debug)]
pub struct TunnelConfig {
    /// The TUN device whose packets go forward. It must be opened with `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR`: each read
    /// or write is one frame, with a `virtio_net_hdr` of 10 bytes and an IP packet. The device's offloads allow large
    /// packets (`TUNSETOFFLOAD`; TCP's segmentation is supported, UDP's is not).
    pub near: OwnedFd,
    /// The TUN device at the other end, opened in the same way.
    pub far: OwnedFd,
    /// From near to far.
    pub forward: Way,
    /// From far to near.
    pub reverse: Way,
    /// The seed of the random choices of all links: link `i` has [`path::link_seed`] number `2 i` forward and `2 i + 1`
    /// back.
    pub seed: u64,
}

/// One direction: links, and routes over them. Routes may share links: a bottleneck that all routes cross after a
/// delaying link of their own, or several bottlenecks in a row of which some routes cross only one. In a network, a
/// route may also cross links of the opposite way: those that carry another route's answers.
///
/// [`Way::default`] has no route, so no tunnel starts with it. [`Way::single`] is the simplest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Way {
    /// The links. Routes and counters refer to them by index.
    pub links: Vec<LinkConfig>,
    /// The routes. A packet takes the first one if no route has its destination.
    pub routes: Vec<Route>,
}

impl Way {
    /// A way with one link for all packets.
    pub fn single(link: LinkConfig) -> Way {
        Way {
            links: vec![link],
            routes: vec![Route {
                to: Vec::new(),
                links: vec![Hop::Own(0)],
            }],
        }
    }

    /// True if a route crosses a link of the opposite way.
    pub(crate) fn has_opposite_hops(&self) -> bool {
        let mut hops = self.routes.iter().flat_map(|route| &route.links);
        hops.any(|hop| matches!(hop, Hop::Opposite(_)))
    }
}

/// The links for packets to some destinations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The destinations. No other route may have any of them.
    pub to: Vec<IpAddr>,
    /// The links, in the order of the path. Without any, packets pass at once.
    pub links: Vec<Hop>,
}

/// A link on a route, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hop {
    /// A link of the route's own way.
    Own(usize),
    /// A link of the opposite way.
    Opposite(usize),
}

/// A direction of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From near to far.
    Forward,
    /// From far to near.
    Reverse,
}

impl Direction {
    pub(crate) fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }
}
