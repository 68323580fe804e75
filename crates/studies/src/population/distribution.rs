//! What a field of a path is drawn from.
//!
//! The draws are the same on every machine: uniform numbers come from a hash, logarithms and exponentials from `libm`.

use crate::runs::{Amount, derive_seed};
use record::Unit;
use scenario::ScenarioError;
use scenario::value::Value;

/// The keys that tell a distribution from a table of fields.
const LOG_NORMAL: [&str; 4] = ["median", "sigma", "min", "max"];
const LOG_UNIFORM: [&str; 2] = ["from", "to"];

/// What a field is drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always this text.
    Fixed(String),
    /// One of these texts, each as likely as any other.
    Choice(Vec<String>),
    /// The logarithm is normal. Many independent factors give this distribution, and rates, delays and buffers measured on
    /// the Internet resemble it.
    LogNormal {
        /// What it counts, which is also the unit of its other numbers: see [`Unit`].
        unit: Unit,
        /// Half of the values are below.
        median: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
        /// Smaller values become this one.
        min: f64,
        /// Larger values become this one.
        max: f64,
    },
    /// The logarithm is uniform: any order of magnitude between two values is as likely as any other.
    LogUniform {
        /// What it counts.
        unit: Unit,
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
    },
}

/// The random numbers of one member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws<'d> {
    pub seed: u64,
    pub region: &'d str,
    pub access: &'d str,
    /// The member's place among those of its access network.
    pub place: u64,
}

impl Draws<'_> {
    /// A number above 0 and up to 1, of 53 bits. It depends on the member, the name and nothing else: a field more or less
    /// changes no other field, and a larger population has the members of a smaller one.
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
    /// Whether the value is a table of a distribution's, and not of further fields.
    pub(super) fn is_meant_by(value: &Value) -> bool {
        let Value::Table(entries) = value else {
            return true;
        };
        entries.iter().any(|entry| {
            let key = entry.key.as_str();
            key == "median" || LOG_UNIFORM.contains(&key)
        })
    }

    /// Reads a value, a list of values, or a table.
    pub(super) fn read(value: &Value) -> Result<Distribution, ScenarioError> {
        let text = |value: &Value| value.text("a value such as 20mbit").map(str::to_string);
        match value {
            Value::Scalar(_) => text(value).map(Distribution::Fixed),
            Value::List(values) if values.is_empty() => Err(ScenarioError::new(
                "",
                "has no values to choose from; give it one or more",
            )),
            Value::List(_) => value.list(text).map(Distribution::Choice),
            Value::Table(entries) if entries.iter().any(|entry| entry.key == "median") => {
                log_normal(value)
            }
            Value::Table(_) => log_uniform(value),
        }
    }

    /// The text of the field `name` of a member.
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
fn log_normal(value: &Value) -> Result<Distribution, ScenarioError> {
    let example = "{ median = \"20mbit\", sigma = 0.8 }";
    let fields = value.fields(example, &LOG_NORMAL)?;
    let median = fields.required("median", positive)?;
    let sigma = fields.required("sigma", |sigma| {
        let text = sigma.text("a number such as 0.8")?;
        match text.parse::<f64>() {
            Ok(number) if (0.0..=10.0).contains(&number) => Ok(number),
            _ => Err(sigma.wrong("is no number from 0 to 10, such as 0.8")),
        }
    })?;
    let end = |key: &str, usual: f64| fields.or(key, usual, |end| of_unit(end, median.unit()));
    let (min, max) = (end("min", 0.0)?, end("max", f64::MAX)?);
    if min > max {
        return Err(ScenarioError::new("max", "is below min"));
    }
    Ok(Distribution::LogNormal {
        unit: median.unit(),
        median: median.value(),
        sigma,
        min,
        max,
    })
}

/// `{ from = "10ms", to = "200ms" }`.
fn log_uniform(value: &Value) -> Result<Distribution, ScenarioError> {
    let example = "{ from = \"10ms\", to = \"200ms\" }";
    let fields = value.fields(example, &LOG_UNIFORM)?;
    let from = fields.required("from", positive)?;
    let to = fields.required("to", |to| of_unit(to, from.unit()))?;
    if to < from.value() {
        Err(ScenarioError::new("to", "is below from"))
    } else {
        Ok(Distribution::LogUniform {
            unit: from.unit(),
            from: from.value(),
            to,
        })
    }
}

/// A number above zero with a unit.
fn positive(value: &Value) -> Result<Amount, ScenarioError> {
    let quantity = Amount::parse(value.text("a value such as 20mbit")?);
    let quantity = quantity.ok_or_else(|| value.wrong("is no number with a unit, such as 20mbit"));
    quantity.and_then(|quantity| {
        if quantity.value() > 0.0 {
            Ok(quantity)
        } else {
            Err(value.wrong("has no logarithm; give a value above zero"))
        }
    })
}

/// A number of the same kind.
fn of_unit(value: &Value, unit: Unit) -> Result<f64, ScenarioError> {
    match Amount::parse(value.text("a value such as 20mbit")?) {
        Some(quantity) if quantity.unit() == unit => Ok(quantity.value()),
        _ => Err(value.wrong("is not of the same kind as the rest of the distribution")),
    }
}

/// The value as a scenario has it, in units so small that rounding does not matter.
fn spelled(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Plain => format!("{value:.6}"),
        Unit::Share => format!("{:.7}%", value * 100.0),
        Unit::Rate => format!("{value:.0}bit"),
        Unit::Time => format!("{:.0}us", value * 1e3),
        Unit::Seconds => format!("{:.0}us", value * 1e6),
        Unit::Size => format!("{value:.0}b"),
        Unit::Bdp => format!("{value:.6}bdp"),
        Unit::Packets => format!("{value:.0}p"),
    }
}
