//! The settings of the program that sets connections' controllers.

use std::net::IpAddr;
use std::ops::Add;

use rules::{
    CONTROLLER_NAME_BYTES, Conditions, Connection, INTERFACE_NAME_BYTES, Interface, MAX_ARMS,
    MAX_INTERFACES, MAX_PORT_RANGES, MAX_RULES, Networks, Ports, Quantity, RULE_NAME_BYTES, Spans,
    first_match,
};
use units::Duration;

use crate::drawn_unit::DrawnUnit;
use crate::resent::Resent;

/// The rules by which connections of a control group get controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steering {
    /// The key that makes draws secret.
    pub key: [u64; 2],
    /// The unit of randomisation.
    pub unit: DrawnUnit,
    /// The rules in order, of which the first match counts. Connections that no rule matches keep their controllers.
    pub rules: Vec<SteeringRule>,
    /// The networks of rules.
    pub networks: Networks,
}

/// A rule: the controllers of some connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringRule {
    /// Its name for people. Longer names than the program has room for are truncated.
    pub name: String,
    /// The conditions for a connection, apart from its client's network.
    pub conditions: Conditions,
    /// The minimum size of a reported object, in bytes. `None` if its connections' objects and round trips are not
    /// followed, which costs less.
    pub objects: Option<u64>,
    /// The end of each arm among the draws' upper halves, and its controller.
    pub arms: Vec<(u64, String)>,
}

/// The words before the rules: the key, the unit, the number of rules, and whether a rule needs what networks resent.
const WORDS: usize = 11;

/// The bytes of `struct rule`.
const RULE_BYTES: usize = 8 * (4 * MAX_PORT_RANGES + 2 * Quantity::ALL.len())
    + INTERFACE_NAME_BYTES * MAX_INTERFACES
    + 8 * (2 + MAX_ARMS)
    + CONTROLLER_NAME_BYTES * MAX_ARMS
    + RULE_NAME_BYTES;

impl Steering {
    /// The bytes of `struct steering`. A program with another number is of another version.
    pub const BYTES: usize = 8 * WORDS + MAX_RULES * RULE_BYTES;

    /// `struct steering` of `bpf/steer/rule.h`, without rules and arms beyond the bounds, which the caller must count.
    pub fn bytes(&self) -> Vec<u8> {
        let mut words = self.key.to_vec();
        words.extend(self.unit.words());
        words.push(self.rules.len().min(MAX_RULES) as u64);
        words.push(self.remembers().into());
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for rule in self.rules.iter().take(MAX_RULES) {
            rule.append(&mut bytes);
        }
        bytes
    }

    /// True if it needs what client networks resent.
    pub fn remembers(&self) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.conditions.has_bounds(Quantity::Resent))
    }

    /// The place of the first rule that matches a new connection: `rule_of` of `bpf/steer/rule.h`. `for_client` has the
    /// bits of the rules that are for its client.
    pub fn rule_of(&self, for_client: u64, of: &Connection) -> Option<usize> {
        let conditions = self.rules.iter().map(|rule| &rule.conditions);
        first_match(conditions, for_client, of)
    }

    /// The inverse of `bytes`. The program fills unused space with zeros. It has no networks here, which are in a table
    /// of their own. `None` if the bytes belong to another program.
    pub(crate) fn parse(mut bytes: &[u8]) -> Option<Steering> {
        let bytes = &mut bytes;
        let mut words = [0; WORDS];
        for at in &mut words {
            *at = word(bytes)?;
        }
        let [low, high, unit @ .., count, _] = words;
        let count = usize::try_from(count)
            .ok()
            .filter(|&count| count <= MAX_RULES)?;
        let rules = (0..count).map(|_| SteeringRule::parse(bytes));
        Some(Steering {
            key: [low, high],
            unit: DrawnUnit::of_words(unit)?,
            rules: rules.collect::<Option<_>>()?,
            networks: Networks::default(),
        })
    }
}

