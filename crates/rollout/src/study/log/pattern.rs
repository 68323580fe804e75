//! Lines of text, by a pattern such as nginx's `log_format`.

use std::str::FromStr;

use super::Said;
use super::named::{FormatError, Named, REQUIRED_VALUES, named};
use super::times::Unit;

/// A pattern: values, and the text between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The text before the first value.
    before: String,
    /// The index of each value in [`REQUIRED_VALUES`], or `None` if it is not needed, and the text after the value.
    parts: Vec<(Option<usize>, String)>,
    /// The unit of the time taken, if it is not in seconds.
    unit: Option<Unit>,
}

impl FromStr for Pattern {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Pattern, FormatError> {
        let mut pieces = text.split('$');
        let before = pieces.next().unwrap_or_default().to_owned();
        let mut parts: Vec<(Option<usize>, String)> = Vec::new();
        let mut earlier: Option<&str> = None;
        let mut unit = None;
        for piece in pieces {
            let (name, behind) = name(piece);
            if let Some(earlier) = earlier.filter(|_| parts.last().is_some_and(is_bare)) {
                return Err(FormatError::NotSeparated(
                    earlier.to_owned(),
                    name.to_owned(),
                ));
            }
            earlier = Some(name);
            let value = named(name);
            unit = unit.or(value.and_then(|value: Named| value.unit));
            let place = value.map(|value| value.place);
            if let Some(place) = place
                && parts.iter().any(|(other, _)| *other == Some(place))
            {
                return Err(FormatError::Twice(REQUIRED_VALUES[place].0));
            }
            parts.push((place, behind.to_owned()));
        }
        for (place, (what, names)) in REQUIRED_VALUES.iter().enumerate() {
            if !parts.iter().any(|(other, _)| *other == Some(place)) {
                return Err(FormatError::Lacking(
                    what,
                    format!("${what} or ${}", names.join(" or $")),
                ));
            }
        }
        Ok(Pattern {
            before,
            parts,
            unit,
        })
    }
}

fn is_bare((_, behind): &(Option<usize>, String)) -> bool {
    behind.is_empty()
}

/// Splits off the name at the beginning, with or without braces.
fn name(piece: &str) -> (&str, &str) {
    if let Some(inner) = piece.strip_prefix('{')
        && let Some(found) = inner.split_once('}')
    {
        return found;
    }
    let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    piece.split_at(end.unwrap_or(piece.len()))
}

impl Pattern {
    /// The values in a line. A value ends at the first occurrence of the text after it, or at the end of the line.
    pub fn said<'l>(&self, line: &'l str) -> Result<Said<'l>, String> {
        let other = || "is not as the format says".to_owned();
        let mut rest = line.strip_prefix(self.before.as_str()).ok_or_else(other)?;
        let mut said = Said {
            unit: self.unit,
            ..Said::default()
        };
        for (place, behind) in &self.parts {
            let value = if behind.is_empty() {
                std::mem::take(&mut rest)
            } else {
                let (value, others) = rest.split_once(behind.as_str()).ok_or_else(other)?;
                rest = others;
                value
            };
            if let Some(place) = place {
                said.values[*place] = value;
            }
        }
        if rest.is_empty() {
            Ok(said)
        } else {
            Err(other())
        }
    }
}
