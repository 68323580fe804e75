//! What should be seen: a measure, of what, and within which band.

use super::seen;
use crate::runs::Amount;
use crate::sweep::axis_label;
use record::Dimension;
use record::measure::{Measure, Select};
use scenario::de::Wrong;
use scenario::tree::Node;
use serde::Deserialize;
use units::Duration;

/// One number that a claim says something about.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Said")]
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
    /// `unexplained = true`: `differs` says what is known, and that no cause of it is established.
    pub is_unexplained: bool,
    /// `never = true`: it differs since what is timed never happens at some points, so that there is no value.
    pub never: bool,
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

/// As the text has it.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[claim.expect]] with measure = \"limit_share\""
)]
struct Said {
    what: String,
    measure: String,
    flows: Option<String>,
    from: Option<Duration>,
    to: Option<Duration>,
    at: Option<Node>,
    over: Option<Node>,
    by: Option<Vec<String>>,
    at_least: Option<String>,
    at_most: Option<String>,
    engines: Option<Vec<lab::EngineKind>>,
    #[serde(default = "yes")]
    quick: bool,
    differs: Option<String>,
    differs_on: Option<Vec<lab::EngineKind>>,
    #[serde(default)]
    unexplained: bool,
    #[serde(default)]
    never: bool,
}

const fn yes() -> bool {
    true
}

impl TryFrom<Said> for Expectation {
    type Error = Wrong;

    fn try_from(said: Said) -> Result<Expectation, Wrong> {
        let measure = Measure::named(&said.measure);
        let measure = measure
            .map_err(|error| Wrong::new("measure", format!("\"{}\": {error}", said.measure)))?;
        if said.what.trim().is_empty() || said.what.contains(['\n', '\r']) {
            let reason = "is not a line of text; say in one line what is measured";
            return Err(Wrong::new("what", reason));
        }
        for (field, bound) in [("from", said.from), ("to", said.to)] {
            if bound.is_some() && !measure.is_windowed {
                let reason = format!(
                    "{} is of the whole run after the warmup; set the study's warmup and duration instead",
                    measure.name
                );
                return Err(Wrong::new(field, reason));
            }
        }
        let over: Vec<(String, String)> = fields("over", said.over)?
            .into_iter()
            .map(|(field, value)| (field, axis_label(&value)))
            .collect();
        let bound = |field: &str, text: Option<String>| {
            text.map(|text| bound(field, &text, (over.is_empty()).then_some(measure.unit)))
                .transpose()
        };
        let band = Band {
            at_least: bound("at_least", said.at_least)?,
            at_most: bound("at_most", said.at_most)?,
        };
        match (band.at_least, band.at_most) {
            (None, None) => {
                let reason = "is missing, and at_most too; give the band that was published";
                return Err(Wrong::new("at_least", reason));
            }
            (Some(least), Some(most)) if least > most => {
                return Err(Wrong::new("at_most", "is less than at_least"));
            }
            (Some(least), None) if least <= 0.0 => {
                let reason = "is not above zero: everything is that large";
                return Err(Wrong::new("at_least", reason));
            }
            _ => {}
        }
        if said.flows.is_some() && seen::is_of_all_flows(measure) {
            let reason = format!("{} is of all flows together; leave it out", measure.name);
            return Err(Wrong::new("flows", reason));
        }
        if said
            .differs
            .as_ref()
            .is_some_and(|why| why.trim().is_empty())
        {
            return Err(Wrong::new("differs", "is empty; say why it differs"));
        }
        if said.differs_on.as_ref().is_some_and(Vec::is_empty) {
            let reason = "is empty; name the engines, or leave it out if it differs on all";
            return Err(Wrong::new("differs_on", reason));
        }
        if said.never && !seen::is_of_event(measure) {
            let reason = format!("{} is of no event that may never happen", measure.name);
            return Err(Wrong::new("never", reason));
        }
        if said.never && !over.is_empty() {
            return Err(Wrong::new("never", "is not for a ratio; leave out over"));
        }
        if said.differs.is_none() && said.differs_on.is_some() {
            return Err(Wrong::new(
                "differs",
                "is missing; say why it differs there",
            ));
        }
        if said.differs.is_none() && said.unexplained {
            return Err(Wrong::new(
                "differs",
                "is missing; say what is known of it, and that no cause is established",
            ));
        }
        if said.differs.is_none() && said.never {
            return Err(Wrong::new(
                "differs",
                "is missing; say why it never happens",
            ));
        }
        if let (Some(from), Some(to)) = (said.from, said.to)
            && from >= to
        {
            return Err(Wrong::new("to", "is not after from"));
        }
        let flows = said.flows.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|error| Wrong::new("flows", format!("\"{text}\": {error}")))
        });
        Ok(Expectation {
            what: said.what,
            measure,
            select: Select {
                flows: flows.transpose()?,
                from: said.from,
                to: said.to,
            },
            at: fields("at", said.at)?
                .into_iter()
                .map(|(field, value)| match value {
                    Node::List(values) => (field, values.iter().map(axis_label).collect()),
                    value => (field, vec![axis_label(&value)]),
                })
                .collect(),
            over,
            by: said.by,
            band,
            engines: said.engines,
            is_quick: said.quick,
            differs: said.differs.map(|why| (said.differs_on, why)),
            is_unexplained: said.unexplained,
            never: said.never,
        })
    }
}

