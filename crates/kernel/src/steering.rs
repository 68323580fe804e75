//! What the program that gives connections their controllers is told.

use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;

use units::Duration;

/// So many rules, arms of a rule, and ranges of ports of a rule's side: as many as the program looks through.
pub const MOST_RULES: usize = 32;
/// See [`MOST_RULES`].
pub const MOST_ARMS: usize = 8;
/// See [`MOST_RULES`].
pub const MOST_PORTS: usize = 8;

/// The kernel's names of controllers, with a zero behind.
const NAME: usize = 16;

/// Which connections of a control group get which controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steering {
    /// What makes draws secret.
    pub key: [u64; 2],
    /// What is drawn as a whole.
    pub unit: DrawnUnit,
    /// Rules in order: the first that holds counts. What none holds for is left alone.
    pub rules: Vec<SteeringRule>,
    /// For which networks rules hold: an address, how many bits of it count, and a bit for each rule. The most specific
    /// network counts.
    pub networks: Vec<(Ipv6Addr, u8, u64)>,
    /// Whether objects and round trips are told, which costs a little with each packet.
    pub is_followed: bool,
}

/// What is drawn as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnUnit {
    /// A connection.
    Connection,
    /// A client network: so many bits of IPv4, and of IPv6.
    Prefix(u8, u8),
    /// A stretch of the calendar's time.
    Slot {
        /// How long it is.
        length: Duration,
        /// When the machine was started, since 1970.
        boot: Duration,
    },
    /// A client network in a stretch of the calendar's time.
    PrefixInSlot {
        /// So many bits of IPv4.
        v4: u8,
        /// So many bits of IPv6.
        v6: u8,
        /// How long a stretch is.
        length: Duration,
        /// When the machine was started, since 1970.
        boot: Duration,
    },
}

/// Which controllers some connections get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringRule {
    /// Connections that came in at these ports: first and last of each range.
    pub listen: Vec<(u16, u16)>,
    /// Connections that went out to these ports.
    pub connect: Vec<(u16, u16)>,
    /// With this RTT of the handshake.
    pub rtt: Range<Duration>,
    /// Where each arm ends among the draws' upper halves, and its controller.
    pub arms: Vec<(u64, String)>,
}

/// The 128 bits of an address; IPv4 is `::ffff:a.b.c.d`.
pub fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// A mask of the first bits.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
fn mask(length: u8) -> [u64; 2] {
    let bits = 128 - u32::from(length.min(128));
    let mask = u128::MAX.checked_shl(bits).unwrap_or(0);
    [(mask >> 64) as u64, mask as u64]
}

/// `struct unit` of a client network; a slot of no length is none.
fn prefix(v4: u8, v6: u8, slot: u64, boot: u64) -> [u64; 7] {
    let ([a, b], [c, d]) = (mask(96 + v4.min(32)), mask(v6));
    [1, a, b, c, d, slot, boot]
}

impl DrawnUnit {
    /// `struct unit` of `bpf/steer/assign.h`.
    pub fn words(self) -> [u64; 7] {
        match self {
            DrawnUnit::Connection => [0; 7],
            DrawnUnit::Prefix(v4, v6) => prefix(v4, v6, 0, 0),
            DrawnUnit::PrefixInSlot {
                v4,
                v6,
                length,
                boot,
            } => prefix(v4, v6, length.as_nanos(), boot.as_nanos()),
            DrawnUnit::Slot { length, boot } => [2, 0, 0, 0, 0, length.as_nanos(), boot.as_nanos()],
        }
    }
}

impl Steering {
    /// `struct steering` of `bpf/steer/rule.h`. What is too much is left out: whoever makes rules counts them.
    #[cfg_attr(
        not(any(test, feature = "load")),
        expect(dead_code, reason = "for the loader")
    )]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut words = self.key.to_vec();
        words.extend(self.unit.words());
        words.push(self.rules.len().min(MOST_RULES) as u64);
        words.push(self.is_followed.into());
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for rule in self.rules.iter().take(MOST_RULES) {
            rule.append(&mut bytes);
        }
        bytes
    }
}

impl SteeringRule {
    /// `struct rule`.
    fn append(&self, to: &mut Vec<u8>) {
        let mut word = |word: u64| to.extend(word.to_ne_bytes());
        for ports in [&self.listen, &self.connect] {
            for place in 0..MOST_PORTS {
                // None: the first is behind the last.
                let (first, last) = ports
                    .get(place)
                    .map_or((1, 0), |&(first, last)| (first, last));
                word(first.into());
                word(last.into());
            }
        }
        word(self.rtt.start.as_nanos());
        word(self.rtt.end.as_nanos());
        for place in 0..MOST_ARMS {
            word(self.arms.get(place).map_or(0, |(end, _)| *end));
        }
        for place in 0..MOST_ARMS {
            let mut name = [0; NAME];
            let arm = self.arms.get(place).map_or("", |(_, name)| name);
            for (at, byte) in name.iter_mut().zip(arm.bytes()).take(NAME - 1) {
                *at = byte;
            }
            to.extend(name);
        }
    }
}

/// Whose program is kept under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The one that is asked.
    Own,
    /// Another one.
    Anothers,
    /// None is.
    Nobodys,
}

/// How often the program did what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SteeringCounts {
    /// Connections that have an arm.
    pub assigned: u64,
    /// Those of them whose controller is not there: they have kept their own.
    pub refused: u64,
    /// Connections without an arm, as there was no memory.
    pub unremembered: u64,
    /// Ends that were not told, as nobody has read the earlier ones.
    pub untold: u64,
    /// And objects.
    pub untold_objects: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_as_long_as_the_programs() {
        let rule = SteeringRule {
            listen: vec![(443, 443)],
            connect: Vec::new(),
            rtt: Duration::ZERO..Duration::MAX,
            arms: vec![(1 << 32, "a_name_that_is_too_long".to_owned())],
        };
        let steering = Steering {
            key: [1, 2],
            unit: DrawnUnit::Prefix(24, 48),
            rules: vec![rule; MOST_RULES + 1],
            networks: Vec::new(),
            is_followed: true,
        };
        let mut bytes = Vec::new();
        steering.rules[0].append(&mut bytes);
        assert_eq!(bytes.len(), 2 * 8 * 16 + 2 * 8 + 8 * 8 + 8 * 16);
        assert_eq!(&bytes[bytes.len() - 8 * 16..][..16], b"a_name_that_is_\0");
        assert_eq!(steering.bytes().len(), 11 * 8 + MOST_RULES * bytes.len());
    }
}
