//! What the program that gives connections their controllers is told, and what it tells.

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
}

/// What is drawn as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnUnit {
    /// A connection.
    Connection,
    /// A client network: so many bits of IPv4, and of IPv6.
    Prefix(u8, u8),
    /// A stretch of time.
    Slot(Duration),
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

impl DrawnUnit {
    /// `struct unit` of `bpf/steer/assign.h`.
    pub fn words(self) -> [u64; 6] {
        match self {
            DrawnUnit::Connection => [0; 6],
            DrawnUnit::Prefix(v4, v6) => {
                let ([a, b], [c, d]) = (mask(96 + v4.min(32)), mask(v6));
                [1, a, b, c, d, 0]
            }
            DrawnUnit::Slot(length) => [2, 0, 0, 0, 0, length.as_nanos()],
        }
    }
}

impl Steering {
    /// `struct steering` of `bpf/steer/rule.h`. What is too much is left out: whoever makes rules counts them.
    #[cfg_attr(not(feature = "load"), expect(dead_code, reason = "for the loader"))]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut words = self.key.to_vec();
        words.extend(self.unit.words());
        words.push(self.rules.len().min(MOST_RULES) as u64);
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

/// What is kept with a connection that was given a controller: `struct steered` of `bpf/steer.bpf.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteeredConnection {
    /// The draw of its unit.
    pub unit: u64,
    /// The place of its rule.
    pub rule: usize,
    /// The place of its arm.
    pub arm: usize,
    /// When it was set up, since boot.
    pub set_up: Duration,
    /// The other side's address.
    pub client: IpAddr,
    /// The port on this side, and on the other.
    pub ports: [u16; 2],
}

/// What became of such a connection: `struct ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedConnection {
    /// The socket's number (`SO_COOKIE`).
    pub cookie: u64,
    /// What it was given.
    pub steered: SteeredConnection,
    /// When it ended, since boot.
    pub ended: Duration,
    /// Payload that was acknowledged, in bytes.
    pub acknowledged: u64,
    /// Packets with data that were sent, and those of them that were sent again.
    pub packets: u64,
    /// See `packets`.
    pub resent: u64,
    /// Packets that were taken for lost.
    pub lost: u64,
    /// The smoothed RTT; none before a sample.
    pub rtt: Option<Duration>,
    /// The least RTT of the last minutes; none before a sample.
    pub min_rtt: Option<Duration>,
    /// The best recent sample of the delivery rate, in bytes per second; none before one.
    pub delivery_rate: Option<u64>,
    /// How long there was something to send or unacknowledged.
    pub busy: Duration,
    /// The part of it in which the other side's window was full.
    pub rwnd_limited: Duration,
    /// The part of it in which the send buffer was too small.
    pub sndbuf_limited: Duration,
}

impl SteeredConnection {
    /// The length in bytes.
    pub const LENGTH: usize = 8 * WORDS;

    /// Reads what sock_diag tells of it; nothing if that is too short.
    pub fn parse(bytes: &[u8]) -> Option<SteeredConnection> {
        let bytes = bytes.get(..SteeredConnection::LENGTH)?;
        SteeredConnection::of(&words(bytes))
    }

    #[expect(clippy::cast_possible_truncation, reason = "parts of a word")]
    fn of(words: &[u64]) -> Option<SteeredConnection> {
        let &[unit, place, set_up, high, low, ports] = words.get(..WORDS)? else {
            return None;
        };
        let client = Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low));
        Some(SteeredConnection {
            unit,
            rule: place as u32 as usize,
            arm: (place >> 32) as usize,
            set_up: Duration::from_nanos(set_up),
            client: client.to_canonical(),
            ports: [ports as u16, (ports >> 32) as u16],
        })
    }
}

/// The words of `struct steered`.
const WORDS: usize = 6;

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.try_into().map(u64::from_ne_bytes);
    bytes
        .chunks_exact(8)
        .filter_map(|chunk| word(chunk).ok())
        .collect()
}

impl EndedConnection {
    /// Reads what the program tells; `tick` is the kernel's. Nothing if that is too short.
    pub fn parse(bytes: &[u8], tick: Duration) -> Option<EndedConnection> {
        let words = words(bytes);
        let (&cookie, rest) = words.split_first()?;
        let steered = SteeredConnection::of(rest)?;
        let &[
            ended,
            acknowledged,
            packets,
            resent,
            lost,
            rtt,
            min_rtt,
            mss,
            delivered,
            interval,
            busy,
            rwnd,
            sndbuf,
        ] = rest.get(WORDS..)?
        else {
            return None;
        };
        let sample = |micros: u64| {
            let is_none = micros == 0 || micros == u64::from(u32::MAX);
            (!is_none).then(|| Duration::from_micros(micros))
        };
        let ticks = |count: u64| Duration::from_nanos(count.saturating_mul(tick.as_nanos()));
        let rate = delivered.saturating_mul(mss).saturating_mul(1_000_000);
        Some(EndedConnection {
            cookie,
            steered,
            ended: Duration::from_nanos(ended),
            acknowledged,
            packets,
            resent,
            lost,
            rtt: sample(rtt),
            min_rtt: sample(min_rtt),
            delivery_rate: rate.checked_div(interval).filter(|&rate| rate > 0),
            // The kernel counts each tick once (`tcp_get_info_chrono_stats`).
            busy: ticks(busy.saturating_add(rwnd).saturating_add(sndbuf)),
            rwnd_limited: ticks(rwnd),
            sndbuf_limited: ticks(sndbuf),
        })
    }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_back() {
        let client = Ipv6Addr::from_bits(0xffff_c000_0207);
        let bits = client.to_bits();
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        let steered = [
            9,
            2 | 1 << 32,
            5,
            (bits >> 64) as u64,
            bits as u64,
            443 | 50_000 << 32,
        ];
        let rest = [7, 1000, 10, 1, 1, 40_000, 20_000, 1000, 5, 10_000, 3, 2, 1];
        let all = [&[4][..], &steered, &rest].concat();
        let bytes: Vec<u8> = all
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect();
        let ended = EndedConnection::parse(&bytes, Duration::from_millis(4)).unwrap();
        assert_eq!(
            (ended.cookie, ended.steered.rule, ended.steered.arm),
            (4, 2, 1)
        );
        assert_eq!(ended.steered.client.to_string(), "192.0.2.7");
        assert_eq!(ended.steered.ports, [443, 50_000]);
        assert_eq!(ended.busy, Duration::from_millis(24));
        assert_eq!(ended.rtt, Some(Duration::from_millis(40)));
        assert_eq!(ended.delivery_rate, Some(500_000));
        assert_eq!(SteeredConnection::parse(&bytes[8..]), Some(ended.steered));
        for length in 0..bytes.len() {
            assert_eq!(
                EndedConnection::parse(&bytes[..length], Duration::ZERO),
                None
            );
        }
    }

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
        };
        let mut bytes = Vec::new();
        steering.rules[0].append(&mut bytes);
        assert_eq!(bytes.len(), 2 * 8 * 16 + 2 * 8 + 8 * 8 + 8 * 16);
        assert_eq!(&bytes[bytes.len() - 8 * 16..][..16], b"a_name_that_is_\0");
        assert_eq!(steering.bytes().len(), 9 * 8 + MOST_RULES * bytes.len());
    }
}
