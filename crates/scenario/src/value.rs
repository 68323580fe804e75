//! Values as they come: from a TOML file, with their lines, or from a command-line option, as text.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, Duration, Rate, Ratio};

use super::error::ScenarioError;

/// Errors show so many characters of a value.
const MOST_SHOWN: usize = 60;

/// A value before it is known what it should mean.
#[derive(Debug, Clone)]
pub enum Value {
    /// A string, number or boolean, as it is written.
    Scalar(String),
    /// A table.
    Table(Vec<Entry>),
    /// A list.
    List(Vec<Value>),
}

/// One `key = value`.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is called.
    pub key: String,
    /// What it says.
    pub value: Value,
    /// The line of the text, counted from one; `None` for options.
    pub line: Option<usize>,
}

impl Entry {
    /// One that is in no text.
    pub fn new(key: &str, value: Value) -> Entry {
        let key = key.to_string();
        Entry {
            key,
            value,
            line: None,
        }
    }
}

impl Value {
    /// The value of an option or override: `key=value,key=value` is a table; what TOML would call a list or a table is
    /// one; everything else is a scalar.
    pub fn from_option(text: &str) -> Value {
        if text.trim_start().starts_with(['[', '{'])
            && let Ok(document) = DeTable::parse(&format!("value = {text}"))
            && let Some((_, value)) = document.get_ref().iter().next()
        {
            return convert(value, None);
        }
        if !text.contains('=') {
            return Value::Scalar(text.trim().to_string());
        }
        let entry = |part: &str| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Entry {
                key: key.trim().to_string(),
                value: Value::Scalar(value.trim().to_string()),
                line: None,
            }
        };
        Value::Table(text.split(',').map(entry).collect())
    }

    /// Reads a TOML document.
    pub fn from_toml(text: &str) -> Result<Vec<Entry>, ScenarioError> {
        let lines = Lines::new(text);
        let document = DeTable::parse(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            let culprit = error.span().and_then(|span| text.get(span));
            let culprit = culprit.filter(|text| !text.is_empty() && !text.contains('\n'));
            ScenarioError {
                line: error.span().map(|span| lines.at(span.start)),
                field: String::new(),
                reason: match culprit {
                    Some(culprit) => format!("\"{culprit}\": {message}"),
                    None => message,
                },
            }
        })?;
        Ok(entries(document.get_ref(), Some(&lines)))
    }

    /// The scalar's text, parsed as a `T`.
    pub fn parse<T: FromStr>(&self) -> Result<T, ScenarioError>
    where
        T::Err: fmt::Display,
    {
        let text = self.text("one value")?;
        text.parse()
            .map_err(|reason| ScenarioError::new("", format!("\"{}\": {reason}", shortened(text))))
    }

    /// The scalar as a whole number.
    pub fn whole(&self) -> Result<u64, ScenarioError> {
        let text = self.text("a whole number")?;
        text.parse()
            .map_err(|_| self.wrong("is no whole number such as 1"))
    }

    /// The scalar as a rate above zero.
    pub fn positive_rate(&self) -> Result<Rate, ScenarioError> {
        let rate: Rate = self.parse()?;
        match rate.is_zero() {
            true => Err(self.wrong("makes no sense; give a rate such as 20mbit")),
            false => Ok(rate),
        }
    }

    /// The scalar as a time above zero.
    pub fn positive_time(&self) -> Result<Duration, ScenarioError> {
        let span: Duration = self.parse()?;
        match span.is_zero() {
            true => Err(self.wrong("makes no sense; give a time such as 10ms")),
            false => Ok(span),
        }
    }

    /// The scalar as a size above zero.
    pub fn positive_size(&self) -> Result<Bytes, ScenarioError> {
        let size: Bytes = self.parse()?;
        match size.is_zero() {
            true => Err(self.wrong("makes no sense; give a size such as 100kb")),
            false => Ok(size),
        }
    }

    /// The scalar as a share of at most 100 %.
    pub fn share(&self) -> Result<Ratio, ScenarioError> {
        let text = self.text("a share such as 1%")?;
        // More than 100 % deserves a better answer than "not a share", however much it is.
        let percent = text.trim().strip_suffix('%').map(str::trim_end);
        let number = percent.unwrap_or(text).parse::<f64>().unwrap_or(0.0);
        if number > if percent.is_some() { 100.0 } else { 1.0 } {
            return Err(self.wrong("is more than 100%"));
        }
        self.parse()
    }

    /// The scalar as `true` or `false`.
    pub fn yes_or_no(&self) -> Result<bool, ScenarioError> {
        let text = self.text("true or false")?;
        text.parse()
            .map_err(|_| self.wrong("is neither true nor false"))
    }

    /// Every item of the list as `read` understands it.
    pub fn list<T>(
        &self,
        read: impl Fn(&Value) -> Result<T, ScenarioError>,
    ) -> Result<Vec<T>, ScenarioError> {
        match self {
            Value::List(list) => items(list, read),
            _ => Err(self.wrong("is no list such as [\"1mbit\", \"5mbit\"]")),
        }
    }

    /// What the scalar is the name of; `what` all of them are.
    pub fn one_of<T: Copy>(&self, what: &str, named: &[(&str, T)]) -> Result<T, ScenarioError> {
        let names = || named.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let text = self.text(&format!("a {what} such as {}", names().join(" or ")))?;
        let found = named.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            self.wrong(&format!(
                "is no known {what}; known: {}",
                names().join(", ")
            ))
        })
    }

    /// What `kind` says, one of `known`, and the table that says it: `"codel"` is short for `{ kind = "codel" }`.
    pub fn kind<'k>(
        &self,
        what: &str,
        known: &[&'k str],
    ) -> Result<(&'k str, Value), ScenarioError> {
        let named: Vec<_> = known.iter().map(|kind| (*kind, *kind)).collect();
        let Value::Table(entries) = self else {
            return Ok((self.one_of(what, &named)?, Value::Table(Vec::new())));
        };
        let fields = Fields { entries };
        let kind = fields.required("kind", |kind| kind.one_of(what, &named))?;
        Ok((kind, self.clone()))
    }

    /// The scalar's text.
    pub fn text(&self, expected: &str) -> Result<&str, ScenarioError> {
        let found = match self {
            Value::Scalar(text) => return Ok(text),
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
        };
        Err(ScenarioError::new(
            "",
            format!("expected {expected}, not {found}"),
        ))
    }

    /// The table's entries.
    pub fn entries(&self, expected: &str) -> Result<&[Entry], ScenarioError> {
        match self {
            Value::Table(entries) => Ok(entries),
            _ => Err(ScenarioError::new("", format!("expected {expected}"))),
        }
    }

    /// The table's fields, all of them among `known`; `example` shows what is expected.
    pub fn fields(&self, example: &str, known: &[&str]) -> Result<Fields<'_>, ScenarioError> {
        let entries = self.entries(&format!("a table such as {example}"))?;
        match entries
            .iter()
            .find(|entry| !known.contains(&entry.key.as_str()))
        {
            Some(entry) => Err(ScenarioError::unknown_key(&entry.key, known).within(&entry.key)),
            None => Ok(Fields { entries }),
        }
    }

    /// The error that this value, which it shows, has `reason`.
    pub fn wrong(&self, reason: &str) -> ScenarioError {
        let shown = match self {
            Value::Scalar(text) => shortened(text),
            Value::Table(_) => "this table".into(),
            Value::List(_) => "this list".into(),
        };
        ScenarioError::new("", format!("{shown} {reason}"))
    }
}

