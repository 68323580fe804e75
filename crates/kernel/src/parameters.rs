//! The parameters of a controller, which are set before it is loaded into a kernel.

use std::fmt;
use std::str::FromStr;

use units::{Duration, Ratio};

use crate::snapshot::ratio;

/// A parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its default.
    pub default: Value,
}

impl Parameter {
    pub(crate) const fn new(name: &'static str, default: Value) -> Parameter {
        Parameter { name, default }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A gain, above zero.
    Gain(Ratio),
    /// A share, from zero to one.
    Share(Ratio),
    /// A number of rounds or phases.
    Count(u64),
    /// A time.
    Duration(Duration),
    /// True if a feature is on.
    Switch(bool),
}

impl Value {
    /// The value as a word of the BPF program.
    pub(crate) fn word(self) -> u64 {
        match self {
            Value::Gain(ratio) | Value::Share(ratio) => {
                u64::from(ratio.denominator()) << 32 | u64::from(ratio.numerator())
            }
            Value::Count(count) => count,
            Value::Duration(duration) => duration.as_nanos(),
            Value::Switch(is_on) => u64::from(is_on),
        }
    }

    /// The value of the same kind from a word.
    pub(crate) fn of_word(self, word: u64) -> Value {
        match self {
            Value::Gain(_) => Value::Gain(ratio(word)),
            Value::Share(_) => Value::Share(ratio(word)),
            Value::Count(_) => Value::Count(word),
            Value::Duration(_) => Value::Duration(Duration::from_nanos(word)),
            Value::Switch(_) => Value::Switch(word != 0),
        }
    }

    /// The value of the same kind from a text.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        match self {
            Value::Gain(_) => match text.parse::<Ratio>() {
                Ok(gain) if (0.01..=4.0).contains(&gain.as_f64()) => Ok(Value::Gain(gain)),
                _ => Err("expected a gain from 0.01 to 4, such as 1.25".to_owned()),
            },
            Value::Share(_) => match parsed::<Ratio>(text)? {
                share if share.as_f64() <= 1.0 => Ok(Value::Share(share)),
                _ => Err("expected a share from 0% to 100%".to_owned()),
            },
            Value::Duration(_) => match parsed::<Duration>(text)? {
                span if (MIN_TIME..=MAX_TIME).contains(&span) => Ok(Value::Duration(span)),
                _ => Err(format!("expected a time from {MIN_TIME} to {MAX_TIME}")),
            },
            Value::Count(_) => match text.parse() {
                Ok(count) if (1..=1_000_000).contains(&count) => Ok(Value::Count(count)),
                _ => Err("expected a number from 1 to 1000000".to_owned()),
            },
            Value::Switch(_) => match text {
                "on" => Ok(Value::Switch(true)),
                "off" => Ok(Value::Switch(false)),
                _ => Err("expected on or off".to_owned()),
            },
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Gain(ratio) | Value::Share(ratio) => write!(f, "{:.4}", ratio.as_f64()),
            Value::Count(count) => count.fmt(f),
            Value::Duration(duration) => duration.fmt(f),
            Value::Switch(true) => f.write_str("on"),
            Value::Switch(false) => f.write_str("off"),
        }
    }
}

/// The bounds of times. Below them, a flow would only look for its RTT; above them, it would never do so.
const MIN_TIME: Duration = Duration::from_millis(1);
const MAX_TIME: Duration = Duration::from_secs(3_600);

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}
