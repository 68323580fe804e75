//! `--set path.loss=2%`: a field of a scenario, replaced.

use std::fmt::Display;
use std::str::FromStr;

use document::tree::Node;
use document::{DocumentError, Part};
use program::failure::Failure;

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
        set: impl FnOnce(&str, &str) -> Result<(), DocumentError>,
    ) -> Result<(), Failure> {
        set(&self.field, &self.text).map_err(|error| self.wrong(&error))
    }

    /// The last of `overrides` that replaces `field`.
    pub fn named<'o>(overrides: &'o [Override], field: &str) -> Option<&'o Override> {
        overrides.iter().rev().find(|given| given.field == field)
    }

    /// The same field with another text.
    pub fn with(&self, text: &str) -> Override {
        Override {
            field: self.field.clone(),
            text: text.to_owned(),
        }
    }

    pub fn field(&self) -> &str {
        &self.field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The failure for an invalid override. A probable correction is printed in the form in which it is typed:
    /// `path.loss=2%`.
    pub fn wrong(&self, error: &DocumentError) -> Failure {
        let reason = error.reason.told(|part| match part {
            Part::Meant(meant) => self.meant(&error.field, meant),
            Part::Table(table) => Node::from_option(table).to_option(),
            part => part.text().to_owned(),
        });
        if error.field == self.field {
            return self.failure(reason);
        }
        self.failure(format_args!("{}: {reason}", error.place()))
    }

    /// The failure with this reason.
    pub fn failure(&self, reason: impl Display) -> Failure {
        Failure::usage(format_args!("--set {}={}: {reason}", self.field, self.text))
    }

    /// True if an error's field is this field as a whole, or one of several in it.
    fn is(&self, field: &str) -> bool {
        let names = |field: &str| -> Vec<String> {
            let parts = field.split(['.', '[', ']']);
            let named = parts.filter(|part| !part.is_empty() && part.parse::<usize>().is_err());
            named.map(str::to_owned).collect()
        };
        names(field) == names(&self.field)
    }

    /// The probable correction of the error's field: in the same table, or elsewhere.
    fn meant(&self, field: &str, meant: &str) -> String {
        if !self.is(field) {
            // A key within the value: `path.policer=rat=1mbit`.
            return last(meant).to_owned();
        }
        let table = |field: &str| field.strip_suffix(last(field)).map(str::to_owned);
        let meant = match table(&self.field) {
            Some(own) if table(field) == table(meant) => own + last(meant),
            _ => meant.to_owned(),
        };
        format!("{meant}={}", self.text)
    }
}

/// The last key of a field.
fn last(field: &str) -> &str {
    field.rsplit('.').next().unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use scenario::Draft;

    use super::Override;

    #[test]
    fn what_was_meant_is_told_as_it_is_typed() {
        let text = "name = \"x\"\nduration = \"9s\"\n[path]\nrate = \"8mbit\"\n\
                    [[flow]]\ncontroller = \"bbr1\"\n[[flow]]\ncontroller = \"reno\"\n";
        for (given, meant) in [
            ("loss=2%", "path.loss=2%"),
            ("path.bandwidth=9mbit", "path.rate=9mbit"),
            ("flow.contoller=cubic", "flow.controller=cubic"),
            ("flow.1.contoller=cubic", "flow.1.controller=cubic"),
            ("duratoin=3s", "duration=3s"),
            ("path.policer=rat=1mbit,burst=9kb", "rate"),
        ] {
            let mut draft = Draft::parse(text, Path::new("")).expect("TOML");
            let given: Override = given.parse().expect("a field");
            draft.set(given.field(), given.text()).expect("set");
            let told = given.wrong(&draft.read().expect_err("unknown")).to_string();
            let part = format!("unknown key; did you mean `{meant}`?");
            assert!(told.ends_with(&part), "{told}");
        }
    }

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
