//! Groups of connections that have something in common.

use std::fmt;

use hashbrown::HashMap;
use units::{Duration, Rate};

use crate::connection::{Connection, ConnectionState, Since};
use crate::systems::System;
use rules::Prefix;

units::named! {
    /// The property by which connections are grouped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GroupBy, "group" {
        /// The other side's network: 24 bits of IPv4, 48 of IPv6.
        Prefix = "prefix",
        /// The network's operator, from a file that names them.
        As = "as",
        /// The lower of the two ports, which is usually the service's.
        Port = "port",
        /// The congestion controller.
        Controller = "controller",
        /// The process's name.
        Process = "process",
        /// The control group.
        Cgroup = "cgroup",
        /// The network namespace.
        Namespace = "namespace",
    }
}

/// The group of connections without a known process, control group or AS.
pub(crate) const UNKNOWN: &str = "unknown";

/// The property that the connections of a group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Common<'s> {
    Prefix(Prefix),
    System(&'s System),
    Port(u16),
    Name(&'s str),
    Unknown,
}

impl GroupBy {
    /// The property of this connection.
    fn of(self, seen: &ConnectionState) -> Common<'_> {
        let known = match self {
            GroupBy::Prefix => {
                let address = seen.socket.remote.ip().to_canonical();
                let length = if address.is_ipv4() { 24 } else { 48 };
                Some(Common::Prefix(Prefix::around(address, length)))
            }
            GroupBy::As => seen.system.as_deref().map(Common::System),
            GroupBy::Port => Some(Common::Port(seen.service())),
            GroupBy::Controller => {
                let controller = seen.socket.controller.as_str();
                Some(Common::Name(controller)).filter(|_| !controller.is_empty())
            }
            GroupBy::Process => seen
                .process
                .as_ref()
                .map(|process| Common::Name(&process.name)),
            GroupBy::Cgroup => seen.cgroup.as_deref().map(Common::Name),
            GroupBy::Namespace => Some(Common::Name(&seen.namespace)),
        };
        known.unwrap_or(Common::Unknown)
    }
}

impl fmt::Display for Common<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Common::Prefix(prefix) => prefix.fmt(f),
            Common::System(system) => system.fmt(f),
            Common::Port(port) => port.fmt(f),
            Common::Name(name) => f.write_str(name),
            Common::Unknown => f.write_str(UNKNOWN),
        }
    }
}

/// A group of connections.
#[derive(Debug, Default)]
pub struct Group {
    /// The shared property.
    pub name: String,
    /// The number of connections.
    pub connections: u64,
    /// The sum of their sending rates, as far as known. `None` before the second sample.
    pub send_rate: Option<Rate>,
    /// The sum of their receiving rates.
    pub receive_rate: Option<Rate>,
    /// The smallest RTT of any of them.
    pub min_rtt: Option<Duration>,
    /// Their smoothed RTTs, ascending once finished.
    pub rtts: Vec<Duration>,
    /// Their delivery rates, ascending once finished.
    pub delivery_rates: Vec<Rate>,
    /// The sums of their changes since the previous sample, including times.
    pub since: Since,
}

impl Group {
    /// Groups the connections that pass. Groups with the highest rates come first.
    pub fn all<'c>(
        by: GroupBy,
        connections: impl IntoIterator<Item = &'c Connection>,
    ) -> Vec<Group> {
        let mut groups: HashMap<Common<'_>, Group> = HashMap::new();
        for connection in connections {
            let common = by.of(&connection.seen);
            groups.entry(common).or_default().add(&connection.seen);
        }
        let groups = groups.into_iter();
        let mut groups: Vec<Group> = groups
            .map(|(common, group)| group.finish(common.to_string()))
            .collect();
        let traffic =
            |group: &Group| (plus(group.send_rate, group.receive_rate), group.connections);
        groups.sort_by(|one, other| {
            traffic(other)
                .cmp(&traffic(one))
                .then_with(|| one.name.cmp(&other.name))
        });
        groups
    }

    fn add(&mut self, seen: &ConnectionState) {
        let info = &seen.socket.info;
        self.connections += 1;
        self.send_rate = plus(self.send_rate, seen.send_rate());
        self.receive_rate = plus(self.receive_rate, seen.receive_rate());
        self.min_rtt = self.min_rtt.into_iter().chain(info.min_rtt).min();
        self.rtts.extend(seen.rtt());
        self.delivery_rates.extend(info.known_delivery_rate());
        if let Some(since) = &seen.since {
            self.since.add(since);
        }
    }

    /// Adds another group.
    pub(crate) fn merge(&mut self, other: Group) {
        self.connections += other.connections;
        self.send_rate = plus(self.send_rate, other.send_rate);
        self.receive_rate = plus(self.receive_rate, other.receive_rate);
        self.min_rtt = self.min_rtt.into_iter().chain(other.min_rtt).min();
        self.rtts.extend(other.rtts);
        self.delivery_rates.extend(other.delivery_rates);
        self.since.add(&other.since);
    }

    /// Names the group and sorts its distributions.
    pub(crate) fn finish(mut self, name: String) -> Group {
        self.rtts.sort_unstable();
        self.delivery_rates.sort_unstable();
        Group { name, ..self }
    }
}

/// The sum of the known ones.
fn plus(one: Option<Rate>, other: Option<Rate>) -> Option<Rate> {
    let sum = |one: Rate, other: Rate| {
        Rate::from_bytes_per_sec(one.bytes_per_sec().saturating_add(other.bytes_per_sec()))
    };
    one.into_iter().chain(other).reduce(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{connection, seen};

    #[test]
    fn connections_are_added_up() {
        let mut other = connection(2);
        other.seen.socket.remote = "203.0.113.9:4444".parse().unwrap();
        let all = [connection(1), connection(3), other];
        let groups = Group::all(GroupBy::Prefix, &all);
        let names: Vec<_> = groups
            .iter()
            .map(|group| (&*group.name, group.connections))
            .collect();
        assert_eq!(names, [("198.51.100.0/24", 2), ("203.0.113.0/24", 1)]);
        let one = seen().send_rate().unwrap().bytes_per_sec();
        assert_eq!(groups[0].send_rate.unwrap().bytes_per_sec(), 2 * one);
        assert_eq!(groups[0].rtts.len(), 2);
        assert_eq!(groups[0].since.shares(), seen().shares());
    }

    #[test]
    fn every_dimension_has_a_name() {
        let names = [
            "198.51.100.0/24",
            "AS64500 Example",
            "443",
            "bbr",
            "nginx",
            "/web",
            "host",
        ];
        let seen = seen();
        let of = |by: &GroupBy| by.of(&seen).to_string();
        assert_eq!(GroupBy::ALL.iter().map(of).collect::<Vec<_>>(), names);
    }
}