impl Expectation {
    /// Why it is not met on this engine, if that is known.
    pub fn why_differs(&self, engine: lab::EngineKind) -> Option<&str> {
        let (on, why) = self.differs.as_ref()?;
        let is_there = on.as_ref().is_none_or(|on| on.contains(&engine));
        is_there.then_some(why.as_str())
    }

    /// What the values count: a ratio to another point is a plain number.
    pub fn unit(&self) -> Dimension {
        if self.over.is_empty() {
            self.measure.unit
        } else {
            Dimension::Plain
        }
    }
}

/// Shares of one are measured, and nothing is more than twice the whole.
const LARGEST_SHARE: f64 = 2.0;

/// A bound: of a ratio a number or a share, else in the measure's unit. A share, zero and what only counts need none.
fn bound(field: &str, text: &str, unit: Option<Dimension>) -> Result<f64, Wrong> {
    let wrong = |reason: &str| Wrong::new(field, format!("{text} {reason}"));
    let (value, of) = match Amount::parse(text) {
        Some(amount) => (amount.value(), amount.unit()),
        // TOML's own spellings of a plain number: 1e12, -1.
        None => {
            let plain = text.trim().parse().ok();
            let plain = plain.filter(|number: &f64| number.is_finite());
            let value = plain.ok_or_else(|| wrong("is not a number such as 0.95, 5% or 40ms"))?;
            (value, Dimension::Plain)
        }
    };
    match (of, unit) {
        (Dimension::Plain | Dimension::Share, Some(Dimension::Share))
            if value.abs() > LARGEST_SHARE =>
        {
            Err(wrong("is not a share; write 90% or 0.9"))
        }
        (Dimension::Plain, Some(Dimension::Rate | Dimension::Time | Dimension::Size))
            if value != 0.0 =>
        {
            Err(wrong("has no unit; write 4mbit, 40ms or 10kb"))
        }
        (Dimension::Plain, _) => Ok(value),
        (Dimension::Share, None) => Ok(value),
        (of, unit) if unit == Some(of) => Ok(value),
        _ => Err(wrong("is of another kind than the measure")),
    }
}

/// `{ "path.loss" = ["1%", "5%"], "flow.controller" = "bbr1" }`, in the order of the text.
fn fields(name: &str, value: Option<Node>) -> Result<Vec<(String, Node)>, Wrong> {
    match value {
        None => Ok(Vec::new()),
        Some(Node::Table(entries)) => Ok(entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()),
        Some(_) => Err(Wrong::new(name, "expected a table of fields and values")),
    }
}
