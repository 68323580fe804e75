//! Seeded randomness: one stream of numbers for each impairment, the same on every machine.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use units::Ratio;

/// An independent source of random numbers. Streams of one seed never overlap.
#[derive(Debug, Clone)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Returns a uniform number in `0..bound`; zero if `bound` is.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval" (2019): a multiplication in place of a division, and a
    /// rejection so rare that it costs nothing. The result is exactly uniform.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let mut product = self.0.next_u64() as u128 * bound as u128;
        if (product as u64) < bound {
            let uneven = bound.wrapping_neg() % bound;
            while (product as u64) < uneven {
                product = self.0.next_u64() as u128 * bound as u128;
            }
        }
        (product >> 64) as u64
    }

    /// True if an event of this probability happens. The comparison of integers is exact.
    #[inline]
    pub(crate) fn happens(&mut self, probability: Ratio) -> bool {
        self.below(probability.denominator() as u64) < probability.numerator() as u64
    }
}

/// Returns the streams of a seed, 2^128 numbers apart from each other.
///
/// A link takes them in a fixed order, whether or not it uses them. So switching one impairment on does not change
/// another.
#[derive(Debug)]
pub(crate) struct Streams(Xoshiro256PlusPlus);

impl Streams {
    /// The streams of `seed`.
    pub(crate) fn new(seed: u64) -> Streams {
        Streams(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns more streams of the same seed, 2^192 numbers away from those of [`Streams::new`].
    pub(crate) fn far(seed: u64) -> Streams {
        let mut far = Xoshiro256PlusPlus::seed_from_u64(seed);
        far.long_jump();
        Streams(far)
    }

    /// Returns the next stream.
    pub(crate) fn deal(&mut self) -> Stream {
        let stream = Stream(self.0.clone());
        self.0.jump();
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers were computed with a few lines of Python from the authors' description of xoshiro256++, its jumps
    /// and SplitMix64.
    #[test]
    fn the_first_numbers_are_the_same_everywhere() {
        let mut streams = Streams::new(1);
        let (mut first, mut second) = (streams.deal(), streams.deal());
        let mut far = Streams::far(1).deal();
        let draw = |stream: &mut Stream| [0; 4].map(|_| stream.below(1000));
        assert_eq!(draw(&mut first), [811, 747, 100, 746]);
        assert_eq!(draw(&mut second), [855, 538, 781, 890]);
        assert_eq!(draw(&mut far), [776, 334, 549, 439]);
    }

    #[test]
    fn certain_and_impossible_events() {
        let mut stream = Streams::new(7).deal();
        for _ in 0..1000 {
            assert!(!stream.happens(Ratio::ZERO));
            assert!(stream.happens(Ratio::ONE));
            assert!(stream.happens(Ratio::new(7, 7)));
        }
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.below(1), 0);
        assert!(stream.below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn each_value_is_as_likely_as_any_other() {
        let mut stream = Streams::new(3).deal();
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[stream.below(7) as usize] += 1;
        }
        // Five standard deviations of a binomial with n = 70 000, p = 1/7.
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 463), "{seen:?}");
    }
}
