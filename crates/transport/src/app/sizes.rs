//! How large objects are.

use crate::error::ConfigError;
use crate::{Bytes, Ratio};

use super::random::Random;

/// A distribution of sizes in bytes. No size is below one byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(Bytes),
    /// One of these, each as likely as any other; repeat one to make it likelier.
    List(Vec<Bytes>),
    /// Log-normal: the logarithm of a size is normal. Typical of web objects.
    LogNormal {
        /// Half of the sizes are below.
        median: Bytes,
        /// The standard deviation of the natural logarithm. About two thirds of the sizes are within a factor of
        /// e^sigma from the median.
        sigma: Ratio,
    },
    /// Bounded Pareto: a power law between two sizes. Most objects are mice, most bytes elephants'.
    Pareto {
        /// The smallest size.
        min: Bytes,
        /// The exponent: the share of sizes above `x` falls as `x^-shape`. Around 1.2 is typical of file sizes.
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

    /// The mean of the distribution, by its closed form, to the nearest byte: with a rate of arrivals, the offered load.
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

    /// Checks the parameters; `field` is where the distribution stands.
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let of = |part: &str| format!("{field}{part}");
        let empty = "of no bytes is no object; give at least 1b";
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
                "of 0 is no power law; give a number above 0, such as 1.2",
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
    // The integral of x^-shape from min to max has a logarithm where the shape is one.
    let power = shape - 1.0;
    let integral = if power == 0.0 {
        -libm::log(least)
    } else {
        (1.0 - libm::pow(least, power)) / power
    };
    bytes(low * shape * integral / (1.0 - libm::pow(least, shape)))
}
