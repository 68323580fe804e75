//! Routes with a congestion controller, in a routing table of their own, and the policy rules that lead to this table
//! (ip-rule(8), `congctl` of ip-route(8)).
//!
//! The kernel gives a connection the controller of its route: `tcp_ca_openreq_child` does so for an incoming
//! connection, and `tcp_ca_dst_init` for an outgoing one (`net/ipv4/tcp_minisocks.c`, `net/ipv4/tcp_output.c`).
//! Existing connections keep their controllers.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::time::Duration;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NetlinkBuffer};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteNextHopFlags,
    RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage, RulePortRange};
use netlink_packet_route::{AddressFamily, IpProtocol, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::unistd::{read, setsid};

use super::netlink::{Netlink, family, route_address};
use crate::Error;
use crate::error::Context;

/// The number of the table: an arbitrary number that nobody else uses.
pub const TABLE: u32 = 1_900_019;

/// Just before the table `main` (32766), so that other rules come first.
pub const PRIORITY: u32 = 32_765;

/// The origin of our rules and routes (rtnetlink(7), `rtm_protocol`): a number above 4, which the kernel does not
/// interpret.
const OWN: RouteProtocol = RouteProtocol::Other(119);

/// The input interface by which a rule selects the machine's own traffic.
const OWN_TRAFFIC: &str = "lo";

/// A network: its address and its prefix length.
pub type Network = (IpAddr, u8);

/// Local or remote ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// Local ports.
    Local(RangeInclusive<u16>),
    /// Remote ports.
    Remote(RangeInclusive<u16>),
}

/// Selects the machine's own connections that use the table: those of an IP version, with such a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether the rule is for IPv6.
    pub is_v6: bool,
    /// The ports.
    pub side: Side,
}

/// Where a route leads, with the route's metrics for TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way(RouteMessage);

/// A netlink connection to the kernel for the routes of the calling thread's network namespace.
pub struct Routing {
    netlink: Netlink,
}

const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

impl Routing {
    /// Opens a netlink connection.
    ///
    /// # Errors
    ///
    /// The kernel has no such socket, or is older than 4.20.
    pub fn open_here() -> Result<Routing, Error> {
        let open = || {
            let netlink = Netlink::open()?;
            netlink.be_strict().map(|()| netlink)
        };
        let netlink = open().context("cannot open a netlink socket for routes")?;
        Ok(Routing { netlink })
    }

    /// The routes of the table `main`: for each network the way of all packets; nothing if there is no such way. This is so
    /// if the preferred route is not a unicast route, if a route is for a type of service or for source addresses, or if
    /// the kernel chooses between several routes.
    ///
    /// # Errors
    ///
    /// The kernel cannot list the routes.
    pub fn main(&mut self) -> Result<BTreeMap<Network, Option<Way>>, Error> {
        Ok(ways(&self.routes(RouteHeader::RT_TABLE_MAIN.into())?))
    }

    /// Checks that this process may change routes. Changes nothing.
    ///
    /// # Errors
    ///
    /// The process may not.
    pub fn check(&mut self) -> Result<(), Error> {
        // The kernel checks the permission first. No client has this address.
        self.remove((Ipv4Addr::UNSPECIFIED.into(), 32))
    }

    /// The networks that have a route of ours in our table.
    ///
    /// # Errors
    ///
    /// The kernel cannot list the routes.
    pub fn own(&mut self) -> Result<Vec<Network>, Error> {
        let routes = self.routes(TABLE)?.into_iter();
        let own = routes.filter(|route| route.header.protocol == OWN);
        Ok(own.map(|route| network(&route)).collect())
    }

    /// Adds or replaces the route to a network in our table, with this way and this controller.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route.
    pub fn put(&mut self, network: Network, way: &Way, controller: &str) -> Result<(), Error> {
        let message = way.with(network, controller);
        self.replace(network, message)
    }

    /// Adds or replaces the route to a network in our table with a route of type `throw`: the lookup continues with the
    /// next rule.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route.
    pub fn look_on(&mut self, network: Network) -> Result<(), Error> {
        self.replace(network, own_route(network, RouteType::Throw))
    }

    fn replace(&mut self, network: Network, message: RouteMessage) -> Result<(), Error> {
        let request = RouteNetlinkMessage::NewRoute(message);
        let done = self.netlink.request(request, NLM_F_CREATE | NLM_F_REPLACE);
        done.context(format!("cannot add a route to {}/{}", network.0, network.1))
    }

    /// Removes our route to a network from our table.
    ///
    /// # Errors
    ///
    /// The kernel refuses to remove the route.
    pub fn remove(&mut self, network: Network) -> Result<(), Error> {
        let mut message = own_route(network, RouteType::Unspec);
        // This matches any scope.
        message.header.scope = RouteScope::NoWhere;
        self.delete(RouteNetlinkMessage::DelRoute(message))
    }

