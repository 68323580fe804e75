//! The settings of the program that sets connections' controllers.

use std::net::{IpAddr, Ipv6Addr};
use std::ops::{Add, Range};

use units::Duration;

use crate::drawn_unit::DrawnUnit;
use crate::resent::{ANY_SHARE, Resent};

/// The maximum number of rules. The program's loops have the bounds of this and the next three constants.
pub const MAX_RULES: usize = 32;
/// The maximum number of arms of a rule.
pub const MAX_ARMS: usize = 8;
/// The maximum number of ranges of ports of each side of a rule.
pub const MAX_PORT_RANGES: usize = 8;
/// The maximum number of interfaces of a rule.
pub const MAX_INTERFACES: usize = 8;

/// The length of a controller's or an interface's name in the kernel in bytes, including a zero at the end.
const NAME_BYTES: usize = 16;

/// The length of a rule's name, likewise. Longer names are truncated.
const RULE_NAME_BYTES: usize = 64;

/// The rules by which connections of a control group get controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steering {
    /// The key that makes draws secret.
    pub key: [u64; 2],
    /// The unit of randomisation.
    pub unit: DrawnUnit,
    /// The rules in order, of which the first match counts. Connections that no rule matches keep their controllers.
    pub rules: Vec<SteeringRule>,
    /// The networks of rules: address, prefix length, and a bit for each rule. The most specific network counts.
    pub networks: Vec<(Ipv6Addr, u8, u64)>,
}

/// The properties of a new connection that rules test, apart from its remote address.
#[derive(Debug, Clone, Copy)]
pub struct NewConnection<'n> {
    /// True if the other side opened it.
    pub is_incoming: bool,
    /// The local port, or the remote one if the connection is outgoing.
    pub port: u16,
    /// The RTT of the handshake; zero if it is unknown.
    pub rtt: Duration,
    /// The share of packets that the client network's connections resent, in millionths, if it is known.
    pub resent: Option<u32>,
    /// The name of the interface through which its data leave, if it is known.
    pub interface: Option<&'n str>,
}

/// A rule: the controllers of some connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringRule {
    /// Its name for people.
    pub name: String,
    /// The local ports of incoming connections: first and last of each range.
    pub listen: Vec<(u16, u16)>,
    /// The remote ports of outgoing connections.
    pub connect: Vec<(u16, u16)>,
    /// The range of the handshake's RTT.
    pub rtt: Range<Duration>,
    /// The range of the share of packets that the client network's connections resent, in millionths.
    pub resent: Range<u32>,
    /// The names of the interfaces through which data leave. Without any, all interfaces.
    pub interfaces: Vec<String>,
    /// The minimum size of a reported object, in bytes. `None` if its connections' objects and round trips are not
    /// followed, which costs less.
    pub objects: Option<u64>,
    /// The end of each arm among the draws' upper halves, and its controller.
    pub arms: Vec<(u64, String)>,
}

/// The 128 bits of an address. IPv4 is `::ffff:a.b.c.d`.
pub fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

impl Steering {
    /// `struct steering` of `bpf/steer/rule.h`, without rules and arms beyond the bounds, which the caller must count.
    pub(crate) fn bytes(&self) -> Vec<u8> {
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
        self.rules.iter().any(|rule| rule.resent != ANY_SHARE)
    }

    /// The inverse of `bytes`. The program fills unused space with zeros. It has no networks here, which are in a table
    /// of their own. `None` if the bytes belong to another program.
    pub(crate) fn parse(mut bytes: &[u8]) -> Option<Steering> {
        let bytes = &mut bytes;
        let mut words = [0; 11];
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
            networks: Vec::new(),
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
        for ports in [&self.listen, &self.connect] {
            for place in 0..MAX_PORT_RANGES {
                // No range: the first port is above the last.
                let (first, last) = ports
                    .get(place)
                    .map_or((1, 0), |&(first, last)| (first, last));
                word(first.into());
                word(last.into());
            }
        }
        word(self.rtt.start.as_nanos());
        word(self.rtt.end.as_nanos());
        word(self.resent.start.into());
        word(self.resent.end.into());
        for place in 0..MAX_INTERFACES {
            let name = self.interfaces.get(place).map_or("", String::as_str);
            to.extend(fixed::<NAME_BYTES>(name));
        }
        let mut word = |word: u64| to.extend(word.to_ne_bytes());
        word(self.objects.is_some().into());
        word(self.objects.unwrap_or(0));
        for place in 0..MAX_ARMS {
            word(self.arms.get(place).map_or(0, |(end, _)| *end));
        }
        for place in 0..MAX_ARMS {
            let arm = self.arms.get(place).map_or("", |(_, name)| name);
            to.extend(fixed::<NAME_BYTES>(arm));
        }
        to.extend(fixed::<RULE_NAME_BYTES>(&self.name));
    }

