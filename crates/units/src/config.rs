//! Errors in configurations.

use alloc::borrow::Cow;
use alloc::format;
use core::fmt;

/// An invalid value in a configuration: the field, the problem, and the fix.
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
    /// An error in `field`. `problem` is the rest of a sentence that starts with the field, and includes the fix.
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        problem: impl Into<Cow<'static, str>>,
    ) -> ConfigError {
        ConfigError {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// The same error with `place` in front of the field.
    #[must_use]
    pub fn within(self, place: impl fmt::Display) -> ConfigError {
        ConfigError {
            field: format!("{place}.{}", self.field).into(),
            ..self
        }
    }

    /// The same error for a field with another name in the input.
    #[must_use]
    pub fn of(self, field: impl Into<Cow<'static, str>>) -> ConfigError {
        ConfigError {
            field: field.into(),
            ..self
        }
    }

    /// The field with its place: `rate`, `change[2].at`, `flows[3].receiver.ack_every`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The problem and the fix: the rest of a sentence that starts with the field.
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
