//! Configurations that make no sense.

use std::borrow::Cow;
use std::fmt;

/// A value that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    field: Cow<'static, str>,
    problem: Cow<'static, str>,
}

impl ConfigError {
    /// What is wrong with `field`: the rest of a sentence that starts with the field, the fix included.
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        problem: impl Into<Cow<'static, str>>,
    ) -> ConfigError {
        ConfigError {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// The same error, seen from `place`, which the field is in.
    pub fn within(self, place: impl fmt::Display) -> ConfigError {
        ConfigError {
            field: format!("{place}.{}", self.field).into(),
            ..self
        }
    }

    /// The field, with where it stands: `ack_every`, `sizes.shape`, `flows[3].receiver.ack_every`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it, and the fix: the rest of a sentence that starts with the field.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl std::error::Error for ConfigError {}
