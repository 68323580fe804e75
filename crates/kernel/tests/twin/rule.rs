//! A connection has the same rule in C and in Rust.

use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

use experiment::policy::{Lowered, Policy, Rule};
use kernel::{DrawnUnit, Steering, SteeringRule};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rules::{
    Conditions, Connection, Form, INTERFACE_NAME_BYTES, Interface, MAX_INTERFACES, MAX_PORT_RANGES,
    MAX_RULES, Networks, PROGRAM_BOUNDS, Ports, Prefix, Quantity, Span,
};
use units::Ratio;

use crate::host::Host;

const POLICIES: usize = 400;
const CONNECTIONS_PER_POLICY: usize = 250;

/// The words of `struct bpf_sock_ops` (<uapi/linux/bpf.h>) before its pointers, and the places of some of them.
const WORDS: usize = 46;
const OP: usize = 0;
const FAMILY: usize = 5;
const REMOTE_IP4: usize = 6;
const REMOTE_IP6: usize = 8;
const REMOTE_PORT: usize = 16;
const LOCAL_PORT: usize = 17;
const SRTT_US: usize = 20;

/// <uapi/linux/bpf.h>, <linux/socket.h>
const ACTIVE_ESTABLISHED: u32 = 4;
const PASSIVE_ESTABLISHED: u32 = 5;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