/// The beginning of a text that is too long for a line that a person reads.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// The fields of a table whose keys are all known.
pub struct Fields<'v> {
    entries: &'v [Entry],
}

impl Fields<'_> {
    /// The field `key` as `read` understands it, if it is given.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, ScenarioError>,
    ) -> Result<Option<T>, ScenarioError> {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        let read = entry.map(|entry| read(&entry.value));
        read.transpose().map_err(|error| error.within(key))
    }

    /// The field `key` as `read` understands it, or `usual` if it is not given.
    pub fn or<T>(
        &self,
        key: &str,
        usual: T,
        read: impl Fn(&Value) -> Result<T, ScenarioError>,
    ) -> Result<T, ScenarioError> {
        Ok(self.optional(key, read)?.unwrap_or(usual))
    }

    /// The field `key` as `read` understands it.
    pub fn required<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, ScenarioError>,
    ) -> Result<T, ScenarioError> {
        let missing = || ScenarioError::new(key, "is missing");
        self.optional(key, read)?.ok_or_else(missing)
    }
}

/// Every item of the list as `read` understands it. An error names the item by its place, counted from zero, unless
/// there is only one.
pub fn items<T>(
    list: &[Value],
    read: impl Fn(&Value) -> Result<T, ScenarioError>,
) -> Result<Vec<T>, ScenarioError> {
    let numbered = |(index, value)| {
        read(value).map_err(|error| match list.len() {
            1 => error,
            _ => error.item(index),
        })
    };
    list.iter().enumerate().map(numbered).collect()
}

/// The line of the field that is called `field` in errors, or else of the table that should have it.
pub fn line_of(entries: &[Entry], field: &str) -> Option<usize> {
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    let (key, index) = match first.split_once('[') {
        Some((key, index)) => (key, index.trim_end_matches(']').parse().ok()),
        None => (first, None),
    };
    let entry = entries.iter().find(|entry| entry.key == key)?;
    let inner = match &entry.value {
        // An item of a list need not be named if it is the only one.
        Value::List(items) if index.is_some() || !rest.is_empty() => items.get(index.unwrap_or(0)),
        Value::Table(_) if !rest.is_empty() => Some(&entry.value),
        _ => None,
    };
    match inner {
        Some(Value::Table(inner)) => line_of(inner, rest)
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
    // In the order of the text, so that the first mistake is reported first.
    entries.sort_by_key(|entry| entry.line);
    entries
}

/// The value, whose keys have the lines of the text if it is one of several.
fn convert(value: &Spanned<DeValue<'_>>, lines: Option<&Lines>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::Scalar(text.to_string()),
        DeValue::Integer(number) => Value::Scalar(number.to_string()),
        DeValue::Float(number) => Value::Scalar(number.to_string()),
        DeValue::Boolean(value) => Value::Scalar(value.to_string()),
        DeValue::Datetime(value) => Value::Scalar(value.to_string()),
        DeValue::Array(values) => {
            Value::List(values.iter().map(|value| convert(value, lines)).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table, lines)),
    }
}

/// Where the lines of a text start.
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
