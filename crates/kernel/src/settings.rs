//! A controller with the values of its parameters.

use crate::Algorithm;
use crate::parameters::Value;

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
            ("rtprop-window", "10", "rtprop-window: "),
            (
                "rtprop-window",
                "0s",
                "rtprop-window: expected a time from 1ms to 3600s",
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
