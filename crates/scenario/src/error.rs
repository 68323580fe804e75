//! What is wrong with a scenario, in one line.

use std::fmt;

use super::tree::{Entry, line_of};

/// A scenario, or one of its fields, makes no sense.
///
/// Prints as one line: where (line of the file, if it came from one), which field, what is wrong and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The line of the scenario's text, counted from one.
    pub line: Option<usize>,
    /// The field, such as `path.rate`; empty if the text as a whole is no scenario.
    pub field: String,
    /// What is wrong with it, and the fix.
    pub reason: String,
}

impl ScenarioError {
    /// What is wrong with a field.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> ScenarioError {
        ScenarioError {
            line: None,
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The same error, with the line of its field in the text with these entries if it has none yet.
    #[must_use]
    pub fn on_line_in(mut self, entries: &[Entry]) -> ScenarioError {
        self.line = self.line.or_else(|| line_of(entries, &self.field));
        self
    }

    /// The same error, in item `index` of a list; [`ScenarioError::within`] puts the list's name before it.
    pub fn item(mut self, index: usize) -> ScenarioError {
        self.field = if self.field.is_empty() {
            format!("[{index}]")
        } else {
            format!("[{index}].{}", self.field)
        };
        self
    }

    /// The same error, seen from the table `table` that the field is in.
    pub fn within(mut self, table: &str) -> ScenarioError {
        self.field = match self.field.chars().next() {
            None => table.to_string(),
            Some('[') => format!("{table}{}", self.field),
            Some(_) => format!("{table}.{}", self.field),
        };
        self
    }
}

/// What is wrong with a key that is none of `known`.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> String {
    match nearest(key, known) {
        Some(near) => format!("unknown key; did you mean `{near}`?"),
        None => format!("unknown key; known: {}", known.join(", ")),
    }
}

/// The one of `known` that `key` was probably meant to be.
pub fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let near = known
        .iter()
        .map(|known| {
            (
                strsim::damerau_levenshtein(&key.to_lowercase(), known),
                *known,
            )
        })
        .min()?;
    let (distance, known) = near;
    (distance <= 1 + known.len() / 3).then_some(known)
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        // One line, whatever was in the text.
        let plain = |text: &str| text.replace(char::is_control, " ");
        if !self.field.is_empty() {
            write!(f, "{}: ", plain(&self.field))?;
        }
        // A library's reason goes on after the field without a colon: `queue.min of 90kb is …`.
        f.write_str(&plain(
            self.reason.strip_prefix("of ").unwrap_or(&self.reason),
        ))
    }
}

impl std::error::Error for ScenarioError {}
