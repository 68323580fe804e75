//! A connection has the same arm in C and in Rust.

use std::net::{IpAddr, Ipv6Addr};

use experiment::{Key, Shares, Unit};
use kernel::DrawnUnit;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rules::MAX_ARMS;
use units::Duration;

use crate::host::Host;

const QUESTIONS: usize = 100_000;

/// The input of a draw: a key, a unit, shares, and a connection.
struct Question {
    key: Key,
    unit: Unit,
    shares: Shares,
    cookie: u64,
    client: IpAddr,
    set_up: Duration,
    /// The machine's time of boot, since 1970.
    boot: Duration,
}

impl Question {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Question {
        let mut below = |end: u64| random.next_u64() % end;
        let (v4, v6) = (below(33) as u8, below(129) as u8);
        let slot = Duration::from_nanos(below(1 << 40) + 1);
        let unit = match below(4) {
            0 => Unit::Connection,
            1 => Unit::Prefix { v4, v6 },
            2 => Unit::PrefixInSlot { v4, v6, slot },
            _ => Unit::Slot(slot),
        };
        let parts: Vec<f64> = (0..2 + below(MAX_ARMS as u64 - 1))
            .map(|_| (1 + below(100)) as f64)
            .collect();
        let bits = u128::from(below(u64::MAX)) << 64 | u128::from(below(u64::MAX));
        let client = match below(2) {
            0 => Ipv6Addr::from_bits(bits),
            // An IPv4 client of a socket of either version.
            _ => Ipv6Addr::from_bits(0xffff_0000_0000 | bits & 0xffff_ffff),
        };
        let client = IpAddr::from(client);
        Question {
            key: Key::of_seed(&below(u64::MAX).to_string()),
            unit,
            shares: Shares::of(&parts),
            cookie: below(u64::MAX),
            client: if below(2) == 0 {
                client.to_canonical()
            } else {
                client
            },
            set_up: Duration::from_nanos(below(u64::MAX / 2)),
            boot: Duration::from_nanos(below(u64::MAX / 2)),
        }
    }

    /// The input as `struct question`.
    fn words(&self) -> Vec<u64> {
        let unit = match self.unit {
            Unit::Connection => DrawnUnit::Connection,
            Unit::Prefix { v4, v6 } => DrawnUnit::Prefix(v4, v6),
            Unit::PrefixInSlot { v4, v6, slot } => DrawnUnit::PrefixInSlot {
                v4,
                v6,
                length: slot,
                boot: self.boot,
            },
            Unit::Slot(length) => DrawnUnit::Slot {
                length,
                boot: self.boot,
            },
        };
        let mut ends = self.shares.ends().to_vec();
        ends.resize(MAX_ARMS, 0);
        let bits = rules::mapped(self.client).to_bits();
        let client = [(bits >> 64) as u64, bits as u64];
        let of = [self.cookie, client[0], client[1], self.set_up.as_nanos()];
        [&self.key.words()[..], &unit.words(), &ends, &of].concat()
    }

    fn answer(&self) -> [u64; 2] {
        let at = self.boot + self.set_up;
        let subject = self.unit.subject(self.cookie, self.client, at);
        let draw = self.key.draw(subject);
        [draw, self.shares.arm(draw) as u64]
    }
}

#[test]
fn a_connection_has_the_same_arm_in_both() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(19);
    let questions: Vec<Question> = (0..QUESTIONS)
        .map(|_| Question::draw(&mut random))
        .collect();
    let input: Vec<u8> = questions
        .iter()
        .flat_map(Question::words)
        .flat_map(u64::to_ne_bytes)
        .collect();
    let output = Host::compile("assign.c", &[]).answer(&input);
    let words: Vec<u64> = output
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect();
    assert_eq!(words.len(), 2 * QUESTIONS);
    let mut arms = [0; MAX_ARMS];
    for (number, (question, words)) in questions.iter().zip(words.chunks_exact(2)).enumerate() {
        let answer = question.answer();
        assert_eq!(
            words, answer,
            "question {number}: {:?}, {}",
            question.unit, question.client
        );
        arms[answer[1] as usize] += 1;
    }
    assert!(arms.iter().all(|&count| count > 0), "{arms:?}");
}
