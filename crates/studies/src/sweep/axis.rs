//! The axes of a sweep: fields of the scenario with their values.

use std::collections::HashSet;

use crate::runs::Amount;
use document::DocumentError;
use document::de;
use document::tree::{self, Entry, Node};
use serde::{Deserialize, Deserializer};
use units::bounds::whole;

/// The most values of a range. A list may have any number.
const MAX_STEPS: u64 = 1000;

/// The keys of a range.
const RANGE_KEYS: [&str; 4] = ["from", "to", "steps", "scale"];

/// One or more fields of the scenario that vary together, and their values.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The fields, such as `path.loss` and `flow.0.controller`.
    pub fields: Vec<String>,
    /// Values of all the fields, in the order of the fields.
    pub(super) rows: Vec<Vec<Node>>,
    /// The line in the sweep's text.
    pub(super) line: Option<usize>,
    /// Whether the values are a range.
    pub(super) is_range: bool,
    /// Whether the values are a geometric series.
    pub(super) is_log: bool,
}

impl Axis {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the axis has no values. One that was read always has some.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The values as text, in the order of the fields.
    pub fn labels(&self, row: usize) -> impl Iterator<Item = String> {
        self.rows.get(row).into_iter().flatten().map(label)
    }

    /// The values of one of its fields, as text.
    pub(super) fn values(&self, field: &str) -> Vec<String> {
        let place = self.fields.iter().position(|of| of == field);
        let rows = self.rows.iter();
        rows.filter_map(|row| row.get(place?).map(label)).collect()
    }

    /// Drops the rows in which the field has none of these values.
    pub(super) fn keep(&mut self, field: &str, values: &[Node]) -> Result<(), DocumentError> {
        let Some(place) = self.fields.iter().position(|of| of == field) else {
            return Ok(());
        };
        let wanted: HashSet<String> = values.iter().map(label).collect();
        let is_wanted = |value: &Node| wanted.contains(&label(value));
        self.rows
            .retain(|row| row.get(place).is_some_and(is_wanted));
        if self.rows.is_empty() {
            Err(DocumentError::new("", "has none of these values"))
        } else {
            Ok(())
        }
    }

    /// Reads the axes in `[axes]`: a list or a range of values for each field. A field is named by its path, in quotes
    /// or as nested tables.
    pub(super) fn read_all(value: &Node) -> Result<Vec<Axis>, DocumentError> {
        let entries = value.entries("a table of lists, [axes]")?;
        let mut axes = Vec::new();
        read_into(&mut axes, "", entries)?;
        axes.iter().try_for_each(Axis::check_distinct)?;
        Ok(axes)
    }

    /// Reads the axes in all `[[together]]`.
    pub(super) fn read_groups(groups: &[Node]) -> Result<Vec<Axis>, DocumentError> {
        tree::items(groups, Axis::read_together)
    }

    /// Reads the axis in one `[[together]]`: lists of equal length.
    fn read_together(value: &Node) -> Result<Axis, DocumentError> {
        let entries = value.entries("a table of lists")?;
        let mut fields = Vec::new();
        read_into(&mut fields, "", entries)?;
        let mut fields = fields.into_iter();
        let Some(mut axis) = fields.next() else {
            return Err(DocumentError::new("", "varies nothing; give it two lists"));
        };
        for other in fields {
            if other.len() != axis.len() {
                let reason = format!(
                    "has {} values, but {} has {}; fields that vary together need equally many",
                    other.len(),
                    axis.fields.join(" and "),
                    axis.len()
                );
                return Err(on_line(
                    other.line,
                    DocumentError::new(other.fields.join("."), reason),
                ));
            }
            axis.fields.extend(other.fields);
            for (row, more) in axis.rows.iter_mut().zip(other.rows) {
                row.extend(more);
            }
        }
        axis.check_distinct()?;
        Ok(axis)
    }

