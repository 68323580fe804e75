//! Assigns arms: an arm follows from a keyed hash of the unit of randomisation.
//!
//! Nobody can foresee an arm without the key and the plan. Nothing has to be stored, because a unit always gets the
//! same arm. The program in the kernel computes the same hash (`crates/kernel/bpf/steer/assign.h`).

use std::fmt;
use std::hash::Hasher;
use std::net::IpAddr;

use rules::mapped;
use siphasher::sip::SipHasher24;
use units::Duration;

/// The unit of randomisation. An interval must take each unit as one observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Each connection on its own.
    Connection,
    /// All connections of a client network: neighbours on one line share an arm.
    Prefix {
        /// The prefix length for IPv4.
        v4: u8,
        /// The prefix length for IPv6.
        v6: u8,
    },
    /// All connections that begin in one slot of calendar time. This is for congestion that the arms would share.
    Slot(Duration),
    /// All connections of a client network that begin in one slot of calendar time. Each network gets each arm in turn.
    PrefixInSlot {
        /// The prefix length for IPv4.
        v4: u8,
        /// The prefix length for IPv6.
        v6: u8,
        /// The length of a slot.
        slot: Duration,
    },
}

/// The identity of a unit: four words, as in the kernel's program.
pub type Subject = [u64; 4];

const CONNECTION: u64 = 0;
const PREFIX: u64 = 1;
const SLOT: u64 = 2;
const ADDRESS: u64 = 3;
const END: u64 = 4;

#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
fn halves(bits: u128) -> [u64; 2] {
    [(bits >> 64) as u64, bits as u64]
}

impl Unit {
    /// The unit of a connection. Its inputs are the socket's number (`SO_COOKIE`), the client's address, and when the
    /// connection was set up, since 1970. Slots are the same on each machine.
    pub fn subject(self, cookie: u64, client: IpAddr, set_up: Duration) -> Subject {
        match self {
            Unit::Connection => [CONNECTION, cookie, 0, 0],
            Unit::Prefix { v4, v6 } => {
                let [high, low] = network(client, v4, v6);
                [PREFIX, high, low, 0]
            }
            Unit::Slot(length) => [SLOT, number(set_up, length), 0, 0],
            Unit::PrefixInSlot { v4, v6, slot } => {
                let [high, low] = network(client, v4, v6);
                [PREFIX, high, low, number(set_up, slot)]
            }
        }
    }
}

/// The network of an address.
fn network(client: IpAddr, v4: u8, v6: u8) -> [u64; 2] {
    let bits = mapped(client).to_bits();
    let is_v4 = bits >> 32 == 0xffff;
    let length = if is_v4 { 96 + v4.min(32) } else { v6.min(128) };
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    halves(bits & mask)
}

/// The number of the slot at this time.
fn number(at: Duration, length: Duration) -> u64 {
    at.as_nanos() / length.as_nanos().max(1)
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Connection => f.write_str("connection"),
            Unit::Prefix { v4, v6 } => write!(f, "client prefix (/{v4}, /{v6})"),
            Unit::Slot(length) => write!(f, "slot of {length}"),
            Unit::PrefixInSlot { v4, v6, slot } => {
                write!(f, "client prefix (/{v4}, /{v6}) in a slot of {slot}")
            }
        }
    }
}

/// The key of a study, which determines its draws.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

/// The key is secret: with it, clients could choose their arm.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// The key that follows from a seed in words.
    pub fn of_seed(seed: &str) -> Key {
        let long = blake3::derive_key(
            "fullpipe 2026 randomisation of connections",
            seed.as_bytes(),
        );
        let mut key = [0; 16];
        key.copy_from_slice(&long[..16]);
        Key(key)
    }

    /// The key in the words of the kernel's program.
    pub fn of_words([low, high]: [u64; 2]) -> Key {
        Key((u128::from(high) << 64 | u128::from(low)).to_le_bytes())
    }

    /// The key as words for the kernel's program.
    pub fn words(&self) -> [u64; 2] {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&self.0[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        [word(0), word(8)]
    }

    /// The draw of a unit, which identifies the unit in the data and decides its arm. It is SipHash-2-4 of the four
    /// words in little-endian order.
    pub fn draw(&self, subject: Subject) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        for word in subject {
            hasher.write(&word.to_le_bytes());
        }
        hasher.finish()
    }

    /// A pseudonym of an address.
    pub fn pseudonym(&self, address: IpAddr) -> u64 {
        let [high, low] = halves(mapped(address).to_bits());
        self.draw([ADDRESS, high, low, 0])
    }

    /// A pseudonym of a connection's remote address and port. With the key, a log can be joined to the data.
    pub fn end(&self, address: IpAddr, port: u16) -> u64 {
        let [high, low] = halves(mapped(address).to_bits());
        self.draw([END, high, low, port.into()])
    }
}

/// The upper end of each arm's range in the upper halves of draws: 2³² times the cumulative share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares(Vec<u64>);

