//! Untyped values: from a TOML file, with their lines, or from a command-line option, as text.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{DocumentError, Reason, shortened};

/// A value before its type is known.
#[derive(Debug, Clone)]
pub enum Node {
    /// A string, number or boolean, as written.
    Scalar(String),
    /// A table.
    Table(Vec<Entry>),
    /// A list.
    List(Vec<Node>),
}

/// One `key = value`.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Node,
    /// The line of the text, counted from one; `None` for options.
    pub line: Option<usize>,
}

impl Entry {
    /// Returns an entry without a line.
    pub fn new(key: &str, value: Node) -> Entry {
        let key = key.to_string();
        Entry {
            key,
            value,
            line: None,
        }
    }
}

impl Node {
    /// Returns the value of an option or override: `key=value,key=value` is a table; TOML's lists, tables and texts in
    /// quotes are such; everything else is a scalar.
    pub fn from_option(text: &str) -> Node {
        if text.trim_start().starts_with(['[', '{', '"', '\''])
            && let Ok(document) = DeTable::parse(&format!("value = {text}"))
            && let Some((_, value)) = document.get_ref().iter().next()
        {
            return convert(value, None);
        }
        if !text.contains('=') {
            return Node::Scalar(text.trim().to_string());
        }
        let entry = |part: &str| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Entry {
                key: key.trim().to_string(),
                value: Node::Scalar(value.trim().to_string()),
                line: None,
            }
        };
        Node::Table(text.split(',').map(entry).collect())
    }

    /// Writes the value as an option that [`Node::from_option`] reads.
    pub fn to_option(&self) -> String {
        match self {
            Node::Scalar(text) => text.clone(),
            Node::Table(entries) => {
                let entry = |entry: &Entry| format!("{}={}", entry.key, entry.value.to_option());
                entries.iter().map(entry).collect::<Vec<_>>().join(",")
            }
            Node::List(items) => {
                let items: Vec<_> = items.iter().map(Node::to_option).collect();
                format!("[{}]", items.join(","))
            }
        }
    }

    /// Reads a TOML document.
    pub fn from_toml(text: &str) -> Result<Vec<Entry>, DocumentError> {
        let lines = Lines::new(text);
        let document = DeTable::parse(text).map_err(|error| {
            let mut message = error.message().replace('\n', ", ");
            if let Some(span) = error.span()
                && message == "duplicate key"
                && text
                    .get(..span.start)
                    .is_some_and(|text| text.ends_with('['))
            {
                message += "; give several tables of one name in double brackets, such as [[rule]]";
            }
            let culprit = error.span().and_then(|span| text.get(span));
            let culprit = culprit.filter(|text| !text.is_empty() && !text.contains('\n'));
            DocumentError {
                line: error.span().map(|span| lines.at(span.start)),
                ..DocumentError::new(
                    "",
                    match culprit {
                        Some(culprit) => format!("\"{}\": {message}", shortened(culprit)),
                        None => message,
                    },
                )
            }
        })?;
        Ok(entries(document.get_ref(), Some(&lines)))
    }

    /// Returns the scalar's text.
    pub fn text(&self, expected: &str) -> Result<&str, DocumentError> {
        let found = match self {
            Node::Scalar(text) => return Ok(text),
            Node::Table(_) => "a table",
            Node::List(_) => "a list",
        };
        Err(DocumentError::new(
            "",
            format!("expected {expected}, not {found}"),
        ))
    }

    /// Returns the table's entries.
    pub fn entries(&self, expected: &str) -> Result<&[Entry], DocumentError> {
        match self {
            Node::Table(entries) => Ok(entries),
            _ => Err(DocumentError::new("", format!("expected {expected}"))),
        }
    }

    /// Returns the error that this value has `reason`; its text shows the value.
    pub fn wrong(&self, reason: &str) -> DocumentError {
        let shown = match self {
            Node::Scalar(text) => shortened(text),
            Node::Table(_) => "this table".into(),
            Node::List(_) => "this list".into(),
        };
        DocumentError::new("", Reason::of(shown).words(format!(" {reason}")))
    }
}

impl DocumentError {
    /// Returns the error with the line of its field in the text with these entries, if it has none yet.
    #[must_use]
    pub fn on_line_in(mut self, entries: &[Entry]) -> DocumentError {
        self.line = self.line.or_else(|| line_of(entries, &self.field));
        self
    }
}

/// Reads every item of the list by `read`. An error names the item by its index, counted from zero, unless there is
/// only one.
pub fn items<T>(
    list: &[Node],
    read: impl Fn(&Node) -> Result<T, DocumentError>,
) -> Result<Vec<T>, DocumentError> {
    let numbered = |(index, value)| {
        read(value).map_err(|error| match list.len() {
            1 => error,
            _ => error.item(index),
        })
    };
    list.iter().enumerate().map(numbered).collect()
}

/// The line of the field with this name in errors, or else of the table that should have it.
pub fn line_of(entries: &[Entry], field: &str) -> Option<usize> {
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    let (key, index) = match first.split_once('[') {
        Some((key, index)) => (key, index.trim_end_matches(']').parse().ok()),
        None => (first, None),
    };
    let entry = entries.iter().find(|entry| entry.key == key)?;
    let inner = match &entry.value {
        // An item of a list need not be named if it is the only one.
        Node::List(items) if index.is_some() || !rest.is_empty() => items.get(index.unwrap_or(0)),
        Node::Table(_) if !rest.is_empty() => Some(&entry.value),
        _ => None,
    };
    match inner {
        Some(Node::Table(inner)) => line_of(inner, rest)
            .or_else(|| inner.iter().find_map(|entry| entry.line))
            .or(entry.line),
        _ => entry.line,
    }
}

fn entries(table: &DeTable<'_>, lines: Option<&Lines>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            value: convert(value, lines),
            line: lines.map(|lines| lines.at(key.span().start)),
        })
        .collect();
    // The order of the text, so that the first mistake is reported first.
    entries.sort_by_key(|entry| entry.line);
    entries
}

/// Converts the value. Its keys have the lines of the text if it has several.
fn convert(value: &Spanned<DeValue<'_>>, lines: Option<&Lines>) -> Node {
    match value.get_ref() {
        DeValue::String(text) => Node::Scalar(text.to_string()),
        DeValue::Integer(number) => Node::Scalar(number.to_string()),
        DeValue::Float(number) => Node::Scalar(number.to_string()),
        DeValue::Boolean(value) => Node::Scalar(value.to_string()),
        DeValue::Datetime(value) => Node::Scalar(value.to_string()),
        DeValue::Array(values) => {
            Node::List(values.iter().map(|value| convert(value, lines)).collect())
        }
        DeValue::Table(table) => Node::Table(entries(table, lines)),
    }
}

/// The offsets of a text's lines.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        let newlines = text.match_indices('\n').map(|(at, _)| at);
        Lines(newlines.collect())
    }

    /// The line, counted from one, of the byte at `offset`.
    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|newline| *newline < offset)
    }
}