    /// The inverse of `append`.
    fn parse(bytes: &mut &[u8]) -> Option<SteeringRule> {
        let ports = |bytes: &mut &[u8]| {
            let all = (0..MAX_PORT_RANGES).map(|_| Some((port(word(bytes)?), port(word(bytes)?))));
            let all: Vec<(u16, u16)> = all.collect::<Option<_>>()?;
            Some(
                all.into_iter()
                    .filter(|(first, last)| first <= last)
                    .collect(),
            )
        };
        let (listen, connect) = (ports(bytes)?, ports(bytes)?);
        let rtt = Duration::from_nanos(word(bytes)?)..Duration::from_nanos(word(bytes)?);
        let resent = u32::try_from(word(bytes)?).ok()?..u32::try_from(word(bytes)?).ok()?;
        let mut interfaces = texts::<NAME_BYTES>(bytes, MAX_INTERFACES)?;
        interfaces.retain(|name| !name.is_empty());
        let (follows, least) = (word(bytes)?, word(bytes)?);
        let ends: Option<Vec<u64>> = (0..MAX_ARMS).map(|_| word(bytes)).collect();
        let arms = ends?.into_iter().zip(texts::<NAME_BYTES>(bytes, MAX_ARMS)?);
        Some(SteeringRule {
            listen,
            connect,
            rtt,
            resent,
            interfaces,
            objects: (follows != 0).then_some(least),
            arms: arms.filter(|(_, name)| !name.is_empty()).collect(),
            name: text::<RULE_NAME_BYTES>(bytes)?,
        })
    }

    /// True if the rule matches a connection, apart from the remote address: `rule_of` of `bpf/steer/rule.h`. An RTT of
    /// zero is unknown. An unknown interface is none of a rule's.
    fn holds(&self, of: &NewConnection<'_>) -> bool {
        let is_its = |name| self.interfaces.iter().any(|one| one == name);
        let has_interface = self.interfaces.is_empty() || of.interface.is_some_and(is_its);
        let has_rtt = if of.rtt.is_zero() {
            self.rtt == (Duration::ZERO..Duration::MAX)
        } else {
            self.rtt.contains(&of.rtt)
        };
        let has_resent = match of.resent {
            None => self.resent == ANY_SHARE,
            Some(share) => self.resent.contains(&share),
        };
        let ports = if of.is_incoming {
            &self.listen
        } else {
            &self.connect
        };
        let mut ports = ports.iter();
        has_rtt
            && has_resent
            && has_interface
            && ports.any(|(first, last)| (*first..=*last).contains(&of.port))
    }

