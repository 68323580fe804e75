//! `--set path.loss=2%`: a field of a scenario, replaced.

use std::str::FromStr;

use lab::scenario::{Draft, ScenarioError};

use crate::failure::Failure;
use crate::input::Input;

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
    /// Replaces the field in `draft`.
    pub fn apply_to(&self, draft: &mut Draft) -> Result<(), Failure> {
        draft
            .set(&self.field, &self.text)
            .map_err(|error| self.wrong(&error))
    }

    /// The failure that a scenario makes no sense: of an override's option if it is about one, else of the input.
    pub fn blame(
        error: &ScenarioError,
        draft: &Draft,
        overrides: &[Override],
        input: &Input,
    ) -> Failure {
        let culprit = draft.culprit(error);
        let named = |given: &&Override| Some(given.field.as_str()) == culprit;
        match overrides.iter().rev().find(named) {
            Some(given) => given.wrong(error),
            None => input.wrong(error),
        }
    }

    fn wrong(&self, error: &ScenarioError) -> Failure {
        let given = format_args!("--set {}={}", self.field, self.text);
        match error.field == self.field {
            true => Failure::usage(format_args!("{given}: {}", error.reason)),
            false => Failure::usage(format_args!("{given}: {error}")),
        }
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
