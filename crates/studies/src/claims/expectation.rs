//! What should be seen: a measure, of what, and within which band.

use crate::runs::Amount;
use crate::sweep::axis_label;
use record::Unit;
use record::measure::{Measure, Select};
use scenario::ScenarioError;
use scenario::value::Value;

/// One number that a claim says something about.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// `what`: what it is, in the claim's words.
    pub what: String,
    /// `measure`: how it is had from a record.
    pub measure: &'static Measure,
    /// `flows`, `from` and `to`: what of the record is looked at.
    pub select: Select,
    /// `at`: at which points of the study, as fields and their values; at all if there are none.
    pub at: Vec<(String, Vec<String>)>,
    /// `over`: the value is a ratio to that of the point where these fields have these values.
    pub over: Vec<(String, String)>,
    /// `by`: runs that agree in these fields are one point, whose value is the median over them; with `over`, the ratio of
    /// the medians. With an empty list all runs are one point.
    pub by: Option<Vec<String>>,
    /// `at_least` and `at_most`: what was published.
    pub band: Band,
    /// `engines`, if not all of the claim's can show it.
    pub engines: Option<Vec<lab::EngineKind>>,
    /// `quick = false`: what takes longer than a first impression does.
    pub is_quick: bool,
    /// `differs`: why it is not met, if it is known that it is not; on these engines, or on all.
    pub differs: Option<(Option<Vec<lab::EngineKind>>, String)>,
}

/// Between which values something should be.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
}

impl Band {
    /// Whether the value is within it.
    pub fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least)
            && self.at_most.is_none_or(|most| value <= most)
    }
}

const KEYS: [&str; 14] = [
    "what",
    "measure",
    "flows",
    "from",
    "to",
    "at",
    "over",
    "by",
    "at_least",
    "at_most",
    "engines",
    "quick",
    "differs",
    "differs_on",
];

impl Expectation {
    /// Reads one `[[claim.expect]]`; the error's field is relative to it.
    pub(super) fn read(value: &Value) -> Result<Expectation, ScenarioError> {
        let fields = value.fields("[[claim.expect]] with measure = \"limit_share\"", &KEYS)?;
        let measure: &'static Measure = fields.required("measure", |name| {
            let text = name.text("a measure such as limit_share")?;
            Measure::named(text).map_err(|error| name.wrong(&error.to_string()))
        })?;
        let bound = |key| fields.optional(key, |value| bound(value, measure.unit));
        let band = Band {
            at_least: bound("at_least")?,
            at_most: bound("at_most")?,
        };
        match (band.at_least, band.at_most) {
            (None, None) => {
                let reason = "is missing, and at_most too; give the band that was published";
                return Err(ScenarioError::new("at_least", reason));
            }
            (Some(least), Some(most)) if least > most => {
                return Err(ScenarioError::new("at_most", "is less than at_least"));
            }
            _ => {}
        }
        let text = |value: &Value| Ok(value.text("words")?.to_owned());
        let engines_of = |key| fields.optional(key, |value| value.list(Value::parse));
        let differs_on: Option<Vec<lab::EngineKind>> = engines_of("differs_on")?;
        let differs = fields.optional("differs", text)?;
        if differs.is_none() && differs_on.is_some() {
            let reason = "is missing; say why it differs there";
            return Err(ScenarioError::new("differs", reason));
        }
        Ok(Expectation {
            what: fields.required("what", text)?,
            measure,
            select: Select {
                flows: fields.optional("flows", Value::parse)?,
                from: fields.optional("from", Value::parse)?,
                to: fields.optional("to", Value::parse)?,
            },
            at: fields.optional("at", conditions)?.unwrap_or_default(),
            over: fields.optional("over", replacements)?.unwrap_or_default(),
            by: fields.optional("by", names)?,
            band,
            engines: engines_of("engines")?,
            is_quick: fields.or("quick", true, Value::yes_or_no)?,
            differs: differs.map(|why| (differs_on, why)),
        })
    }

    /// Why it is not met on this engine, if that is known.
    pub fn why_differs(&self, engine: lab::EngineKind) -> Option<&str> {
        let (on, why) = self.differs.as_ref()?;
        let is_there = on.as_ref().is_none_or(|on| on.contains(&engine));
        is_there.then_some(why.as_str())
    }

    /// What the values count: a ratio to another point is a plain number.
    pub fn unit(&self) -> Unit {
        if self.over.is_empty() {
            self.measure.unit
        } else {
            Unit::Plain
        }
    }
}

fn names(value: &Value) -> Result<Vec<String>, ScenarioError> {
    value.list(|name| Ok(name.text("a field such as region")?.to_owned()))
}

/// A bound, in the measure's unit or a plain number.
fn bound(value: &Value, unit: Unit) -> Result<f64, ScenarioError> {
    let text = value.text("a number such as 0.95 or 95%")?;
    let amount = Amount::parse(text).ok_or_else(|| value.wrong("is no number"))?;
    let is_fit = amount.unit() == unit || matches!(amount.unit(), Unit::Plain | Unit::Share);
    if is_fit {
        Ok(amount.value())
    } else {
        Err(value.wrong("is of another kind than the measure"))
    }
}

/// `{ "path.loss" = ["1%", "5%"], "flow.controller" = "bbr1" }`.
fn conditions(value: &Value) -> Result<Vec<(String, Vec<String>)>, ScenarioError> {
    let entries = value.entries("a table of fields and values")?.iter();
    let condition = |value: &Value| match value {
        Value::List(values) => values.iter().map(axis_label).collect(),
        value => vec![axis_label(value)],
    };
    Ok(entries
        .map(|entry| (entry.key.clone(), condition(&entry.value)))
        .collect())
}

/// `{ "flow.controller" = "cubic" }`.
fn replacements(value: &Value) -> Result<Vec<(String, String)>, ScenarioError> {
    let entries = value.entries("a table of fields and values")?.iter();
    Ok(entries
        .map(|entry| (entry.key.clone(), axis_label(&entry.value)))
        .collect())
}
