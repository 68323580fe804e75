//! The median of round-trip times that the program counts in classes has the stated accuracy.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::host::Host;

/// Medians are within a sixteenth, or within half of the finest class, in microseconds.
fn is_near(found: u64, truth: u64) -> bool {
    found.abs_diff(truth) <= (truth / 16).max(8) + 1
}

/// The program's output: the class of the last one, and the median.
fn answers(questions: &[Vec<u64>]) -> Vec<[u64; 2]> {
    let words = questions.iter().flat_map(|of| {
        let count = std::iter::once(of.len() as u64);
        count.chain(of.iter().copied())
    });
    let input: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
    let output = Host::compile("rounds.c", &[]).answer(&input);
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    output
        .chunks_exact(16)
        .map(|both| [word(&both[..8]), word(&both[8..])])
        .collect()
}

#[test]
fn a_median_is_within_a_sixteenth() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(19);
    let mut below = |end: u64| random.next_u64() % end;
    let mut questions = Vec::new();
    for _ in 0..2000 {
        // From 8 microseconds to 8 seconds, and values beyond.
        let least = 1 << (3 + below(20));
        let many = 1 + below(300);
        questions.push((0..many).map(|_| least + below(3 * least)).collect());
    }
    let found = answers(&questions);
    assert_eq!(found.len(), questions.len());
    for (question, [class, median]) in questions.iter_mut().zip(found) {
        let last = *question.last().expect("one");
        if last < 16_000_000 {
            assert!(is_near(class, last), "{class} of {last}");
        }
        question.sort_unstable();
        let truth = question[(question.len() - 1) / 2];
        if truth < 16_000_000 {
            assert!(is_near(median, truth), "{median} of {truth}");
        }
    }
}

#[test]
fn there_may_be_none_too_many_and_absurd_ones() {
    let many = [vec![40_000; 200_000], vec![900_000; 150_000]].concat();
    let found = answers(&[Vec::new(), many, vec![u64::MAX], vec![0]]);
    assert_eq!(found[0][1], 0, "no round has no median");
    // When a class is full, all classes are halved, so recent rounds count for more.
    assert!(is_near(found[1][1], 900_000), "{:?}", found[1]);
    assert!(found[2][1] > 15_000_000, "{:?}", found[2]);
    assert_eq!(found[3], [8, 8]);
}
