//! The sizes of objects.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Ratio};

use super::random::Random;

/// A distribution of sizes in bytes. No size is below one byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "distribution", rename_all = "lowercase", deny_unknown_fields)]
pub enum Sizes {
    /// A constant size.
    #[serde(rename = "", deserialize_with = "units::bounds::positive")]
    Fixed(Bytes),
    /// One of these, each with the same probability; repeat a size to make it more probable.
    #[serde(rename = "[]")]
    List(Vec<Bytes>),
    /// Log-normal: the logarithm of a size is normally distributed. Typical of web objects.
    LogNormal {
        /// Half of the sizes are smaller.
        median: Bytes,
        /// The standard deviation of the natural logarithm. About two thirds of the sizes are within a factor of
        /// e^sigma from the median.
        #[serde(with = "units::bounds::number")]
        sigma: Ratio,
    },
    /// Bounded Pareto: a power law between two sizes. Most objects are small, and the few large ones have most of the
    /// bytes.
    Pareto {
        /// The smallest size.
        min: Bytes,
        /// The exponent: the share of sizes above `x` falls as `x^-shape`. Around 1.2 is typical of file sizes.
        #[serde(with = "units::bounds::number")]
        shape: Ratio,
        /// The largest size.
        max: Bytes,
    },
}

impl Sizes {
    /// Draws a size.
    pub(super) fn draw(&self, random: &mut Random) -> Bytes {
        let size = match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(sizes) => {
                let index = random.below(sizes.len() as u64);
                usize::try_from(index)
                    .ok()
                    .and_then(|index| sizes.get(index))
                    .copied()
                    .unwrap_or_default()
            }
            Sizes::LogNormal { median, sigma } => {
                let factor = libm::exp(sigma.as_f64() * random.normal());
                bytes(median.get() as f64 * factor)
            }
            Sizes::Pareto { min, shape, max } => {
                // The inverse of 1 - F(x) = ((min/x)^a - (min/max)^a) / (1 - (min/max)^a).
                let least = libm::pow(ratio(*min, *max), shape.as_f64());
                let above = least + random.unit() * (1.0 - least);
                let size = bytes(min.get() as f64 * libm::pow(above, -1.0 / shape.as_f64()));
                size.clamp(*min, *max)
            }
        };
        size.max(Bytes::new(1))
    }

    /// The mean of the distribution, by its closed form, to the nearest byte. With a rate of arrivals, it gives the
    /// offered load.
    pub fn mean(&self) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(sizes) => {
                let sum: u128 = sizes.iter().map(|size| u128::from(size.get())).sum();
                let mean = sum / (sizes.len() as u128).max(1);
                Bytes::new(u64::try_from(mean).unwrap_or(u64::MAX))
            }
            Sizes::LogNormal { median, sigma } => {
                let sigma = sigma.as_f64();
                bytes(median.get() as f64 * libm::exp(sigma * sigma / 2.0))
            }
            Sizes::Pareto { min, shape, max } => bounded_pareto_mean(*min, shape.as_f64(), *max),
        }
    }

    /// Checks the parameters; `field` is the field of the distribution.
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let of = |part: &str| format!("{field}{part}");
        let empty = "of no bytes is not an object; give at least 1b";
        match self {
            Sizes::Fixed(size) if size.is_zero() => Err(ConfigError::new(of(""), empty)),
            Sizes::List(sizes) if sizes.is_empty() => Err(ConfigError::new(
                of(""),
                "has no sizes to choose from; give at least one",
            )),
            Sizes::List(sizes) => match sizes.iter().position(|size| size.is_zero()) {
                Some(index) => Err(ConfigError::new(of(&format!("[{index}]")), empty)),
                None => Ok(()),
            },
            Sizes::LogNormal { median, .. } if median.is_zero() => {
                Err(ConfigError::new(of(".median"), empty))
            }
            Sizes::Pareto { min, .. } if min.is_zero() => Err(ConfigError::new(of(".min"), empty)),
            Sizes::Pareto { shape, .. } if *shape == Ratio::ZERO => Err(ConfigError::new(
                of(".shape"),
                "of 0 is not a power law; give a number above 0, such as 1.2",
            )),
            Sizes::Pareto { min, max, .. } if max < min => Err(ConfigError::new(
                of(".max"),
                format!("of {max} is below the smallest size; give at least {min}"),
            )),
            _ => Ok(()),
        }
    }
}

fn bytes(size: f64) -> Bytes {
    Bytes::new(libm::round(size) as u64)
}

fn ratio(a: Bytes, b: Bytes) -> f64 {
    a.get() as f64 / b.get() as f64
}

