//! Seeded random numbers, the same on every machine: integers from xoshiro256++, logarithms and exponentials from
//! `libm`, whose results do not depend on the platform.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use units::Duration;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Two streams of one seed that never overlap: draws from one do not change the other.
    pub(super) fn pair(seed: u64) -> (Random, Random) {
        let first = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut second = first.clone();
        second.jump();
        (Random(first), Random(second))
    }

    /// A uniformly distributed number in `0..bound`; zero if `bound` is zero (Lemire, "Fast Random Integer Generation
    /// in an Interval", 2019).
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.0.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let uneven = bound.wrapping_neg() % bound;
            while (product as u64) < uneven {
                product = u128::from(self.0.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A number above 0 and up to 1, with 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// The time until the next event of a Poisson process, by the inverse of the exponential distribution.
    pub(super) fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_nanos(libm::round(-libm::log(self.unit()) * mean.as_nanos() as f64) as u64)
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958). The second value of the pair is not used,
    /// so that every draw takes two numbers.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_deviation(draws: &[f64]) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let square = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        (mean, (square / n).sqrt())
    }

    #[test]
    fn moments() {
        let (mut first, mut second) = Random::pair(1);
        let normal: Vec<f64> = (0..200_000).map(|_| first.normal()).collect();
        let (mean, deviation) = mean_and_deviation(&normal);
        // Five standard errors.
        assert!(mean.abs() < 0.0112, "{mean}");
        assert!((deviation - 1.0).abs() < 0.008, "{deviation}");
        let waits: Vec<f64> = (0..200_000)
            .map(|_| second.exponential(Duration::from_secs(1)).as_secs_f64())
            .collect();
        let (mean, deviation) = mean_and_deviation(&waits);
        assert!((mean - 1.0).abs() < 0.0112, "{mean}");
        assert!((deviation - 1.0).abs() < 0.016, "{deviation}");
    }

    /// Computed once in Python from the description of xoshiro256++, its jump and SplitMix64.
    #[test]
    fn draws_are_the_same_everywhere() {
        let (mut first, mut second) = Random::pair(1);
        let second_long = Duration::from_secs(1);
        assert_eq!(
            [0; 4].map(|_| first.exponential(second_long).as_nanos()),
            [208_732_690, 291_549_921, 2_301_077_195, 292_739_010]
        );
        assert_eq!(
            [0; 4].map(|_| second.exponential(second_long).as_nanos()),
            [156_148_988, 619_115_384, 246_342_975, 116_147_172]
        );
    }

    #[test]
    fn the_ends_of_the_unit_interval() {
        let mut random = Random::pair(2).0;
        assert!((0..100_000).all(|_| {
            let x = random.unit();
            x > 0.0 && x <= 1.0
        }));
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn streams_are_apart() {
        let (mut first, mut second) = Random::pair(3);
        assert_ne!(
            [0; 4].map(|_| first.below(1 << 32)),
            [0; 4].map(|_| second.below(1 << 32))
        );
    }
}