    /// Adds a rule if it does not exist.
    ///
    /// # Errors
    ///
    /// The kernel refuses the rule. A kernel older than 4.17 does not support ports in rules.
    pub fn add_rule(&mut self, rule: &Rule) -> Result<(), Error> {
        let request = RouteNetlinkMessage::NewRule(rule.message());
        let done = self.netlink.request(request, NLM_F_CREATE | NLM_F_EXCL);
        let done = done.or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        });
        done.context("cannot add a rule (it takes CAP_NET_ADMIN)")
    }

    /// The number of rules that lead to our table, and the priorities of other rules that come before them, except the
    /// rule with priority 0, which is for the machine's own addresses.
    ///
    /// # Errors
    ///
    /// The kernel cannot list the rules.
    pub fn rules(&mut self) -> Result<(usize, Vec<u32>), Error> {
        Ok(in_order(&self.all_rules()?))
    }

    /// Removes all rules that lead to our table, and then the table's routes. Returns how many rules and routes it
    /// removed. The rules go first, so that the table has no effect from then on.
    ///
    /// # Errors
    ///
    /// The kernel refuses to remove a rule or a route.
    pub fn clear(&mut self) -> Result<usize, Error> {
        let mut count = 0;
        for rule in self.all_rules()?.into_iter().filter(is_own) {
            self.delete(RouteNetlinkMessage::DelRule(rule))?;
            count += 1;
        }
        for network in self.own()? {
            self.remove(network)?;
            count += 1;
        }
        Ok(count)
    }

    /// Deletes a rule or a route, if it exists.
    fn delete(&mut self, message: RouteNetlinkMessage) -> Result<(), Error> {
        let done = self.netlink.request(message, 0);
        let done = done.or_else(|error| match error.raw_os_error() {
            Some(nix::libc::ESRCH | nix::libc::ENOENT) => Ok(()),
            _ => Err(error),
        });
        done.context("cannot remove a rule or a route (it takes CAP_NET_ADMIN)")
    }

    fn routes(&mut self, table: u32) -> Result<Vec<RouteMessage>, Error> {
        let mut found = Vec::new();
        for family in FAMILIES {
            let mut message = RouteMessage::default();
            message.header.address_family = family;
            message.attributes = vec![RouteAttribute::Table(table)];
            let message = RouteNetlinkMessage::GetRoute(message);
            for one in self.all(&message, "cannot read routes")? {
                if let RouteNetlinkMessage::NewRoute(route) = one
                    && table_of(&route) == table
                {
                    found.push(route);
                }
            }
        }
        Ok(found)
    }

    fn all_rules(&mut self) -> Result<Vec<RuleMessage>, Error> {
        let mut found = Vec::new();
        for family in FAMILIES {
            let mut message = RuleMessage::default();
            message.header.family = family;
            let message = RouteNetlinkMessage::GetRule(message);
            for one in self.all(&message, "cannot read rules")? {
                if let RouteNetlinkMessage::NewRule(rule) = one {
                    found.push(rule);
                }
            }
        }
        Ok(found)
    }

    /// Lists all objects of a kind; nothing if the kernel has no such table, or does not support this IP version.
    fn all(
        &mut self,
        message: &RouteNetlinkMessage,
        what: &str,
    ) -> Result<Vec<RouteNetlinkMessage>, Error> {
        match self.netlink.dump(message) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    || matches!(
                        error.raw_os_error(),
                        Some(nix::libc::EOPNOTSUPP | nix::libc::EAFNOSUPPORT)
                    ) =>
            {
                Ok(Vec::new())
            }
            other => other.context(what),
        }
    }
}

