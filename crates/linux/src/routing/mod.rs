//! Routes with a congestion controller, in a routing table of their own, and the policy rules that lead to this table
//! (ip-rule(8), `congctl` of ip-route(8)).
//!
//! The kernel gives a connection the controller of its route: `tcp_ca_openreq_child` does so for an incoming
//! connection, and `tcp_ca_dst_init` for an outgoing one (`net/ipv4/tcp_minisocks.c`, `net/ipv4/tcp_output.c`).
//! Existing connections keep their controllers.

mod changes;
mod rule;
mod undo;
mod way;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::RuleMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

pub use changes::Changes;
pub use rule::{Rule, Side};
pub use undo::undo_at_end;
pub use way::Way;

use crate::Error;
use crate::error::Context;
use crate::netlink::Netlink;
use rule::{in_order, is_own};
use way::{network, own_route, table_of, ways};

/// The number of the table: an arbitrary number that nobody else uses.
pub const TABLE: u32 = 1_900_019;

/// Just before the table `main` (32766), so that other rules come first.
pub const PRIORITY: u32 = 32_765;

/// The origin of our rules and routes (rtnetlink(7), `rtm_protocol`): a number above 4, which the kernel does not
/// interpret.
const OWN: RouteProtocol = RouteProtocol::Other(119);

/// A network: its address and its prefix length.
pub type Network = (IpAddr, u8);

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

    /// The routes of the table `main`: for each network the way of all packets; nothing if there is no such way. This
    /// is so if the preferred route is not a unicast route, if a route is for a type of service or for source
    /// addresses, or if the kernel chooses between several routes.
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

#[cfg(test)]
mod tests {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    use super::*;

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
