//! The groups that a client belongs to, from facts that are known before its unit gets an arm.

use std::collections::HashMap;

use experiment::{Group, RttClass, Unit};
use rules::Prefix;
use units::Duration;

use super::row;

/// The lengths of the networks that are groups of client networks: most operators have some of these.
const GROUP_LENGTHS: [u8; 2] = [16, 32];

/// The known facts about a client.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientFacts<'k> {
    /// The address, the network or the pseudonym, as it is stored.
    pub client: Option<&'k str>,
    pub system: Option<u32>,
    pub region: Option<&'k str>,
    /// The RTT of the first handshake of its unit.
    pub handshake: Option<Duration>,
}

impl ClientFacts<'_> {
    /// The names of the groups, the most telling first: the arms are compared within the first that is large enough.
    pub fn groups(self, unit: Unit) -> Vec<String> {
        let network = self.client.and_then(network_of);
        // An operator and a region say more of a client than the larger network does.
        let is_named = self.system.is_some() || self.region.is_some();
        let around = network
            .filter(|_| !is_named)
            .and_then(|network| around(network, unit));
        // A client network that is a unit of its own is no group.
        let network = network.filter(|_| !matches!(unit, Unit::Prefix { .. }));
        let groups = [
            network.map(Group::Network),
            self.system.map(Group::System),
            self.region.map(|name| Group::Region(name.to_owned())),
            around.map(Group::Network),
            self.handshake.map(|rtt| Group::Rtt(RttClass::of(rtt))),
        ];
        groups
            .into_iter()
            .flatten()
            .map(|group| group.to_string())
            .collect()
    }
}

/// The network of a client that is stored as an address or as a network. A pseudonym has none.
pub(super) fn network_of(client: &str) -> Option<Prefix> {
    match client.parse() {
        Ok(address) => Some(row::network(address)),
        Err(_) => client.contains('/').then(|| client.parse().ok())?,
    }
}

/// The larger network around a client network, if the unit is smaller than that.
fn around(network: Prefix, unit: Unit) -> Option<Prefix> {
    let Unit::Prefix { v4, v6 } = unit else {
        return None;
    };
    let (place, unit) = if network.first().is_ipv4() {
        (0, v4)
    } else {
        (1, v6)
    };
    let length = GROUP_LENGTHS[place];
    (unit > length).then(|| Prefix::around(network.first(), length))
}

/// The RTT of a handshake that is known before the unit gets its arm: that of the first connection of the unit. Later
/// handshakes may wait behind data that the arm has sent. In a slot, all may.
#[derive(Debug)]
pub(super) struct FirstHandshakes(Option<HashMap<(usize, u64), Handshake>>);

/// The time when a connection was set up, and the RTT of its handshake.
type Handshake = (f64, Option<Duration>);

impl FirstHandshakes {
    /// An empty map for units of this kind.
    pub fn new(unit: Unit) -> FirstHandshakes {
        let has_first = matches!(unit, Unit::Connection | Unit::Prefix { .. });
        FirstHandshakes(has_first.then(Default::default))
    }

    /// Notes a connection of a machine.
    pub fn note(&mut self, (machine, unit): (usize, u64), set_up: f64, rtt: Option<Duration>) {
        let Some(known) = &mut self.0 else { return };
        let first = known.entry((machine, unit)).or_insert((set_up, rtt));
        // At the same instant, the order must not decide.
        if (set_up, rtt) < *first {
            *first = (set_up, rtt);
        }
    }

    /// The RTT for the connections of a unit on a machine.
    pub fn of(&self, unit: (usize, u64)) -> Option<Duration> {
        self.0.as_ref()?.get(&unit)?.1
    }

    /// The group for the connections of a unit on a machine.
    pub fn group(&self, unit: (usize, u64)) -> Option<String> {
        self.of(unit)
            .map(|rtt| Group::Rtt(RttClass::of(rtt)).to_string())
    }
}

/// The name of an arm's controller, to be compared with a connection's.
pub(super) fn is_in_force(assigned: &str, controller: Option<&str>) -> Option<bool> {
    // A connection that is being taken down has no controller any more.
    let controller = controller.filter(|name| !name.is_empty())?;
    Some(controller == assigned)
}

impl super::Row {
    /// True if the connection has its arm's controller, if that is known.
    pub(super) fn is_in_force(&self) -> Option<bool> {
        is_in_force(&self.assigned, self.controller.as_deref())
    }

    /// The facts about its client, without its handshake.
    pub(super) fn known(&self) -> ClientFacts<'_> {
        ClientFacts {
            client: self.client.as_deref(),
            system: self.system,
            region: self.region.as_deref(),
            handshake: None,
        }
    }

    /// The groups of its client. A running study does not know the first connections of its units.
    pub(super) fn groups(&self, unit: Unit) -> Vec<String> {
        let is_own = unit == Unit::Connection;
        ClientFacts {
            handshake: self.handshake_rtt.filter(|_| is_own),
            ..self.known()
        }
        .groups(unit)
    }
}

impl super::ObjectRow {
    /// The facts about its client, without its connection.
    pub(super) fn known(&self) -> ClientFacts<'_> {
        ClientFacts {
            client: self.client.as_deref(),
            system: self.system,
            region: self.region.as_deref(),
            handshake: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: Unit = Unit::Prefix { v4: 24, v6: 48 };

    #[test]
    fn the_groups_of_a_client_are_those_that_have_several_units() {
        let known = ClientFacts {
            client: Some("192.0.2.7"),
            system: Some(64500),
            region: Some("north"),
            handshake: Some(Duration::from_millis(40)),
        };
        assert_eq!(
            known.groups(PREFIX),
            ["AS64500", "region north", "RTT from 30ms to 100ms"]
        );
        assert_eq!(
            known.groups(Unit::Connection),
            [
                "192.0.2.0/24",
                "AS64500",
                "region north",
                "RTT from 30ms to 100ms"
            ]
        );
        let of = |client, unit| {
            let known = ClientFacts {
                client: Some(client),
                ..ClientFacts::default()
            };
            known.groups(unit)
        };
        assert_eq!(of("2001:db8:7::/48", PREFIX), ["2001:db8::/32"]);
        assert!(of("0123456789abcdef", PREFIX).is_empty());
        assert!(of("192.0.0.0/24", Unit::Prefix { v4: 16, v6: 32 }).is_empty());
    }

    #[test]
    fn only_the_first_handshake_of_a_unit_counts() {
        let mut first = FirstHandshakes::new(PREFIX);
        let rtt = |millis| Some(Duration::from_millis(millis));
        for (set_up, millis) in [(5.0, 200), (1.0, 40), (9.0, 400)] {
            first.note((0, 7), set_up, rtt(millis));
        }
        assert_eq!((first.of((0, 7)), first.of((1, 7))), (rtt(40), None));
        let mut slots = FirstHandshakes::new(Unit::Slot(Duration::from_secs(60)));
        slots.note((0, 7), 1.0, rtt(40));
        assert_eq!(slots.of((0, 7)), None);
    }
}