/// Names that begin alike, and one as long as a name may be.
const INTERFACES: [&str; 10] = [
    "eth0",
    "eth00",
    "eth",
    "e",
    "eightlet",
    "eightletters",
    "fifteen-letters",
    "fifteen-letterz",
    "wg0",
    "lo",
];

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn several<T>(&mut self, most: usize, mut one: impl FnMut(&mut Draw) -> T) -> Vec<T> {
        let count = self.below(most as u64 + 1);
        (0..count).map(|_| one(self)).collect()
    }

    /// Few addresses of each version, so that networks of all lengths have some of them and not others.
    fn address(&mut self) -> IpAddr {
        let bits = u128::from(self.below(4)) << 120 | u128::from(self.below(4)) << 64;
        let low = u128::from(self.below(4)) << 22 | u128::from(self.below(8));
        let address = match self.below(3) {
            0 => Ipv6Addr::from_bits(bits | low),
            // Only the lower half decides, as with IPv4.
            1 => Ipv6Addr::from_bits(0xffff << 32 | 0xc0 << 24 | low),
            _ => Ipv6Addr::from_bits(self.below(2).into()),
        };
        match self.below(2) {
            0 => address.to_canonical(),
            _ => address.into(),
        }
    }

    /// Of any length. An IPv4 network is given in either notation.
    fn prefix(&mut self) -> Prefix {
        let (address, length) = (self.address(), self.below(129) as u8);
        match address {
            IpAddr::V4(_) => Prefix::around(address, length % 33),
            IpAddr::V6(_) => {
                let text = format!("{address}/{length}");
                text.parse().expect("a network")
            }
        }
    }

    /// Few ports, both ends of the range of all, and both ends of ranges.
    fn port(&mut self) -> u16 {
        let near = self.below(10) as u16;
        [1 + near, 440 + near, u16::MAX - near][self.below(3) as usize]
    }

    fn ports(&mut self) -> Ports {
        let (one, other) = (self.port(), self.port());
        let one = if self.one_in(2) { other } else { one };
        Ports::new(one.min(other), one.max(other)).expect("a range")
    }

    fn interface(&mut self) -> Interface {
        let name = INTERFACES[self.below(INTERFACES.len() as u64) as usize];
        name.parse().expect("a name")
    }

    /// A value of a quantity that the kernel can have, such that bounds are often met exactly: near zero, or near the maximum.
    fn value(&mut self, quantity: Quantity) -> u64 {
        let (unit, most) = match quantity {
            // Microseconds. A word of 32 bits has eight times the RTT.
            Quantity::Rtt => (1000, u64::from(u32::MAX >> 3)),
            Quantity::Resent => (1, u64::MAX),
        };
        let near = self.below(7);
        unit * if self.one_in(6) { most - near } else { near }
    }

    fn span(&mut self, quantity: Quantity) -> Span {
        let (one, other) = (self.value(quantity), self.value(quantity));
        match self.below(6) {
            0 => {
                let below = one.max(other).saturating_add(self.below(2));
                Span::new(one.min(other), Some(below))
            }
            1 => Span::new(one, None),
            2 => Span::new(0, Some(other)),
            _ => Span::ANY,
        }
    }

    fn rule(&mut self) -> SteeringRule {
        let ranges = |draw: &mut Draw| draw.several(MAX_PORT_RANGES, Draw::ports);
        let (listen, connect) = (ranges(self), ranges(self));
        let interfaces = match self.below(2) {
            0 => Vec::new(),
            _ => self.several(MAX_INTERFACES, Draw::interface),
        };
        let conditions = Conditions::new(listen, connect, interfaces);
        SteeringRule {
            name: "a rule".to_owned(),
            conditions: Quantity::ALL.into_iter().fold(conditions, |of, quantity| {
                of.with(quantity, self.span(quantity))
            }),
            objects: None,
            arms: vec![(1 << 32, "bbr".to_owned())],
        }
    }

    fn steering(&mut self) -> Steering {
        let rules = self.several(MAX_RULES, Draw::rule);
        // Some bits are of no rule.
        let entry = |draw: &mut Draw| (draw.prefix(), draw.0.next_u64());
        let networks = self.several(20, entry);
        Steering {
            key: [self.0.next_u64(), self.0.next_u64()],
            unit: DrawnUnit::Prefix(24, 48),
            rules,
            networks: Networks::new(networks, self.0.next_u64()),
        }
    }

    fn policy_rule(&mut self) -> Rule {
        let of = self.rule().conditions;
        Rule {
            name: "a rule".to_owned(),
            listen: of.listen,
            connect: of.connect,
            prefix: self.several(3, Draw::prefix),
            prefix_file: None,
            // Without their networks, the rule holds nowhere.
            systems: self.several(1, |draw| draw.below(9) as u32),
            interface: of.interfaces,
            spans: of.spans,
            controller: "bbr".to_owned(),
            evidence: String::new(),
            expect: None,
            explore: None,
        }
    }

    fn policy(&mut self) -> Policy {
        Policy {
            cgroup: PathBuf::new(),
            explore: Ratio::ZERO,
            seed: String::new(),
            rules: self.several(MAX_RULES, Draw::policy_rule),
            text: String::new(),
            file: None,
        }
    }

    fn connection(&mut self) -> Connection {
        let of = Connection {
            is_incoming: self.one_in(2),
            interface: (!self.one_in(4)).then(|| self.interface()),
            ..Connection::incoming(self.address(), self.port())
        };
        Quantity::ALL.into_iter().fold(of, |of, quantity| {
            let value = (!self.one_in(4)).then(|| self.value(quantity));
            // A time of zero is unknown.
            let known = value.filter(|&value| value > 0 || quantity.form() != Form::Time);
            of.with(quantity, known)
        })
    }

    /// `struct question` of `bpf/rule.c`. What the program does not read of the context is noise.
    fn question(&mut self, of: &Connection) -> Vec<u8> {
        let (op, own, remote) = if of.is_incoming {
            (PASSIVE_ESTABLISHED, of.port, self.port())
        } else {
            (ACTIVE_ESTABLISHED, self.port(), of.port)
        };
        let mut context = [0; WORDS].map(|_: u32| self.0.next_u64() as u32);
        context[OP] = op;
        context[REMOTE_PORT] = u32::from(remote).to_be();
        context[LOCAL_PORT] = own.into();
        match of.client {
            IpAddr::V4(client) => {
                context[FAMILY] = AF_INET;
                context[REMOTE_IP4] = u32::from_ne_bytes(client.octets());
            }
            IpAddr::V6(client) => {
                context[FAMILY] = AF_INET6;
                let octets = client.octets();
                for (word, octets) in context[REMOTE_IP6..].iter_mut().zip(octets.as_chunks().0) {
                    *word = u32::from_ne_bytes(*octets);
                }
            }
        }
        let mut share = u64::MAX;
        for quantity in Quantity::ALL {
            let value = of.quantity(quantity);
            match quantity {
                // The kernel's number is eight times the RTT, with a fraction.
                Quantity::Rtt => {
                    let rtt_us = value.unwrap_or(0) / 1000;
                    context[SRTT_US] = (rtt_us as u32) << 3 | self.below(8) as u32;
                }
                Quantity::Resent => share = value.unwrap_or(u64::MAX),
            }
        }
        let mut bytes: Vec<u8> = context.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // `enum known`
        let known = of.interface.map_or_else(|| self.below(3), |_| 3);
        bytes.extend([share, known].iter().flat_map(|word| word.to_ne_bytes()));
        // A device that was renamed has the rest of its earlier name behind the zero.
        let mut name = [0; INTERFACE_NAME_BYTES];
        self.0.fill_bytes(&mut name);
        if let Some(interface) = of.interface {
            let text = interface.name();
            name[..text.len()].copy_from_slice(text.as_bytes());
            name[text.len()] = 0;
        }
        bytes.extend(name);
        bytes
    }
}

