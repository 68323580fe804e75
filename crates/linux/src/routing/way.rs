//! The ways of routes, with their metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_route::AddressFamily;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteMetric, RouteNextHopFlags,
    RouteType,
};

use super::{Network, OWN, TABLE};
use crate::netlink::{family, route_address};

/// Where a route leads, with the route's metrics for TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way(RouteMessage);

impl Way {
    /// The way of a route of another table, without the attributes that belong to that route only.
    fn of(route: &RouteMessage) -> Way {
        let mut message = RouteMessage::default();
        message.header.scope = route.header.scope;
        message.header.flags = route.header.flags & RouteFlags::Onlink;
        let object = |one: &RouteAttribute| matches!(one, RouteAttribute::NhId(_));
        // The kernel reports a nexthop object together with its nexthops, but accepts only one of the two.
        let has_object = route.attributes.iter().any(object);
        for attribute in &route.attributes {
            let is_kept = match attribute {
                RouteAttribute::PrefSource(_)
                | RouteAttribute::Metrics(_)
                | RouteAttribute::NhId(_) => true,
                RouteAttribute::Gateway(_)
                | RouteAttribute::Via(_)
                | RouteAttribute::Oif(_)
                | RouteAttribute::MultiPath(_)
                | RouteAttribute::Encap(_)
                | RouteAttribute::EncapType(_)
                | RouteAttribute::Realm(_) => !has_object,
                _ => false,
            };
            if !is_kept {
                continue;
            }
            let mut attribute = attribute.clone();
            if let RouteAttribute::MultiPath(hops) = &mut attribute {
                // The kernel does not use a hop whose device is down, and does not accept it in a new route.
                hops.retain(|hop| !hop.flags.contains(RouteNextHopFlags::Dead));
                for hop in hops {
                    // The kernel does not accept the flags that it sets itself.
                    hop.flags &= RouteNextHopFlags::Onlink;
                }
            }
            message.attributes.push(attribute);
        }
        Way(message)
    }

    /// A route of our table to a network, with this way and this controller.
    pub(super) fn with(&self, network: Network, controller: &str) -> RouteMessage {
        let mut message = own_route(network, RouteType::Unicast);
        message.header.scope = self.0.header.scope;
        message.header.flags = self.0.header.flags;
        let mut metrics = Vec::new();
        for attribute in &self.0.attributes {
            match attribute {
                RouteAttribute::Metrics(all) => metrics.clone_from(all),
                other => message.attributes.push(other.clone()),
            }
        }
        metrics.retain(|metric| !matches!(metric, RouteMetric::CcAlgo(_)));
        metrics.push(RouteMetric::CcAlgo(controller.to_owned()));
        message.attributes.push(RouteAttribute::Metrics(metrics));
        message
    }
}

/// See [`super::Routing::main`].
pub(super) fn ways(routes: &[RouteMessage]) -> BTreeMap<Network, Option<Way>> {
    let mut found: BTreeMap<Network, (u32, Option<Way>)> = BTreeMap::new();
    let mut not_one = BTreeSet::new();
    for route in routes {
        let (header, network) = (&route.header, network(route));
        if header.flags.contains(RouteFlags::Dead) {
            continue;
        }
        if header.tos != 0 || header.source_prefix_length != 0 {
            not_one.insert(network);
            continue;
        }
        let priority = route.attributes.iter().find_map(|one| match one {
            RouteAttribute::Priority(priority) => Some(*priority),
            _ => None,
        });
        let way = (header.kind == RouteType::Unicast).then(|| Way::of(route));
        let this = (priority.unwrap_or(0), way);
        let Some(known) = found.get_mut(&network) else {
            found.insert(network, this);
            continue;
        };
        // The kernel leaves a router that does not answer: with IPv6 for any other route (`find_rr_leaf` in
        // net/ipv6/route.c), with IPv4 for a route of the same priority (`fib_select_default` in
        // net/ipv4/fib_semantics.c).
        let is_choice =
            known.0 == this.0 || (network.0.is_ipv6() && known.1.is_some() && this.1.is_some());
        if is_choice && known.1 != this.1 {
            not_one.insert(network);
        }
        if this.0 < known.0 {
            *known = this;
        }
    }
    let mut found: BTreeMap<Network, Option<Way>> = found
        .into_iter()
        .map(|(network, (_, way))| (network, way))
        .collect();
    found.extend(not_one.into_iter().map(|network| (network, None)));
    found
}

/// A route of our table.
pub(super) fn own_route(network: Network, kind: RouteType) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(network.0);
    message.header.destination_prefix_length = network.1;
    message.header.protocol = OWN;
    message.header.kind = kind;
    message.attributes = vec![
        RouteAttribute::Destination(route_address(network.0)),
        RouteAttribute::Table(TABLE),
    ];
    message
}

