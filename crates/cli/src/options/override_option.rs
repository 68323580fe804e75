//! `--set path.loss=2%`: a field of a scenario, replaced.

use std::str::FromStr;

use scenario::ScenarioError;

use crate::failure::Failure;

/// A field and its text.
#[derive(Debug, Clone)]
pub struct Override {
    field: String,
    text: String,
}

impl FromStr for Override {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Override, &'static str> {
        match text.split_once('=') {
            Some((field, text)) if !field.trim().is_empty() => Ok(Override {
                field: field.trim().to_owned(),
                text: text.trim().to_owned(),
            }),
            _ => Err("expected a field and its value, such as path.loss=2%"),
        }
    }
}

impl Override {
    /// Replaces the field with `set`.
    pub fn apply(
        &self,
        set: impl FnOnce(&str, &str) -> Result<(), ScenarioError>,
    ) -> Result<(), Failure> {
        set(&self.field, &self.text).map_err(|error| self.wrong(&error))
    }

    /// The last of `overrides` that replaces `field`.
    pub fn named<'o>(overrides: &'o [Override], field: &str) -> Option<&'o Override> {
        overrides.iter().rev().find(|given| given.field == field)
    }

    /// The failure for an invalid override.
    pub fn wrong(&self, error: &ScenarioError) -> Failure {
        let given = format_args!("--set {}={}", self.field, self.text);
        if error.field == self.field {
            return Failure::usage(format_args!("{given}: {}", error.reason));
        }
        Failure::usage(format_args!("{given}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Override;

    #[test]
    fn the_first_equals_sign_ends_the_field() {
        let given: Override = "path.policer=rate=1mbit,burst=9kb"
            .parse()
            .expect("a field");
        assert_eq!(
            (given.field.as_str(), given.text.as_str()),
            ("path.policer", "rate=1mbit,burst=9kb")
        );
        for text in ["path.loss", "=1%", ""] {
            assert!(text.parse::<Override>().is_err(), "{text}");
        }
    }
}
