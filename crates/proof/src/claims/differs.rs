//! Points of an expectation that are known to lie outside the published band.

use super::band::{Band, read_bound};
use super::kinds;
use super::points::{fields, labels};
use document::de::Wrong;
use document::tree::Node;
use record::Dimension;
use record::measure::Measure;
use serde::Deserialize;

/// Points that are known to lie outside the published band, where they lie, and why.
#[derive(Debug, Clone)]
pub struct Differs {
    /// `why`: the cause, or what is known of it.
    pub why: String,
    /// `at`: the points, each table as fields and their values; all points of the expectation if empty.
    pub at: Vec<Vec<(String, Vec<String>)>>,
    /// `at_least` and `at_most`: the range of the points' values in full runs of the simulator.
    pub range: Band,
    /// `engines`: the engines on which they differ, if not all that show the expectation.
    pub engines: Option<Vec<lab::EngineKind>>,
    /// `unexplained = true`: `why` says what is known, but the cause is not established.
    pub is_unexplained: bool,
    /// `never = true`: the timed event never happens there, so that there is no value.
    pub never: bool,
}

/// The points as written in TOML.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[claim.expect.differs]] with why = \"the buffer is too short\""
)]
pub(super) struct Raw {
    why: String,
    at: Option<Node>,
    at_least: Option<String>,
    at_most: Option<String>,
    engines: Option<Vec<lab::EngineKind>>,
    #[serde(default)]
    unexplained: bool,
    #[serde(default)]
    never: bool,
}

impl Raw {
    /// Reads the points of an expectation of this measure, whose bounds have this unit; a ratio has none.
    pub(super) fn read(self, measure: &Measure, unit: Option<Dimension>) -> Result<Differs, Wrong> {
        if self.why.trim().is_empty() || self.why.contains(['\n', '\r']) {
            let reason = "is not a line of text; say in one line why these points differ";
            return Err(Wrong::new("why", reason));
        }
        if self.engines.as_ref().is_some_and(Vec::is_empty) {
            let reason =
                "is empty; name the engines, or leave it out if the points differ on all of them";
            return Err(Wrong::new("engines", reason));
        }
        let range = Band::read(self.at_least, self.at_most, |field, text| {
            read_bound(field, text, unit)
        })?;
        let has_bounds = [range.at_least, range.at_most].map(|bound| bound.is_some());
        match has_bounds {
            [true, false] => return Err(Wrong::new("at_most", "is missing; a range has two ends")),
            [false, true] => {
                return Err(Wrong::new("at_least", "is missing; a range has two ends"));
            }
            [true, true] if self.never => {
                let reason = "is of points without a value; leave out at_least and at_most";
                return Err(Wrong::new("never", reason));
            }
            _ => {}
        }
        if self.never && !kinds::is_of_event(measure) {
            let reason = format!("{} measures no event that may never happen", measure.name);
            return Err(Wrong::new("never", reason));
        }
        if self.never && unit.is_none() {
            return Err(Wrong::new("never", "is not for a ratio; leave out over"));
        }
        let tables = match self.at {
            Some(Node::List(tables)) => tables,
            at => at.into_iter().collect(),
        };
        let at = tables
            .into_iter()
            .map(|table| Ok(labels(fields("at", Some(table))?)));
        Ok(Differs {
            why: self.why,
            at: at.collect::<Result<_, Wrong>>()?,
            range,
            engines: self.engines,
            is_unexplained: self.unexplained,
            never: self.never,
        })
    }
}

impl Differs {
    /// True if the points differ on this engine.
    pub fn is_on(&self, engine: lab::EngineKind) -> bool {
        let engines = self.engines.as_ref();
        engines.is_none_or(|engines| engines.contains(&engine))
    }

    /// True if the range of the points' values is given.
    pub fn has_range(&self) -> bool {
        self.range != Band::default()
    }

    /// True if it names the point with these values of these fields.
    pub fn names(&self, fields: &[String], point: &[String]) -> bool {
        let value = |field: &String| {
            let place = fields.iter().position(|of| of == field)?;
            point.get(place)
        };
        let meets = |(field, values): &(String, Vec<String>)| {
            value(field).is_some_and(|value| values.contains(value))
        };
        self.at.is_empty() || self.at.iter().any(|table| table.iter().all(meets))
    }
}