fn word(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_ne_bytes(*first))
}

/// A text with a zero at the end, in this many bytes. A longer text is truncated.
fn fixed<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut end = text.len().min(LENGTH - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut bytes = [0; LENGTH];
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    bytes
}

fn text<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<String> {
    let (first, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    let text = first.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

fn texts<const LENGTH: usize>(bytes: &mut &[u8], count: usize) -> Option<Vec<String>> {
    (0..count).map(|_| text::<LENGTH>(bytes)).collect()
}

impl SteeringRule {
    /// `struct rule`.
    fn append(&self, to: &mut Vec<u8>) {
        let mut word = |word: u64| to.extend(word.to_ne_bytes());
        let of = &self.conditions;
        for ports in [&of.listen, &of.connect] {
            for place in 0..MAX_PORT_RANGES {
                // No range: the first port is above the last.
                let (first, last) = ports.get(place).map_or((1, 0), Ports::ends);
                word(first.into());
                word(last.into());
            }
        }
        for span in of.spans.0 {
            word(span.from);
            word(span.below);
        }
        for place in 0..MAX_INTERFACES {
            let name = of.interfaces.get(place).map_or("", Interface::name);
            to.extend(fixed::<INTERFACE_NAME_BYTES>(name));
        }
        let mut word = |word: u64| to.extend(word.to_ne_bytes());
        word(self.objects.is_some().into());
        word(self.objects.unwrap_or(0));
        for place in 0..MAX_ARMS {
            word(self.arms.get(place).map_or(0, |(end, _)| *end));
        }
        for place in 0..MAX_ARMS {
            let arm = self.arms.get(place).map_or("", |(_, name)| name);
            to.extend(fixed::<CONTROLLER_NAME_BYTES>(arm));
        }
        to.extend(fixed::<RULE_NAME_BYTES>(&self.name));
    }

    /// The inverse of `append`.
    fn parse(bytes: &mut &[u8]) -> Option<SteeringRule> {
        let ports = |bytes: &mut &[u8]| {
            let all = (0..MAX_PORT_RANGES).map(|_| {
                let (first, last) = (u16::try_from(word(bytes)?), u16::try_from(word(bytes)?));
                Some(Ports::new(first.ok()?, last.ok()?))
            });
            let all: Vec<Option<Ports>> = all.collect::<Option<_>>()?;
            Some(all.into_iter().flatten().collect())
        };
        let (listen, connect) = (ports(bytes)?, ports(bytes)?);
        let mut spans = Spans::ANY;
        for span in &mut spans.0 {
            (span.from, span.below) = (word(bytes)?, word(bytes)?);
        }
        let names = texts::<INTERFACE_NAME_BYTES>(bytes, MAX_INTERFACES)?;
        let names = names.iter().filter(|name| !name.is_empty());
        let interfaces = names.map(|name| name.parse().ok()).collect::<Option<_>>()?;
        let (follows, least) = (word(bytes)?, word(bytes)?);
        let ends: Option<Vec<u64>> = (0..MAX_ARMS).map(|_| word(bytes)).collect();
        let arms = texts::<CONTROLLER_NAME_BYTES>(bytes, MAX_ARMS)?;
        let arms = ends?.into_iter().zip(arms);
        Some(SteeringRule {
            conditions: Conditions {
                listen,
                connect,
                interfaces,
                spans,
            },
            objects: (follows != 0).then_some(least),
            arms: arms.filter(|(_, name)| !name.is_empty()).collect(),
            name: text::<RULE_NAME_BYTES>(bytes)?,
        })
    }

    /// The index of a draw's arm: `arm_of` of `bpf/steer/assign.h`.
    pub fn arm(&self, draw: u64) -> usize {
        let mut ends = self.arms.iter();
        ends.position(|(end, _)| draw >> 32 < *end).unwrap_or(0)
    }
}

/// The present settings of the program on a control group, and its rules for one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    steering: Steering,
    /// A bit for each rule that matches the address.
    found: u64,
    /// The capacity of its table of networks, which is the number of networks that it was given.
    networks: usize,
    /// The packets of the address's network that the program remembers.
    resent: Resent,
    /// The rest of its lease. If it is zero, the program does nothing.
    pub lease: Duration,
}

impl InForce {
    #[cfg_attr(
        not(any(test, feature = "load")),
        expect(dead_code, reason = "for the loader")
    )]
    pub(crate) fn new(
        steering: Steering,
        found: u64,
        networks: usize,
        resent: Resent,
        lease: Duration,
    ) -> InForce {
        InForce {
            steering,
            found,
            networks,
            resent,
            lease,
        }
    }

    /// Its settings, without the table of networks.
    pub fn steering(&self) -> &Steering {
        &self.steering
    }

    /// The packets that the connections of the address's network resent. `None` if no rule needs them.
    pub fn resent(&self) -> Option<Resent> {
        self.steering.remembers().then_some(self.resent)
    }

    /// The rule that matches a new connection.
    pub fn rule(&self, of: &Connection) -> Option<&SteeringRule> {
        let place = self.steering.rule_of(self.found, of)?;
        self.steering.rules.get(place)
    }

    /// True if the program has these settings. Only some networks are compared: the rules, the number of networks, and
    /// the rules for the address must be equal.
    pub fn is_of(&self, other: &Steering, address: IpAddr) -> bool {
        let is_same = Steering::parse(&other.bytes()).is_some_and(|of| of == self.steering);
        is_same
            && other.networks.entries().len() == self.networks
            && other.networks.rules(address) == self.found
    }
}