/// The settings and the table of networks, with the number of questions that follow. In place of the rules that the
/// settings do not have are those of `full`.
fn input(steering: &Steering, full: &[u8], questions: usize) -> Vec<u8> {
    let mut bytes = steering.bytes();
    bytes.extend(&full[bytes.len()..]);
    let entries = steering.networks.entries();
    bytes.extend((entries.len() as u64).to_ne_bytes());
    for (first, length, rules) in entries {
        bytes.extend(u32::from(*length).to_ne_bytes());
        bytes.extend(first.octets());
        bytes.extend([0; 4]);
        bytes.extend(rules.to_ne_bytes());
    }
    bytes.extend((questions as u64).to_ne_bytes());
    bytes
}

fn too_many(draw: &mut Draw) -> Vec<SteeringRule> {
    (0..=MAX_RULES).map(|_| draw.rule()).collect()
}

/// The settings with all rules that the program can have.
fn full(draw: &mut Draw) -> Vec<u8> {
    let full = Steering {
        rules: too_many(draw),
        ..draw.steering()
    };
    full.bytes()
}

/// The places of rules that the program finds.
fn places(input: &[u8]) -> Vec<u64> {
    // Many variables of the header for the kernel are not in use here.
    let host = Host::compile("rule.c", &["-Wno-unused-variable"]);
    let answers = host.answer(input);
    let (answers, _) = answers.as_chunks();
    answers
        .iter()
        .map(|place| u64::from_ne_bytes(*place))
        .collect()
}

/// The settings with a policy's conditions and networks.
fn steering(policy: &Lowered<'_>, draw: &mut Draw) -> Steering {
    let rules = policy.rules.iter().map(|rule| SteeringRule {
        conditions: rule.conditions.clone(),
        ..draw.rule()
    });
    Steering {
        key: policy.key.words(),
        unit: DrawnUnit::Prefix(24, 48),
        rules: rules.collect(),
        networks: policy.networks.clone(),
    }
}

#[test]
fn a_policy_decides_as_the_program_does() {
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(43));
    let full = full(&mut draw);
    let policies: Vec<Policy> = (0..POLICIES).map(|_| draw.policy()).collect();
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    for policy in &policies {
        let lowered = policy.lowered();
        let steering = steering(&lowered, &mut draw);
        bytes.extend(input(&steering, &full, CONNECTIONS_PER_POLICY));
        for _ in 0..CONNECTIONS_PER_POLICY {
            let of = draw.connection();
            bytes.extend(draw.question(&of));
            let place = lowered.decide(&of).map_or(MAX_RULES, |decided| {
                let is_it = |rule: &Rule| std::ptr::eq(rule, decided.rule);
                policy.rules.iter().position(is_it).expect("a rule of it")
            });
            expected.push((place as u64, of, policy));
        }
    }
    let places = places(&bytes);
    assert_eq!(places.len(), expected.len());
    let mut with_bounds = 0;
    for (found, (place, of, policy)) in places.iter().zip(&expected) {
        assert_eq!(found, place, "{of:?}: {policy:?}");
        let rule = policy.rules.get(*place as usize);
        let has_bounds = |rule: &Rule| rule.conditions().has_bounds(Quantity::Resent);
        with_bounds += u64::from(rule.is_some_and(has_bounds));
    }
    assert!(with_bounds > 1000, "{with_bounds}");
}

#[test]
fn a_connection_has_the_same_rule_in_both() {
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(41));
    let full = full(&mut draw);
    let (mut bytes, mut expected, mut policies) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..POLICIES {
        let mut steering = draw.steering();
        if draw.one_in(8) {
            steering.rules = too_many(&mut draw);
        }
        bytes.extend(input(&steering, &full, CONNECTIONS_PER_POLICY));
        for _ in 0..CONNECTIONS_PER_POLICY {
            let of = draw.connection();
            bytes.extend(draw.question(&of));
            let place = steering.rule_of(steering.networks.rules(of.client), &of);
            expected.push((place.unwrap_or(MAX_RULES), of, policies.len()));
        }
        policies.push(steering);
    }
    let places = places(&bytes);
    assert_eq!(places.len(), expected.len());
    let mut seen = [0; MAX_RULES + 1];
    for (found, (place, of, policy)) in places.iter().zip(&expected) {
        let policy = &policies[*policy];
        assert_eq!(*found, *place as u64, "{of:?}: {policy:?}");
        seen[*place] += 1;
    }
    assert!(
        seen[0] > 1000 && seen.iter().all(|&count| count > 10),
        "{seen:?}"
    );
}

#[test]
fn the_bounds_are_the_same_in_both() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf/steer/bounds.h");
    let header = fs::read_to_string(header).expect("a header");
    let defined = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define "));
    let rust = PROGRAM_BOUNDS
        .iter()
        .map(|(name, bound)| format!("{name} {bound}"));
    assert_eq!(defined.collect::<Vec<_>>(), rust.collect::<Vec<_>>());
}
