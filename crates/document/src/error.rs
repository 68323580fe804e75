//! Errors of a document, each in one line.

use std::borrow::Cow;
use std::fmt;

use units::{ConfigError, nearest};

/// The words before an example of a table.
pub(crate) const TABLE: &str = "a table such as ";

/// The maximum length of a value or a key in an error, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// A document, or one of its fields, is invalid.
///
/// Its text is one line: the place (the file's line, if there is one), the field, the reason and the fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentError {
    /// The line of the document's text, counted from one.
    pub line: Option<usize>,
    /// The field, such as `path.rate`; empty if the error concerns the whole text.
    pub field: String,
    /// The reason, and the fix.
    pub reason: Reason,
}

impl DocumentError {
    /// An error of this field, without a line.
    pub fn new(field: impl Into<String>, reason: impl Into<Reason>) -> DocumentError {
        DocumentError {
            line: None,
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The field as it is displayed: in one line, of bounded length.
    pub fn place(&self) -> String {
        match self.field.char_indices().nth(3 * MAX_SHOWN_CHARS) {
            Some((end, _)) => plain(self.field.get(..end).unwrap_or_default()) + "…",
            None => plain(&self.field),
        }
    }

    /// Returns the error in item `index` of a list. [`DocumentError::within`] adds the list's name before it.
    pub fn item(self, index: usize) -> DocumentError {
        self.within(&format!("[{index}]"))
    }

    /// Returns the error relative to the parent of the table `table` that has the field.
    pub fn within(mut self, table: &str) -> DocumentError {
        self.field = below(table, &self.field);
        for part in &mut self.reason.0 {
            if let Part::Meant(meant) = part {
                *meant = below(table, meant);
            }
        }
        self
    }
}

/// The field `field` of the table `table`, as it is displayed.
fn below(table: &str, field: &str) -> String {
    match field.chars().next() {
        None => table.to_string(),
        Some('[') => format!("{table}{field}"),
        Some(_) => format!("{table}.{field}"),
    }
}

impl From<ConfigError> for DocumentError {
    fn from(error: ConfigError) -> DocumentError {
        // The sentence continues after the field without a colon: `queue.min of 90kb is …`.
        let problem = error.problem();
        let reason = problem.strip_prefix("of ").unwrap_or(problem);
        DocumentError::new(error.field(), reason)
    }
}

/// The reason for an error, and the fix. Its parts are typed, since an option, a file and Python's keywords write the
/// same field in different forms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason(Vec<Part>);

/// A part of a [`Reason`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Words(String),
    /// The field's value.
    Value(String),
    /// Another field, such as `path.rate`.
    Field(String),
    /// The field that was probably meant. Unlike [`Part::Field`], it is relative to the same table as the error's
    /// field.
    Meant(String),
    /// A valid example, as a table in TOML.
    Table(String),
}

impl Part {
    /// The part as it is in documents.
    pub fn text(&self) -> &str {
        match self {
            Part::Words(text)
            | Part::Value(text)
            | Part::Field(text)
            | Part::Meant(text)
            | Part::Table(text) => text,
        }
    }
}

impl Reason {
    /// Returns a reason that begins with the value.
    pub fn of(value: impl fmt::Display) -> Reason {
        Reason(vec![Part::Value(value.to_string())])
    }

    /// Adds these words.
    #[must_use]
    pub fn words(self, words: impl Into<String>) -> Reason {
        self.and(Part::Words(words.into()))
    }

    /// Adds the name of a field.
    #[must_use]
    pub fn field(self, field: impl Into<String>) -> Reason {
        self.and(Part::Field(field.into()))
    }

    /// Adds the name of the field that was probably meant.
    #[must_use]
    pub fn meant(self, field: impl Into<String>) -> Reason {
        self.and(Part::Meant(field.into()))
    }

    /// Adds a table in TOML.
    #[must_use]
    pub fn table(self, table: impl Into<String>) -> Reason {
        self.and(Part::Table(table.into()))
    }

    fn and(mut self, part: Part) -> Reason {
        self.0.push(part);
        self
    }

    /// Returns its text in one line, with each part written by `tell`.
    pub fn told(&self, tell: impl Fn(&Part) -> String) -> String {
        self.0.iter().map(|part| plain(&tell(part))).collect()
    }
}

impl From<String> for Reason {
    fn from(words: String) -> Reason {
        Reason::default().words(words)
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Reason {
        words.to_string().into()
    }
}

impl From<&String> for Reason {
    fn from(words: &String) -> Reason {
        words.as_str().into()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(|part| match part {
            Part::Table(table) => format!("{TABLE}{table}"),
            part => part.text().to_string(),
        }))
    }
}

/// Returns the text in one line.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Shortens a text that is too long for a line.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// The names of some keys in other programs and papers.
const SYNONYMS: [(&str, &[&str]); 7] = [
    (
        "rate",
        &["bandwidth", "bw", "capacity", "speed", "throughput"],
    ),
    ("rtt", &["delay", "latency", "rtprop", "min_rtt", "ping"]),
    ("buffer", &["queue_size", "queue_length", "limit"]),
    ("loss", &["packet_loss", "plr", "drop"]),
    ("queue", &["aqm", "qdisc", "discipline"]),
    (
        "controller",
        &["congestion", "congestion_control", "algorithm", "cc", "cca"],
    ),
    ("duration", &["time", "length", "runtime"]),
];

/// Returns the one of `known` that `key` was probably meant to be: one with the same meaning, or else a similar one.
pub fn key_meant<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = key.to_lowercase().replace('-', "_");
    let others = |of: &str| SYNONYMS.iter().find(|(name, _)| *name == of);
    let means = |of: &&&str| others(of).is_some_and(|(_, others)| others.contains(&&*plain));
    known
        .iter()
        .find(means)
        .copied()
        .or_else(|| nearest(key, known))
}

/// Returns the reason for a key that is none of `known`.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> Reason {
    match key_meant(key, known) {
        Some(meant) => unknown_for(meant),
        None => format!("unknown key; known: {}", known.join(", ")).into(),
    }
}

/// Returns the reason for a key that was probably meant to be this field.
pub fn unknown_for(meant: impl Into<String>) -> Reason {
    let reason = Reason::from("unknown key; did you mean `");
    reason.meant(meant).words("`?")
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.place())?;
        }
        self.reason.fmt(f)
    }
}

impl std::error::Error for DocumentError {}
