//! A configuration that makes no sense.

use std::fmt;

/// A value that makes no sense, with where it stands and the way to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    place: String,
    problem: String,
}

impl ConfigError {
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> ConfigError {
        ConfigError {
            place: place.into(),
            problem: problem.into(),
        }
    }

    /// The same error, found inside of `place`.
    pub(crate) fn inside(self, place: &str) -> ConfigError {
        ConfigError {
            place: format!("{place}.{}", self.place),
            ..self
        }
    }

    /// Where: `links[0].loss.p`, `flows[3].host`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is wrong with it, and the fix: the rest of a sentence that starts with the place.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.problem)
    }
}

impl std::error::Error for ConfigError {}
