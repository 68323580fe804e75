//! The distributions from which fields of a path are drawn.
//!
//! Draws are the same on every machine: uniform numbers come from a hash, logarithms and exponentials from `libm`.

use document::DocumentError;
use document::de;
use document::tree::Node;
use record::Dimension;
use serde::{Deserialize, Deserializer};
use studies::runs::{Amount, derive_seed};
use units::bounds::refused;

/// The distribution of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always this text.
    Fixed(String),
    /// One of these texts, with equal probabilities.
    Choice(Vec<String>),
    /// A log-normal value. Many independent factors give this distribution; rates, delays and buffers measured on the
    /// Internet resemble it.
    LogNormal {
        /// The unit of the value and of the numbers below: see [`Dimension`].
        unit: Dimension,
        /// The median.
        median: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
        /// The lower limit; smaller values are raised to it.
        min: f64,
        /// The upper limit; larger values are lowered to it.
        max: f64,
    },
    /// A log-uniform value: every order of magnitude between two values is equally likely.
    LogUniform {
        /// The unit.
        unit: Dimension,
        /// The smallest value.
        from: f64,
        /// The largest value.
        to: f64,
    },
}

/// The random numbers of one member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws<'d> {
    pub seed: u64,
    pub region: &'d str,
    pub access: &'d str,
    /// The index of the member among those of its access network.
    pub place: u64,
}

impl Draws<'_> {
    /// Returns a number above 0 and up to 1, of 53 bits. It depends only on the member and the name. Adding a field
    /// changes no other field, and a larger population contains the members of a smaller one.
    fn unit(&self, name: &str) -> f64 {
        let values = [
            ("access", self.access),
            ("draw", name),
            ("region", self.region),
        ];
        let bits = derive_seed(self.seed, &values, self.place);
        (bits + 1) as f64 / (1u64 << 53) as f64
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958).
    pub fn normal(&self, name: &str) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit(&format!("{name} radius"))));
        let angle = core::f64::consts::TAU * self.unit(&format!("{name} angle"));
        radius * libm::cos(angle)
    }
}

impl Distribution {
    /// True if the value is a distribution, rather than a table of further fields.
    pub(super) fn is_meant_by(value: &Node) -> bool {
        let Node::Table(entries) = value else {
            return true;
        };
        entries.iter().any(|entry| {
            let key = entry.key.as_str();
            ["median", "from", "to"].contains(&key)
        })
    }

    /// Reads a value, a list of values, or a table.
    pub(super) fn read(value: &Node) -> Result<Distribution, DocumentError> {
        match value {
            Node::Scalar(_) => de::read(value).map(Distribution::Fixed),
            Node::List(values) if values.is_empty() => Err(DocumentError::new(
                "",
                "has no values to choose from; give it one or more",
            )),
            Node::List(_) => de::read(value).map(Distribution::Choice),
            Node::Table(entries) if entries.iter().any(|entry| entry.key == "median") => {
                log_normal(value)
            }
            Node::Table(_) => log_uniform(value),
        }
    }

    /// The drawn text of a member's field.
    pub(super) fn draw(&self, draws: &Draws<'_>, name: &str) -> String {
        match self {
            Distribution::Fixed(text) => text.clone(),
            Distribution::Choice(texts) => {
                // The unit interval is open below.
                let place = libm::ceil(draws.unit(name) * texts.len() as f64) as usize;
                texts
                    .get(place.saturating_sub(1))
                    .cloned()
                    .unwrap_or_default()
            }
            Distribution::LogNormal {
                unit,
                median,
                sigma,
                min,
                max,
            } => {
                let value = median * libm::exp(sigma * draws.normal(name));
                spelled(*unit, value.max(*min).min(*max))
            }
            Distribution::LogUniform { unit, from, to } => {
                let ratio = libm::log(to / from) * draws.unit(name);
                spelled(*unit, from * libm::exp(ratio))
            }
        }
    }
}

/// `{ median = "20mbit", sigma = 0.8, min = "1mbit", max = "1gbit" }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogNormal {
    #[serde(deserialize_with = "positive")]
    median: Amount,
    #[serde(deserialize_with = "sigma")]
    sigma: f64,
    min: Option<String>,
    max: Option<String>,
}

/// `{ from = "10ms", to = "200ms" }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogUniform {
    #[serde(deserialize_with = "positive")]
    from: Amount,
    to: String,
}

fn log_normal(value: &Node) -> Result<Distribution, DocumentError> {
    let LogNormal {
        median,
        sigma,
        min,
        max,
    } = de::read(value)?;
    let unit = median.unit();
    let min = min.map_or(Ok(0.0), |min| of_unit("min", &min, unit))?;
    let max = max.map_or(Ok(f64::MAX), |max| of_unit("max", &max, unit))?;
    if min > max {
        return Err(DocumentError::new("max", "is below min"));
    }
    Ok(Distribution::LogNormal {
        unit,
        median: median.value(),
        sigma,
        min,
        max,
    })
}

fn log_uniform(value: &Node) -> Result<Distribution, DocumentError> {
    let LogUniform { from, to } = de::read(value)?;
    let (unit, from) = (from.unit(), from.value());
    let to = of_unit("to", &to, unit)?;
    if to < from {
        Err(DocumentError::new("to", "is below from"))
    } else {
        Ok(Distribution::LogUniform { unit, from, to })
    }
}

/// Reads a number above zero with a unit.
fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
    let amount = Amount::parse(&String::deserialize(deserializer)?);
    let amount = amount.ok_or_else(|| refused("is not a number with a unit, such as 20mbit"))?;
    if amount.value() > 0.0 {
        Ok(amount)
    } else {
        Err(refused("has no logarithm; give a value above zero"))
    }
}

fn sigma<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let sigma = f64::deserialize(deserializer)?;
    if (0.0..=10.0).contains(&sigma) {
        Ok(sigma)
    } else {
        Err(refused("is not a number from 0 to 10, such as 0.8"))
    }
}

/// Reads a number of the same unit.
fn of_unit(field: &str, text: &str, unit: Dimension) -> Result<f64, DocumentError> {
    match Amount::parse(text) {
        Some(amount) if amount.unit() == unit => Ok(amount.value()),
        _ => {
            let reason = format!("{text} is not of the same kind as the rest of the distribution");
            Err(DocumentError::new(field, reason))
        }
    }
}

/// The value as text for a scenario, in units so small that rounding does not matter.
fn spelled(unit: Dimension, value: f64) -> String {
    match unit {
        Dimension::Plain => format!("{value:.6}"),
        Dimension::Share => format!("{:.7}%", value * 100.0),
        Dimension::Rate => format!("{value:.0}bit"),
        Dimension::Time => format!("{:.0}us", value * 1e3),
        Dimension::Seconds => format!("{:.0}us", value * 1e6),
        Dimension::Size => format!("{value:.0}b"),
        Dimension::Bdp => format!("{value:.6}bdp"),
        Dimension::Packets => format!("{value:.0}p"),
    }
}