    /// The index of a draw's arm: `arm_of` of `bpf/steer/assign.h`.
    pub fn arm(&self, draw: u64) -> usize {
        let mut ends = self.arms.iter();
        ends.position(|(end, _)| draw >> 32 < *end).unwrap_or(0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it was made of a port")]
fn port(word: u64) -> u16 {
    word as u16
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
    pub fn rule(&self, of: &NewConnection<'_>) -> Option<&SteeringRule> {
        let mut rules = self.steering.rules.iter().enumerate();
        let holds =
            |(place, rule): &(usize, &SteeringRule)| self.found >> place & 1 == 1 && rule.holds(of);
        rules.find(holds).map(|(_, rule)| rule)
    }

    /// True if the program has these settings. Only some networks are compared: the rules, the number of networks, and
    /// the rules for the address must be equal.
    pub fn is_of(&self, other: &Steering, address: IpAddr) -> bool {
        let is_in = |(first, length, _): &&(Ipv6Addr, u8, u64)| {
            let apart = first.to_bits() ^ mapped(address).to_bits();
            apart.checked_shr(128 - u32::from(*length)).unwrap_or(0) == 0
        };
        // The last of the longest matches, because later networks replace earlier ones.
        let found = other.networks.iter().filter(is_in).max_by_key(|one| one.1);
        let found = found.map_or(0, |one| one.2);
        let is_same = Steering::parse(&other.bytes()).is_some_and(|of| of == self.steering);
        is_same && other.networks.len() == self.networks && found == self.found
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
    use super::*;

    #[test]
    fn rules_are_as_long_as_the_programs() {
        let rule = SteeringRule {
            name: "ä".repeat(RULE_NAME_BYTES),
            listen: vec![(443, 443)],
            connect: Vec::new(),
            rtt: Duration::ZERO..Duration::MAX,
            interfaces: vec!["eth0".to_owned(); MAX_INTERFACES + 1],
            resent: ANY_SHARE,
            objects: Some(0),
            arms: vec![(1 << 32, "a_name_that_is_too_long".to_owned())],
        };
        let steering = Steering {
            key: [1, 2],
            unit: DrawnUnit::Prefix(24, 48),
            rules: vec![rule; MAX_RULES + 1],
            networks: Vec::new(),
        };
        let mut bytes = Vec::new();
        steering.rules[0].append(&mut bytes);
        assert_eq!(
            bytes.len(),
            2 * 8 * 16 + 4 * 8 + 8 * 16 + 2 * 8 + 8 * 8 + 8 * 16 + 64
        );
        assert_eq!(
            &bytes[bytes.len() - 64 - 8 * 16..][..16],
            b"a_name_that_is_\0"
        );
        assert_eq!(steering.bytes().len(), 11 * 8 + MAX_RULES * bytes.len());
        let read = Steering::parse(&steering.bytes()).unwrap();
        assert_eq!(read.rules[0].name, "ä".repeat(RULE_NAME_BYTES / 2 - 1));
    }

    fn two_rules(unit: DrawnUnit) -> Steering {
        let rule = |name: &str, port, rtt| SteeringRule {
            name: name.to_owned(),
            listen: vec![(port, port + 9)],
            connect: vec![(80, 80)],
            rtt,
            interfaces: Vec::new(),
            resent: ANY_SHARE,
            objects: Some(0),
            arms: vec![(1 << 31, "reno".to_owned()), (1 << 32, "bbr".to_owned())],
        };
        let far = Duration::from_millis(50)..Duration::from_millis(90);
        Steering {
            key: [1, u64::MAX],
            unit,
            rules: vec![
                rule("far", 443, far),
                rule("rest", 440, Duration::ZERO..Duration::MAX),
            ],
            networks: Vec::new(),
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
            steering.rules[0].resent = 10_000..20_000;
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

    /// A connection at port 443, of which no more is known.
    fn incoming(millis: u64) -> NewConnection<'static> {
        NewConnection {
            is_incoming: true,
            port: 443,
            rtt: Duration::from_millis(millis),
            resent: None,
            interface: None,
        }
    }

    #[test]
    fn a_rule_for_an_interface_holds_only_where_it_is_known() {
        let mut steering = two_rules(DrawnUnit::Connection);
        steering.rules[1].interfaces = vec!["eth0".to_owned(), "fifteen-letters".to_owned()];
        let read = Steering::parse(&steering.bytes()).unwrap();
        assert_eq!(read, steering);
        let in_force = InForce::new(read, 0b11, 2, Resent::default(), Duration::ZERO);
        let is_there = |interface| {
            in_force
                .rule(&NewConnection {
                    interface,
                    ..incoming(0)
                })
                .is_some()
        };
        assert!(is_there(Some("eth0")) && is_there(Some("fifteen-letters")));
        assert!(!is_there(Some("eth1")) && !is_there(None));
    }

    #[test]
    fn the_first_rule_that_holds_counts_and_another_policy_is_told() {
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        let mut steering = two_rules(DrawnUnit::Prefix(24, 48));
        let network = |text: &str, length, rules| (mapped(text.parse().unwrap()), length, rules);
        steering.networks = vec![network("::", 0, 0b01), network("192.0.2.0", 120, 0b11)];
        let read = Steering::parse(&steering.bytes()).unwrap();
        let in_force = InForce::new(read, 0b11, 2, Resent::default(), Duration::ZERO);
        let rule = |is_incoming, port, millis| {
            let rule = in_force.rule(&NewConnection {
                is_incoming,
                port,
                ..incoming(millis)
            });
            rule.map(|rule| rule.name.as_str())
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

        assert!(in_force.is_of(&steering, address));
        assert!(!elsewhere.is_of(&steering, address));
        let mut other = steering.clone();
        other.rules[1].arms[0].1 = "cubic".to_owned();
        assert!(!in_force.is_of(&other, address));
        other = steering.clone();
        other.networks.push(network("2001:db8::", 32, 0b11));
        assert!(!in_force.is_of(&other, address));
        other = steering;
        other.networks[1].2 = 0b01;
        assert!(!in_force.is_of(&other, address));
    }

    #[test]
    fn a_share_that_is_not_known_is_within_no_bounds() {
        let mut steering = two_rules(DrawnUnit::Prefix(24, 48));
        let rule = |steering: &Steering, share| {
            let resent = Resent::default();
            let in_force = InForce::new(steering.clone(), 0b11, 2, resent, Duration::ZERO);
            assert_eq!(in_force.resent().is_some(), steering.remembers());
            let rule = in_force.rule(&NewConnection {
                resent: share,
                ..incoming(60)
            });
            rule.map(|rule| rule.name.clone()).unwrap_or_default()
        };
        assert_eq!(rule(&steering, None), "far");
        steering.rules[0].resent = 10_000..20_000;
        for (share, name) in [
            (None, "rest"),
            (Some(9_999), "rest"),
            (Some(10_000), "far"),
            (Some(19_999), "far"),
            (Some(20_000), "rest"),
        ] {
            assert_eq!(rule(&steering, share), name, "{share:?}");
        }
        steering.rules[0].resent = 0..20_000;
        assert_eq!(rule(&steering, None), "rest");
        assert_eq!(rule(&steering, Some(0)), "far");
    }
}
