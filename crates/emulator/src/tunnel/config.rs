//! What a tunnel is asked to do.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use path::LinkConfig;

/// A tunnel: its two ends, and what lies between them.
#[derive(Debug)]
pub struct TunnelConfig {
    /// The TUN device whose packets go forward. Opened with `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR`: each read or write is
    /// one frame, a `virtio_net_hdr` of 10 bytes and an IP packet, large ones as the device's offloads allow
    /// (`TUNSETOFFLOAD`; segments of TCP are understood, those of UDP are not).
    pub near: OwnedFd,
    /// The TUN device at the other end, opened in the same way.
    pub far: OwnedFd,
    /// From near to far.
    pub forward: Way,
    /// From far to near.
    pub reverse: Way,
    /// Seed of the random choices of all links: link `i` has [`path::link_seed`] number `2 i` forward and `2 i + 1` back.
    pub seed: u64,
}

/// One direction: links, and routes over them. It is the reader's choice which links are shared: a bottleneck that all
/// routes cross after an own link each that delays, or several bottlenecks in a row of which some routes cross only one.
///
/// [`Way::default`] has no route, and no tunnel starts with it; [`Way::single`] is the simplest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Way {
    /// The links, by whose indices routes and counters name them.
    pub links: Vec<LinkConfig>,
    /// The routes. A packet whose destination no route names takes the first.
    pub routes: Vec<Route>,
}

impl Way {
    /// All packets cross this one link.
    pub fn single(link: LinkConfig) -> Way {
        Way {
            links: vec![link],
            routes: vec![Route {
                to: Vec::new(),
                links: vec![0],
            }],
        }
    }
}

/// Which links the packets to some destinations cross.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The destinations; no other route has any of them.
    pub to: Vec<IpAddr>,
    /// The links that they cross, in this order. None at all passes everything at once.
    pub links: Vec<usize>,
}

/// One of the two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From near to far.
    Forward,
    /// From far to near.
    Reverse,
}