pub(super) fn table_of(route: &RouteMessage) -> u32 {
    let table = route.attributes.iter().find_map(|one| match one {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    table.unwrap_or(route.header.table.into())
}

/// The destination of a route. A default route has no address.
pub(super) fn network(route: &RouteMessage) -> Network {
    let address = route.attributes.iter().find_map(|one| match one {
        RouteAttribute::Destination(address) => address_of(address),
        _ => None,
    });
    let unspecified = if route.header.address_family == AddressFamily::Inet {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        IpAddr::from(Ipv6Addr::UNSPECIFIED)
    };
    (
        address.unwrap_or(unspecified),
        route.header.destination_prefix_length,
    )
}

fn address_of(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::route::{RouteHeader, RouteNextHop};

    use super::*;

    #[test]
    fn a_way_is_what_the_route_says_and_the_controller() {
        let gateway: IpAddr = "192.0.2.1".parse().unwrap();
        let mut route = RouteMessage::default();
        route.header.flags = RouteFlags::Onlink | RouteFlags::Offload;
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.attributes = vec![
            RouteAttribute::Table(254),
            RouteAttribute::Priority(100),
            RouteAttribute::Metrics(vec![
                RouteMetric::InitCwnd(30),
                RouteMetric::CcAlgo("bbr".to_owned()),
            ]),
            RouteAttribute::Gateway(route_address(gateway)),
            RouteAttribute::Oif(2),
        ];
        let to: Network = ("198.51.100.0".parse().unwrap(), 24);
        let own = Way::of(&route).with(to, "reno");
        assert_eq!(own.header.flags, RouteFlags::Onlink);
        assert_eq!((network(&own), table_of(&own)), (to, TABLE));
        let metrics = vec![
            RouteMetric::InitCwnd(30),
            RouteMetric::CcAlgo("reno".to_owned()),
        ];
        assert_eq!(
            own.attributes[2..],
            [
                RouteAttribute::Gateway(route_address(gateway)),
                RouteAttribute::Oif(2),
                RouteAttribute::Metrics(metrics),
            ]
        );
        // The nexthops of a nexthop object belong to the object.
        route.attributes.push(RouteAttribute::NhId(7));
        let own = Way::of(&route).with(to, "reno");
        assert_eq!(own.attributes[2], RouteAttribute::NhId(7));
        assert_eq!(own.attributes.len(), 4);
    }

    /// A route to a network. A gateway is an address on the device 2.
    fn route(to: &str, priority: u32, gateway: &str) -> RouteMessage {
        let (address, length) = to.split_once('/').unwrap();
        let (address, gateway): (IpAddr, IpAddr) =
            (address.parse().unwrap(), gateway.parse().unwrap());
        let mut route = RouteMessage::default();
        route.header.address_family = family(address);
        route.header.destination_prefix_length = length.parse().unwrap();
        route.header.kind = RouteType::Unicast;
        route.attributes = vec![
            RouteAttribute::Destination(route_address(address)),
            RouteAttribute::Priority(priority),
            RouteAttribute::Gateway(route_address(gateway)),
            RouteAttribute::Oif(2),
        ];
        route
    }

    /// The way of each network, as the route that it is the way of.
    fn all(routes: &[RouteMessage]) -> Vec<Option<usize>> {
        let ways = ways(routes).into_values();
        let ways = ways.map(|way| {
            let mut of = routes.iter().map(Way::of);
            of.position(|one| Some(one) == way)
        });
        ways.collect()
    }

    #[test]
    fn the_preferred_route_is_the_way() {
        let far = route("192.0.2.0/24", 200, "10.0.0.2");
        let near = route("192.0.2.0/24", 100, "10.0.0.1");
        assert_eq!(all(&[far.clone(), near.clone()]), [Some(1)]);
        assert_eq!(all(&[near.clone(), far.clone()]), [Some(0)]);
        let mut none = near.clone();
        none.header.kind = RouteType::BlackHole;
        assert_eq!(all(&[none.clone(), far.clone()]), [None]);
        none.header.flags = RouteFlags::Dead;
        assert_eq!(all(&[none, far]), [Some(1)]);
    }

    #[test]
    fn where_the_kernel_chooses_there_is_no_way() {
        let two = |to, priority: [u32; 2], gateway: [&str; 2]| {
            all(&[0, 1].map(|one| route(to, priority[one], gateway[one])))
        };
        let four = ["10.0.0.1", "10.0.0.2"];
        assert_eq!(two("0.0.0.0/0", [0, 0], four), [None]);
        assert_eq!(two("0.0.0.0/0", [1, 2], four), [Some(0)]);
        // With IPv6, a router that does not answer is left for one with another priority.
        let six = ["fe80::1", "fe80::2"];
        assert_eq!(two("::/0", [1024, 1024], six), [None]);
        assert_eq!(two("::/0", [1024, 2048], six), [None]);
        assert_eq!(two("::/0", [1024, 2048], [six[0]; 2]), [Some(0)]);
        // There is nothing to choose between a router and no route.
        let mut unreachable = route("::/0", 4096, six[0]);
        unreachable.header.kind = RouteType::Unreachable;
        let router = route("::/0", 1024, six[1]);
        assert_eq!(all(&[router, unreachable]), [Some(0)]);
    }

    #[test]
    fn a_route_for_some_packets_leaves_no_way_for_all() {
        let general = route("192.0.2.0/24", 100, "10.0.0.1");
        let mut special = route("192.0.2.0/24", 200, "10.0.0.2");
        special.header.tos = 0x10;
        assert_eq!(all(&[general.clone(), special.clone()]), [None]);
        assert_eq!(all(&[special.clone(), general]), [None]);
        assert_eq!(all(&[special]), [None]);
        let mut special = route("::/0", 100, "fe80::1");
        special.header.source_prefix_length = 48;
        assert_eq!(all(&[special, route("::/0", 100, "fe80::1")]), [None]);
    }

    #[test]
    fn a_hop_whose_device_is_down_is_left_out() {
        let mut route = RouteMessage::default();
        let hop = |device: u32, flags| {
            let mut hop = RouteNextHop::default();
            (hop.interface_index, hop.flags) = (device, flags);
            hop
        };
        let down = RouteNextHopFlags::Dead | RouteNextHopFlags::Linkdown;
        let hops = vec![hop(1, RouteNextHopFlags::Linkdown), hop(2, down)];
        route.attributes = vec![RouteAttribute::MultiPath(hops)];
        let left = vec![hop(1, RouteNextHopFlags::empty())];
        assert_eq!(
            Way::of(&route).0.attributes,
            [RouteAttribute::MultiPath(left)]
        );
    }
}