fn bounded_pareto_mean(min: Bytes, shape: f64, max: Bytes) -> Bytes {
    if min >= max {
        return min;
    }
    let least = ratio(min, max);
    let low = min.get() as f64;
    // The integral of x^-shape from min to max is a logarithm if the shape is one.
    let power = shape - 1.0;
    let integral = if power == 0.0 {
        -libm::log(least)
    } else {
        (1.0 - libm::pow(least, power)) / power
    };
    bytes(low * shape * integral / (1.0 - libm::pow(least, shape)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn sorted_draws(sizes: &Sizes) -> Vec<u64> {
        assert_eq!(sizes.validate("sizes"), Ok(()));
        let mut random = Random::pair(5).0;
        let mut draws: Vec<u64> = (0..DRAWS).map(|_| sizes.draw(&mut random).get()).collect();
        draws.sort_unstable();
        draws
    }

    fn pareto(min: u64, shape: Ratio, max: u64) -> Sizes {
        Sizes::Pareto {
            min: Bytes::new(min),
            shape,
            max: Bytes::new(max),
        }
    }

    /// Checks that the mean of the draws is within `tolerance` of [`Sizes::mean`], and their quartiles within 2 % of
    /// `quartiles`.
    fn follows(sizes: &Sizes, tolerance: f64, quartiles: [f64; 3]) {
        let draws = sorted_draws(sizes);
        let mean = draws.iter().map(|x| *x as f64).sum::<f64>() / DRAWS as f64;
        let expected = sizes.mean().get() as f64;
        assert!(
            (mean / expected - 1.0).abs() < tolerance,
            "{sizes:?}: {mean} {expected}"
        );
        for (index, quartile) in quartiles.into_iter().enumerate() {
            let drawn = draws[DRAWS * (index + 1) / 4] as f64;
            assert!(
                (drawn / quartile - 1.0).abs() < 0.02,
                "{sizes:?}: {drawn} {quartile}"
            );
        }
    }

    #[test]
    fn log_normal() {
        let sizes = Sizes::LogNormal {
            median: Bytes::new(30_000),
            sigma: Ratio::new(1, 1),
        };
        let mean = 30_000.0 * f64::exp(0.5);
        assert_eq!(sizes.mean().get(), mean.round() as u64);
        // A quarter of a normal distribution is above 0.67449 deviations.
        let quarter = f64::exp(0.67449);
        follows(
            &sizes,
            0.02,
            [30_000.0 / quarter, 30_000.0, 30_000.0 * quarter],
        );
    }

    #[test]
    fn bounded_pareto() {
        for (shape, max) in [
            (Ratio::new(12, 10), 1_000_000),
            (Ratio::ONE, 100_000),
            (Ratio::new(5, 2), 10_000_000),
            (Ratio::new(1, 2), 50_000),
        ] {
            let a = shape.as_f64();
            let least = (1000.0 / max as f64).powf(a);
            let quantile = |q: f64| 1000.0 * (1.0 - q * (1.0 - least)).powf(-1.0 / a);
            let sizes = pareto(1000, shape, max);
            follows(&sizes, 0.05, [0.25, 0.5, 0.75].map(quantile));
            let draws = sorted_draws(&sizes);
            assert!(draws[0] >= 1000 && draws[DRAWS - 1] <= max);
        }
    }

    /// By hand: with shape 2 from 1 to 10 kB the density is 2·10⁶·x⁻³ / 0.99, whose mean is 2000 × 0.9 / 0.99.
    #[test]
    fn the_mean_of_a_bounded_pareto_distribution() {
        let mean = pareto(1000, Ratio::new(2, 1), 10_000).mean();
        assert_eq!(mean.get(), 1818);
        assert_eq!(pareto(500, Ratio::new(2, 1), 500).mean().get(), 500);
    }

    #[test]
    fn lists() {
        let sizes = Sizes::List([10, 10, 40].map(Bytes::new).to_vec());
        assert_eq!(sizes.mean().get(), 20);
        let draws = sorted_draws(&sizes);
        let small = draws.iter().filter(|x| **x == 10).count();
        // Five standard deviations of a binomial with p = 2/3.
        assert!(small.abs_diff(DRAWS * 2 / 3) < 1055, "{small}");
        assert_eq!(sorted_draws(&Sizes::Fixed(Bytes::new(7)))[0], 7);
    }

    /// Computed once in Python from the descriptions of xoshiro256++, SplitMix64 and the distributions.
    #[test]
    fn draws_are_the_same_everywhere() {
        let draw = |sizes: Sizes| {
            let mut random = Random::pair(1).0;
            [0; 4].map(|_| sizes.draw(&mut random).get())
        };
        let sigma = Ratio::new(3, 2);
        let median = Bytes::new(30_000);
        assert_eq!(
            draw(Sizes::LogNormal { median, sigma }),
            [29_476, 27_791, 2_938, 23_570]
        );
        assert_eq!(
            draw(pareto(1000, Ratio::new(6, 5), 100_000_000)),
            [1_190, 1_275, 6_804, 1_276]
        );
        assert_eq!(
            draw(Sizes::List([10, 11, 12, 13, 14].map(Bytes::new).to_vec())),
            [14, 13, 10, 13]
        );
    }

    #[test]
    fn extremes_stay_in_range() {
        let mut random = Random::pair(9).0;
        let huge = Sizes::LogNormal {
            median: Bytes::MAX,
            sigma: Ratio::new(u32::MAX, 1),
        };
        let tiny = Sizes::LogNormal {
            median: Bytes::new(1),
            sigma: Ratio::new(u32::MAX, 1),
        };
        let steep = pareto(1, Ratio::new(u32::MAX, 1), u64::MAX);
        let flat = pareto(1, Ratio::new(1, u32::MAX), u64::MAX);
        for sizes in [huge, tiny, steep, flat] {
            assert_eq!(sizes.validate(""), Ok(()));
            assert!((0..1000).all(|_| !sizes.draw(&mut random).is_zero()));
            assert!(!sizes.mean().is_zero(), "{sizes:?}");
        }
    }
}
