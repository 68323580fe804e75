//! Compares the remembered packets of client networks between C and Rust.

use kernel::{KNOWN_PACKETS, Resent, resent_with_data};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rules::Span;
use units::Ratio;

use crate::host::Host;

/// `MAX_PACKETS` of `bpf/steer/resent.h`.
const MAX_PACKETS: u64 = 1 << 14;

const MILLION: u64 = 1_000_000;

/// The packets that a network's connections sent and resent, and the share that rules see, in millionths.
#[derive(Default)]
struct Network {
    sent: u64,
    resent: u64,
    share: Option<u64>,
}

impl Network {
    fn add(&mut self, sent: u64, resent: u64) {
        self.sent += sent;
        self.resent += resent;
        while self.sent > MAX_PACKETS {
            self.sent /= 2;
            self.resent /= 2;
        }
        if self.sent >= KNOWN_PACKETS {
            let measured = self.resent * MILLION / self.sent;
            let seen = self.share.unwrap_or(measured);
            self.share = Some(seen.clamp(measured * 4 / 5, measured * 4 / 3));
        }
    }
}

/// A connection that has ended.
struct Question {
    sent: u64,
    total: u64,
    bytes: u64,
}

impl Question {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Question {
        let mut draw = |end: u64| random.next_u64() % end;
        let magnitude = draw(33);
        let sent = draw(1 << magnitude);
        // Some connections resend more packets than they have with data, and some only packets without data.
        let part = 1 + draw(100);
        let total = draw(sent / part + 3);
        let bytes = draw(8) * 1448;
        Question { sent, total, bytes }
    }

    fn resent(&self) -> u64 {
        resent_with_data(self.total, self.bytes, self.sent)
    }

    fn words(&self) -> [u64; 3] {
        [self.sent, self.total, self.bytes]
    }
}

fn answers(host: &Host, questions: impl IntoIterator<Item = [u64; 3]>) -> Vec<[u64; 2]> {
    let words = questions.into_iter().flatten();
    let input: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
    let output = host.answer(&input);
    let words: Vec<u64> = output
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect();
    words.as_chunks().0.to_vec()
}

#[test]
fn a_network_has_the_same_memory_in_both() {
    let host = Host::compile("resent.c", &[]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(23);
    let (mut known, mut unknown) = (0, 0);
    for network in 0..200 {
        let questions: Vec<Question> = (0..30).map(|_| Question::draw(&mut random)).collect();
        let answers = answers(&host, questions.iter().map(Question::words));
        assert_eq!(answers.len(), questions.len());
        let mut twin = Network::default();
        for (question, [memory, share]) in questions.iter().zip(answers) {
            twin.add(question.sent, question.resent());
            let read = Resent::of_word(memory);
            assert_eq!((read.sent, read.resent), (twin.sent, twin.resent));
            let expected = twin
                .share
                .map(|share| Ratio::new(share as u32, MILLION as u32));
            assert_eq!(read.share, expected, "network {network}");
            assert_eq!(share, twin.share.unwrap_or(u64::MAX));
            known += u64::from(read.share.is_some());
            unknown += u64::from(read.share.is_none());
        }
    }
    assert!(known > 1000 && unknown > 50, "{known}, {unknown}");
}

/// Connections of one network that resend `per_mille` of their packets, one after another. Returns the class of the
/// network at the end of each part: whether it is in the class from 2 %.
fn classes<const PARTS: usize>(host: &Host, parts: [u64; PARTS]) -> [bool; PARTS] {
    const CONNECTIONS: usize = 200;
    let each = |per_mille| std::iter::repeat_n([1000, per_mille, 1], CONNECTIONS);
    let answers = answers(host, parts.iter().flat_map(|&part| each(part)));
    std::array::from_fn(|part| {
        let [_, share] = answers[(part + 1) * CONNECTIONS - 1];
        Span::new(20_000, None).has(Some(share))
    })
}

#[test]
fn a_network_changes_its_class_a_quarter_beyond_the_bound() {
    let host = Host::compile("resent.c", &[]);
    assert_eq!(classes(&host, [19, 24, 26]), [false, false, true]);
    assert_eq!(classes(&host, [21, 16, 14]), [true, true, false]);
    assert_eq!(classes(&host, [26, 16, 24, 14]), [true, true, true, false]);
    assert_eq!(
        classes(&host, [0, 24, 1000, 0]),
        [false, false, true, false]
    );
}