/// The owner of the program that is kept under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOwner {
    /// The asking process's program.
    ThisProcess,
    /// Another program.
    Another,
    /// No program.
    Nobody,
}

/// The program's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SteeringCounts {
    /// Connections that have an arm.
    pub assigned: u64,
    /// Connections that have an arm whose controller does not exist. They keep their own controller.
    pub refused: u64,
    /// Connections without an arm, because there was no memory.
    pub unremembered: u64,
    /// Ended connections that were not reported, because the ring was full.
    pub untold: u64,
    /// Objects that were not reported, because the ring was full.
    pub untold_objects: u64,
}

impl Add for SteeringCounts {
    type Output = SteeringCounts;

    fn add(self, other: SteeringCounts) -> SteeringCounts {
        SteeringCounts {
            assigned: self.assigned.saturating_add(other.assigned),
            refused: self.refused.saturating_add(other.refused),
            unremembered: self.unremembered.saturating_add(other.unremembered),
            untold: self.untold.saturating_add(other.untold),
            untold_objects: self.untold_objects.saturating_add(other.untold_objects),
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::Span;

    use super::*;

    fn ports(first: u16, last: u16) -> Ports {
        Ports::new(first, last).unwrap()
    }

    #[test]
    fn rules_are_as_long_as_the_programs() {
        let rule = SteeringRule {
            name: "ä".repeat(RULE_NAME_BYTES),
            conditions: Conditions::new(
                vec![ports(443, 443); MAX_PORT_RANGES + 1],
                Vec::new(),
                vec!["eth0".parse().unwrap(); MAX_INTERFACES + 1],
            ),
            objects: Some(0),
            arms: vec![(1 << 32, "a_name_that_is_too_long".to_owned())],
        };
        let steering = Steering {
            key: [1, 2],
            unit: DrawnUnit::Prefix(24, 48),
            rules: vec![rule; MAX_RULES + 1],
            networks: Networks::default(),
        };
        let mut bytes = Vec::new();
        steering.rules[0].append(&mut bytes);
        assert_eq!(bytes.len(), RULE_BYTES);
        assert_eq!(
            &bytes[bytes.len() - 64 - 8 * 16..][..16],
            b"a_name_that_is_\0"
        );
        assert_eq!(steering.bytes().len(), Steering::BYTES);
        let read = Steering::parse(&steering.bytes()).unwrap();
        assert_eq!(read.rules[0].name, "ä".repeat(RULE_NAME_BYTES / 2 - 1));
    }

    fn two_rules(unit: DrawnUnit) -> Steering {
        let rule = |name: &str, port, rtt| SteeringRule {
            name: name.to_owned(),
            conditions: Conditions::new(
                vec![ports(port, port + 9)],
                vec![ports(80, 80)],
                Vec::new(),
            )
            .with(Quantity::Rtt, rtt),
            objects: Some(0),
            arms: vec![(1 << 31, "reno".to_owned()), (1 << 32, "bbr".to_owned())],
        };
        let far = Span::new(50_000_000, Some(90_000_000));
        Steering {
            key: [1, u64::MAX],
            unit,
            rules: vec![rule("far", 443, far), rule("rest", 440, Span::ANY)],
            networks: Networks::default(),
        }
    }

    #[test]
    fn what_the_program_has_is_read_back() {
        let (length, boot) = (Duration::from_secs(600), Duration::from_secs(7));
        for unit in [
            DrawnUnit::Connection,
            DrawnUnit::Prefix(24, 48),
            DrawnUnit::Slot { length, boot },
            DrawnUnit::PrefixInSlot {
                v4: 24,
                v6: 0,
                length,
                boot,
            },
        ] {
            let mut steering = two_rules(unit);
            bound_resent(&mut steering, 10_000, 20_000);
            let mut bytes = steering.bytes();
            let needed = bytes.len();
            // The kernel has room for all rules.
            bytes.resize(1 << 16, 0);
            assert_eq!(Steering::parse(&bytes), Some(steering));
            for length in [0, 95, 96, needed - 1] {
                assert_eq!(Steering::parse(&bytes[..length]), None, "{length}");
            }
        }
        assert_eq!(Steering::parse(&[0xff; 1 << 16]), None);
    }

    /// FNV-1a, of the bytes from the least significant on.
    fn digest(steering: &Steering) -> u64 {
        let bytes = steering.bytes();
        let (words, rest) = bytes.as_chunks();
        assert!(rest.is_empty());
        let words = words.iter().map(|word| u64::from_ne_bytes(*word));
        let bytes = words.flat_map(u64::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |so_far, byte| {
            (so_far ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// `steer why` reads what another version may have put in force. It knows the layout by its size and the section's name.
    #[test]
    #[cfg(target_endian = "little")]
    fn another_layout_is_in_a_section_of_another_name() {
        let header = include_str!("../bpf/steer/rule.h");
        let (about, section) = header
            .split_once("SETTING struct steering steering SECTION(\"")
            .unwrap();
        let noted = about.trim_end().trim_end_matches("*/").trim_end();
        let mut steering = two_rules(DrawnUnit::Prefix(24, 48));
        steering.rules[0].conditions.interfaces = vec!["eth0".parse().unwrap()];
        let digest = format!("{:#x}", digest(&steering));
        assert!(section.starts_with(".rodata.rules\""));
        assert!(noted.ends_with(&digest), "rule.h notes not {digest}");
    }

    fn bound_resent(steering: &mut Steering, from: u64, below: u64) {
        let rule = &mut steering.rules[0];
        let span = Span::new(from, Some(below));
        rule.conditions = rule.conditions.clone().with(Quantity::Resent, span);
    }

    fn client() -> IpAddr {
        "192.0.2.7".parse().unwrap()
    }

    /// A connection at port 443 with this RTT.
    fn incoming(millis: u64) -> Connection {
        Connection::incoming(client(), 443).with_rtt(Duration::from_millis(millis))
    }

    #[test]
    fn a_rule_for_an_interface_holds_only_where_it_is_known() {
        let mut steering = two_rules(DrawnUnit::Connection);
        let names = ["eth0", "fifteen-letters"].map(|name| name.parse().unwrap());
        steering.rules[1].conditions.interfaces = names.to_vec();
        let read = Steering::parse(&steering.bytes()).unwrap();
        assert_eq!(read, steering);
        let in_force = InForce::new(read, 0b11, 2, Resent::default(), Duration::ZERO);
        let is_there = |name: &str| {
            let of = Connection {
                interface: name.parse().ok(),
                ..incoming(0)
            };
            in_force.rule(&of).is_some()
        };
        assert!(is_there("eth0") && is_there("fifteen-letters"));
        assert!(!is_there("eth1") && !is_there(""));
    }

    #[test]
    fn the_first_rule_that_holds_counts_and_another_policy_is_told() {
        let mut steering = two_rules(DrawnUnit::Prefix(24, 48));
        let network = |text: &str, rules| (text.parse().unwrap(), rules);
        let networks = |rules| Networks::new([network("192.0.2.0/24", rules)], 0b01);
        steering.networks = networks(0b11);
        let read = Steering::parse(&steering.bytes()).unwrap();
        let in_force = InForce::new(read, 0b11, 3, Resent::default(), Duration::ZERO);
        let rule = |is_incoming, port, millis| {
            let of = Connection {
                is_incoming,
                port,
                ..incoming(millis)
            };
            in_force.rule(&of).map(|rule| rule.name.as_str())
        };
        assert_eq!(rule(true, 443, 50), Some("far"));
        assert_eq!(rule(true, 443, 90), Some("rest"));
        assert_eq!(rule(true, 443, 0), Some("rest"));
        assert_eq!(rule(true, 450, 0), None);
        assert_eq!(rule(false, 80, 60), Some("far"));
        assert_eq!(rule(false, 443, 60), None);
        let elsewhere = InForce {
            found: 0b10,
            ..in_force.clone()
        };
        assert_eq!(elsewhere.rule(&incoming(60)).unwrap().name, "rest");
        assert_eq!(in_force.steering.rules[0].arm(1 << 62), 0);
        assert_eq!(in_force.steering.rules[0].arm(u64::MAX), 1);

        assert!(in_force.is_of(&steering, client()));
        assert!(!elsewhere.is_of(&steering, client()));
        let mut other = steering.clone();
        other.rules[1].arms[0].1 = "cubic".to_owned();
        assert!(!in_force.is_of(&other, client()));
        other = steering.clone();
        let more = [
            network("192.0.2.0/24", 0b11),
            network("2001:db8::/32", 0b11),
        ];
        other.networks = Networks::new(more, 0b01);
        assert!(!in_force.is_of(&other, client()));
        other = steering;
        other.networks = networks(0b01);
        assert!(!in_force.is_of(&other, client()));
    }

    #[test]
    fn a_share_that_is_not_known_is_within_no_bounds() {
        let mut steering = two_rules(DrawnUnit::Prefix(24, 48));
        let rule = |steering: &Steering, share| {
            let resent = Resent::default();
            let in_force = InForce::new(steering.clone(), 0b11, 2, resent, Duration::ZERO);
            assert_eq!(in_force.resent().is_some(), steering.remembers());
            let of = incoming(60).with(Quantity::Resent, share);
            in_force
                .rule(&of)
                .map(|rule| rule.name.clone())
                .unwrap_or_default()
        };
        assert_eq!(rule(&steering, None), "far");
        bound_resent(&mut steering, 10_000, 20_000);
        for (share, name) in [
            (None, "rest"),
            (Some(9_999), "rest"),
            (Some(10_000), "far"),
            (Some(19_999), "far"),
            (Some(20_000), "rest"),
        ] {
            assert_eq!(rule(&steering, share), name, "{share:?}");
        }
        bound_resent(&mut steering, 0, 20_000);
        assert_eq!(rule(&steering, None), "rest");
        assert_eq!(rule(&steering, Some(0)), "far");
    }
}