/// See [`Routing::main`].
fn ways(routes: &[RouteMessage]) -> BTreeMap<Network, Option<Way>> {
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

/// See [`Routing::rules`]. The kernel lists rules in the order of their evaluation.
fn in_order(rules: &[RuleMessage]) -> (usize, Vec<u32>) {
    let (mut own, mut others) = (0, Vec::new());
    for family in FAMILIES {
        let mut before = Vec::new();
        for rule in rules.iter().filter(|rule| rule.header.family == family) {
            let priority = rule.attributes.iter().find_map(|one| match one {
                RuleAttribute::Priority(priority) => Some(*priority),
                _ => None,
            });
            if is_own(rule) {
                own += 1;
                others.append(&mut before);
            } else {
                before.extend(priority.filter(|&priority| priority > 0));
            }
        }
    }
    (own, others)
}

/// A route of our table.
fn own_route(network: Network, kind: RouteType) -> RouteMessage {
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
    fn with(&self, network: Network, controller: &str) -> RouteMessage {
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

impl Rule {
    fn message(&self) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = FAMILIES[usize::from(self.is_v6)];
        message.header.action = RuleAction::ToTable;
        let range = |ports: &RangeInclusive<u16>| RulePortRange {
            start: *ports.start(),
            end: *ports.end(),
        };
        message.attributes = vec![
            RuleAttribute::Table(TABLE),
            RuleAttribute::Priority(PRIORITY),
            RuleAttribute::Protocol(OWN),
            RuleAttribute::Iifname(OWN_TRAFFIC.to_owned()),
            RuleAttribute::IpProtocol(IpProtocol::Tcp),
            match &self.side {
                Side::Local(ports) => RuleAttribute::SourcePortRange(range(ports)),
                Side::Remote(ports) => RuleAttribute::DestinationPortRange(range(ports)),
            },
        ];
        message
    }
}

fn is_own(rule: &RuleMessage) -> bool {
    let has = |wanted: &RuleAttribute| rule.attributes.contains(wanted);
    has(&RuleAttribute::Table(TABLE)) && has(&RuleAttribute::Protocol(OWN))
}

fn table_of(route: &RouteMessage) -> u32 {
    let table = route.attributes.iter().find_map(|one| match one {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    table.unwrap_or(route.header.table.into())
}

/// The destination of a route. A default route has no address.
fn network(route: &RouteMessage) -> Network {
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

fn address_of(address: &netlink_packet_route::route::RouteAddress) -> Option<IpAddr> {
    use netlink_packet_route::route::RouteAddress;
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

/// Listens for changes of routes in the table `main`.
pub struct Changes {
    socket: Socket,
}

/// The multicast groups for routes (`RTNLGRP_IPV4_ROUTE`, `RTNLGRP_IPV6_ROUTE` of linux/rtnetlink.h).
const GROUPS: [u32; 2] = [7, 11];

/// The offset of the table in `struct rtmsg`.
const TABLE_AT: usize = 4;

impl Changes {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The kernel has no socket for this.
    pub fn listen_here() -> Result<Changes, Error> {
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            for group in GROUPS {
                socket.add_membership(group)?;
            }
            socket.set_non_blocking(true)?;
            Ok::<_, io::Error>(socket)
        };
        let socket = open().context("cannot listen for changes of routes")?;
        Ok(Changes { socket })
    }

    /// Whether a route has changed since the last call.
    pub fn any(&self) -> bool {
        let (mut is_any, mut message) = (false, Vec::with_capacity(1 << 16));
        loop {
            message.clear();
            match self.socket.recv(&mut message, 0) {
                Ok(_) => {
                    let about = NetlinkBuffer::new_checked(&message);
                    let table = about
                        .ok()
                        .and_then(|of| of.payload().get(TABLE_AT).copied());
                    is_any |= table == Some(RouteHeader::RT_TABLE_MAIN);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return is_any,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The receive buffer has overflowed.
                Err(_) => return true,
            }
        }
    }
}

/// The task of a process that removes the rules and routes when another process has ended. The other process writes to
/// the standard input of this one from time to time. If it writes nothing for the time of `lease`, the rules and routes
/// are removed meanwhile, and `late` is called. Ignores signals. Returns how many rules and routes it removed at the
/// end.
///
/// # Errors
///
/// The rules and routes cannot be removed.
pub fn undo_at_end(lease: Duration, mut late: impl FnMut()) -> Result<usize, Error> {
    // The signals of a terminal or a service manager are meant for the other process.
    let _ = setsid();
    SigSet::all()
        .thread_block()
        .context("cannot put signals off")?;
    let clear = || Routing::open_here()?.clear();
    let input = io::stdin();
    let lease = PollTimeout::try_from(lease).unwrap_or(PollTimeout::MAX);
    loop {
        let mut ready = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, lease) == Ok(0) {
            // If this fails, the next turn tries it again.
            if clear().is_ok_and(|count| count > 0) {
                late();
            }
        } else if !read(&input, &mut [0; 64]).is_ok_and(|length| length > 0) {
            return clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::route::RouteNextHop;
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

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

    #[test]
    fn rules_that_come_before_are_told() {
        let own = |is_v6| {
            let side = Side::Local(80..=80);
            Rule { is_v6, side }.message()
        };
        let other = |is_v6, priority| {
            let mut rule = RuleMessage::default();
            rule.header.family = FAMILIES[usize::from(is_v6)];
            if priority > 0 {
                rule.attributes = vec![RuleAttribute::Priority(priority)];
            }
            rule
        };
        let v4 = [
            other(false, 0),
            other(false, 7),
            // `ip rule add` takes this priority for the first rule.
            other(false, PRIORITY),
            own(false),
            other(false, PRIORITY),
            own(false),
            other(false, 32_766),
        ];
        assert_eq!(in_order(&v4), (2, vec![7, PRIORITY, PRIORITY]));
        // Rules for a version without rules of ours do not matter.
        let both = [&v4[2..5], &[other(true, 0), other(true, 8)]].concat();
        assert_eq!(in_order(&both), (1, vec![PRIORITY]));
    }

    #[test]
    fn who_may_not_change_routes_is_told_so() {
        // Capabilities belong to a thread.
        let without = std::thread::spawn(|| {
            let mut held = capabilities(None).unwrap();
            held.effective.remove(CapabilitySet::NET_ADMIN);
            set_capabilities(None, held).unwrap();
            Routing::open_here().unwrap().check()
        });
        let error = without.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("CAP_NET_ADMIN"), "{error}");
    }
}