    /// Checks that all rows differ.
    fn check_distinct(&self) -> Result<(), DocumentError> {
        let mut seen = HashSet::new();
        let rows = (0..self.len()).map(|row| self.labels(row).collect::<Vec<_>>());
        let twice = rows.into_iter().find(|row| !seen.insert(row.clone()));
        twice.map_or(Ok(()), |row| {
            let reason = format!("has {} twice; give it once", row.join(" "));
            let error = DocumentError::new(self.fields.join(" and "), reason);
            Err(on_line(self.line, error))
        })
    }
}

fn read_into(axes: &mut Vec<Axis>, prefix: &str, entries: &[Entry]) -> Result<(), DocumentError> {
    for entry in entries {
        let field = format!("{prefix}{}", entry.key);
        let is_range = |inner: &[Entry]| {
            inner
                .iter()
                .any(|entry| RANGE_KEYS.contains(&entry.key.as_str()))
        };
        let values = match &entry.value {
            Node::List(values) => Ok((values.clone(), false)),
            Node::Table(inner) if is_range(inner) => range(&entry.value),
            Node::Table(inner) => {
                read_into(axes, &format!("{field}."), inner)?;
                continue;
            }
            Node::Scalar(text) => Err(DocumentError::new(
                "",
                format!(
                    "is one value; write a list such as [\"{text}\"], or replace it in the scenario"
                ),
            )),
        };
        let (values, is_log) = values
            .and_then(|(values, is_log)| {
                if values.is_empty() {
                    Err(DocumentError::new("", "has no values; give it one or more"))
                } else {
                    Ok((values, is_log))
                }
            })
            .map_err(|error| on_line(entry.line, error.within(&field)))?;
        axes.push(Axis {
            fields: vec![field],
            rows: values.into_iter().map(|value| vec![value]).collect(),
            line: entry.line,
            is_range: matches!(entry.value, Node::Table(_)),
            is_log,
        });
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: String,
    to: String,
    #[serde(deserialize_with = "steps")]
    steps: u32,
    #[serde(default)]
    scale: Spacing,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename = "scale", rename_all = "lowercase")]
enum Spacing {
    #[default]
    Linear,
    Log,
}

fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let steps: u64 = whole(
        deserializer,
        2..=MAX_STEPS,
        "steps are out of range; give 2 to 1000",
    )?;
    Ok(steps.try_into().unwrap_or(u32::MAX))
}

/// `{ from = "1mbit", to = "1gbit", steps = 7, scale = "log" }`.
fn range(value: &Node) -> Result<(Vec<Node>, bool), DocumentError> {
    let Range {
        from,
        to,
        steps,
        scale,
    } = de::read(value)?;
    let is_log = scale == Spacing::Log;
    let Some(texts) = Amount::between(&from, &to, steps, is_log) else {
        let zero = Amount::parse(&from).is_some_and(|from| from.value() <= 0.0)
            || Amount::parse(&to).is_some_and(|to| to.value() <= 0.0);
        let reason = if is_log && zero {
            "a range on a log scale cannot touch zero".to_string()
        } else {
            format!(
                "there are no values between {from} and {to}; give two numbers with the same kind of unit, or a list"
            )
        };
        return Err(DocumentError::new("", reason));
    };
    Ok((texts.into_iter().map(Node::Scalar).collect(), is_log))
}

pub(super) fn on_line(line: Option<usize>, mut error: DocumentError) -> DocumentError {
    error.line = error.line.or(line);
    error
}

/// The text of a value. A table is `kind=codel,target=5ms`, as in an option.
pub fn label(value: &Node) -> String {
    match value {
        Node::Scalar(text) => text.clone(),
        Node::Table(entries) => {
            let parts = entries
                .iter()
                .map(|entry| format!("{}={}", entry.key, label(&entry.value)));
            parts.collect::<Vec<_>>().join(",")
        }
        Node::List(values) => {
            let parts: Vec<String> = values.iter().map(label).collect();
            format!("[{}]", parts.join(","))
        }
    }
}