impl Shares {
    /// Shares in proportion to these parts. There must be at least one.
    pub fn of(parts: &[f64]) -> Shares {
        let all: f64 = parts.iter().sum();
        let mut sum = 0.0;
        let ends = parts.iter().map(|part| {
            sum += part;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 2³²"
            )]
            let end = (sum / all * (1_u64 << 32) as f64).round() as u64;
            end
        });
        let mut ends: Vec<u64> = ends.collect();
        // After rounding, the last range still has to end at 2³².
        if let Some(last) = ends.last_mut() {
            *last = 1 << 32;
        }
        Shares(ends)
    }

    /// Shares with these ends.
    pub fn of_ends(ends: Vec<u64>) -> Shares {
        Shares(ends)
    }

    /// The upper end of each arm's range.
    pub fn ends(&self) -> &[u64] {
        &self.0
    }

    /// The arm of a draw.
    pub fn arm(&self, draw: u64) -> usize {
        let upper = draw >> 32;
        self.0.iter().position(|&end| upper < end).unwrap_or(0)
    }

    /// The share of each arm.
    pub fn shares(&self) -> Vec<f64> {
        let starts = std::iter::once(&0).chain(&self.0);
        let share = |(start, end): (&u64, &u64)| (end - start) as f64 / (1_u64 << 32) as f64;
        starts.zip(&self.0).map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Unit = Unit::Prefix { v4: 24, v6: 48 };

    fn subject(unit: Unit, client: &str, second: u64) -> Subject {
        unit.subject(7, client.parse().unwrap(), Duration::from_secs(second))
    }

    #[test]
    fn neighbours_are_one_unit() {
        let of = |client| subject(UNIT, client, 0);
        assert_eq!(of("192.0.2.1"), of("192.0.2.255"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.7"));
        assert_ne!(of("192.0.2.1"), of("192.0.3.1"));
        assert_eq!(of("2001:db8:0:1::"), of("2001:db8:0:ffff::9"));
        assert_ne!(of("2001:db8::"), of("2001:db8:1::"));
        assert_eq!(
            subject(Unit::Prefix { v4: 0, v6: 0 }, "::1", 0)[1..],
            [0; 3]
        );
    }

    #[test]
    fn an_end_is_an_address_and_a_port_however_it_is_written() {
        let key = Key::of_seed("one");
        let of = |client: &str, port| key.end(client.parse().unwrap(), port);
        assert_eq!(of("192.0.2.1", 7), of("::ffff:192.0.2.1", 7));
        assert_ne!(of("192.0.2.1", 7), of("192.0.2.1", 8));
        assert_ne!(of("192.0.2.1", 7), of("192.0.2.2", 7));
        assert_ne!(
            of("192.0.2.1", 0),
            key.pseudonym("192.0.2.1".parse().unwrap())
        );
        assert_ne!(
            of("192.0.2.1", 7),
            Key::of_seed("two").end("192.0.2.1".parse().unwrap(), 7)
        );
    }

    #[test]
    fn a_slot_is_a_unit() {
        let slot = Unit::Slot(Duration::from_secs(10));
        let of = |second| subject(slot, "192.0.2.1", second);
        assert_eq!(of(10), of(19));
        assert_ne!(of(19), of(20));
        let none = Unit::Slot(Duration::ZERO);
        assert_eq!(subject(none, "::1", 1)[1], 1_000_000_000);
    }

    #[test]
    fn a_network_in_another_slot_is_another_unit() {
        let unit = Unit::PrefixInSlot {
            v4: 24,
            v6: 48,
            slot: Duration::from_secs(10),
        };
        let of = |client, second| subject(unit, client, second);
        assert_eq!(of("192.0.2.1", 10), of("192.0.2.255", 19));
        assert_ne!(of("192.0.2.1", 19), of("192.0.2.1", 20));
        assert_ne!(of("192.0.2.1", 10), of("192.0.3.1", 10));
    }

    #[test]
    fn arms_get_their_shares_and_another_key_draws_anew() {
        let shares = Shares::of(&[50.0, 45.0, 5.0]);
        let count = |seed: &str| {
            let key = Key::of_seed(seed);
            let mut counts = [0.0; 3];
            let arms: Vec<usize> = (0..100_000)
                .map(|cookie| shares.arm(key.draw([CONNECTION, cookie, 0, 0])))
                .collect();
            arms.iter().for_each(|&arm| counts[arm] += 1.0);
            (counts, arms)
        };
        let (counts, arms) = count("one");
        for (count, share) in counts.iter().zip(shares.shares()) {
            let deviation = (100_000.0 * share * (1.0 - share)).sqrt();
            assert!(
                (count - 100_000.0 * share).abs() < 4.0 * deviation,
                "{counts:?}"
            );
        }
        let (_, others) = count("two");
        let same = arms.iter().zip(&others).filter(|(one, other)| one == other);
        // Half of the draws, and then 45 % and 5 %, agree by chance.
        let share = same.count() as f64 / 100_000.0;
        assert!((share - 0.455).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_key_is_its_words() {
        let key = Key::of_seed("one");
        assert!(Key::of_words(key.words()) == key);
    }

    #[test]
    fn nobody_is_left_out() {
        for parts in [&[1.0, 1.0, 1.0][..], &[0.1; 7], &[1e-12, 1.0]] {
            let shares = Shares::of(parts);
            assert!(shares.arm(u64::MAX) < parts.len() && shares.arm(0) < parts.len());
            assert_eq!(shares.ends().last(), Some(&(1 << 32)));
        }
        assert_eq!(Shares::of(&[0.0, 1.0]).arm(0), 1);
    }
}
