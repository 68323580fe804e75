//! Configurations that make no sense.

use alloc::borrow::Cow;
use alloc::format;
use core::fmt;

/// A value of a configuration that makes no sense: which field, what is wrong with it, and the fix.
///
/// ```
/// use units::ConfigError;
///
/// let error = ConfigError::new("delay", "is zero; give at least 1ns").within("links[2]");
/// assert_eq!(error.field(), "links[2].delay");
/// assert_eq!(error.to_string(), "links[2].delay is zero; give at least 1ns");
/// ```
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
    #[must_use]
    pub fn within(self, place: impl fmt::Display) -> ConfigError {
        ConfigError {
            field: format!("{place}.{}", self.field).into(),
            ..self
        }
    }

    /// The same problem, of a field that goes by another name where it was given.
    #[must_use]
    pub fn of(self, field: impl Into<Cow<'static, str>>) -> ConfigError {
        ConfigError {
            field: field.into(),
            ..self
        }
    }

    /// The field, with where it stands: `rate`, `change[2].at`, `flows[3].receiver.ack_every`.
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

impl core::error::Error for ConfigError {}
