//! The parameters of a controller, which are set before it is loaded into a kernel.

use std::fmt;
use std::str::FromStr;

use units::{Duration, Ratio};

use crate::Algorithm;
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
    /// Whether a feature is on.
    Switch(bool),
}

impl Value {
    /// The value as a word of the BPF program.
    fn word(self) -> u64 {
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
    fn of_word(self, word: u64) -> Value {
        match self {
            Value::Gain(_) => Value::Gain(ratio(word)),
            Value::Share(_) => Value::Share(ratio(word)),
            Value::Count(_) => Value::Count(word),
            Value::Duration(_) => Value::Duration(Duration::from_nanos(word)),
            Value::Switch(_) => Value::Switch(word != 0),
        }
    }

    /// The value of the same kind from a text.
    fn parse(self, text: &str) -> Result<Value, String> {
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
                span if (LEAST..=MOST).contains(&span) => Ok(Value::Duration(span)),
                _ => Err(format!("expected a time from {LEAST} to {MOST}")),
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
const LEAST: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_secs(3_600);

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A controller and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    algorithm: Algorithm,
    values: Vec<Value>,
}

/// A setting is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The controller has no such parameter.
    #[error("{algorithm} has no parameter {name}; it has {known}")]
    Unknown {
        /// The controller.
        algorithm: Algorithm,
        /// The requested name.
        name: String,
        /// The existing parameters, separated by commas.
        known: String,
    },
    /// The value is of another kind, or out of bounds.
    #[error("{name}: {reason}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// The reason.
        reason: String,
    },
}

impl Settings {
    /// The default of each parameter.
    pub fn new(algorithm: Algorithm) -> Settings {
        let values = algorithm.parameters().iter().map(|known| known.default);
        Settings {
            algorithm,
            values: values.collect(),
        }
    }

    /// The controller of these settings.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Sets a parameter to the value in a text.
    ///
    /// # Errors
    ///
    /// The controller has no such parameter, or the text is no value for it.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ParameterError> {
        let known = self.algorithm.parameters();
        let Some(place) = known.iter().position(|parameter| parameter.name == name) else {
            let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            return Err(ParameterError::Unknown {
                algorithm: self.algorithm,
                name: name.to_owned(),
                known: names.join(", "),
            });
        };
        let parameter = known[place];
        let wrong = |reason| ParameterError::Value {
            name: parameter.name,
            reason,
        };
        self.values[place] = parameter.default.parse(text).map_err(wrong)?;
        Ok(())
    }

    /// The parameters with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        let names = self.algorithm.parameters().iter().map(|known| known.name);
        names.zip(self.values.iter().copied())
    }

    /// The settings as the BPF program has them: `struct config`.
    pub fn words(&self) -> Vec<u64> {
        self.values.iter().map(|value| value.word()).collect()
    }

    /// The settings that a BPF program has.
    pub fn of_words(algorithm: Algorithm, words: &[u64]) -> Settings {
        let values = algorithm.parameters().iter().zip(words);
        Settings {
            algorithm,
            values: values
                .map(|(known, &word)| known.default.of_word(word))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_in_the_words_and_comes_back_from_them() {
        for &algorithm in Algorithm::ALL {
            let mut settings = Settings::new(algorithm);
            settings.set("pacing-margin", "2%").unwrap();
            assert_ne!(settings, Settings::new(algorithm));
            let back = Settings::of_words(algorithm, &settings.words());
            assert_eq!(back, settings);
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let mut settings = Settings::new(Algorithm::Bbr1);
        let wrong = [
            ("gain", "1", "has no parameter gain; it has high-gain,"),
            ("high-gain", "fast", "high-gain: expected a gain"),
            ("cycle-phases", "0", "cycle-phases: expected a number"),
            ("policer-model", "yes", "policer-model: expected on or off"),
            ("rt-prop-window", "10", "rt-prop-window: "),
            (
                "rt-prop-window",
                "0s",
                "rt-prop-window: expected a time from 1ms to 3600s",
            ),
            ("cwnd-gain", "0", "cwnd-gain: expected a gain from 0.01"),
            ("cwnd-gain", "5", "cwnd-gain: expected a gain from 0.01"),
            (
                "pacing-margin",
                "101%",
                "pacing-margin: expected a share from 0%",
            ),
        ];
        for (name, text, part) in wrong {
            let error = settings.set(name, text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(settings, Settings::new(Algorithm::Bbr1));
    }
}
