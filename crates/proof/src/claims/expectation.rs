//! The expected value of a measure, and its published band.

use super::kinds;
use document::de::Wrong;
use document::tree::Node;
use record::Dimension;
use record::measure::{Measure, Select};
use serde::Deserialize;
use studies::runs::Amount;
use studies::sweep::axis_label;
use units::Duration;

/// One expected number of a claim.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Expectation {
    /// `what`: a description in the claim's words.
    pub what: String,
    /// `measure`: the measure of a record.
    pub measure: &'static Measure,
    /// `flows`, `from` and `to`: the part of the record that is measured.
    pub select: Select,
    /// `at`: the points of the study, as fields and their values; all points if empty.
    pub at: Vec<(String, Vec<String>)>,
    /// `over`: the value is the ratio to the point with these values of these fields.
    pub over: Vec<(String, String)>,
    /// `by`: runs with the same values of these fields form one point, whose value is their median; with `over`, the
    /// ratio of the medians. With an empty list all runs form one point.
    pub by: Option<Vec<String>>,
    /// `at_least` and `at_most`: the published band.
    pub band: Band,
    /// `engines`: the engines that can show it, if not all of the claim's.
    pub engines: Option<Vec<lab::EngineKind>>,
    /// `quick = false`: not part of a first impression, since it takes longer.
    pub is_quick: bool,
    /// `differs`: the known reason why the expectation is not met, on these engines or on all.
    pub differs: Option<(Option<Vec<lab::EngineKind>>, String)>,
    /// `unexplained = true`: `differs` says what is known, but the cause is not established.
    pub is_unexplained: bool,
    /// `never = true`: the timed event never happens at some points, so that there is no value.
    pub never: bool,
}

/// The band of values in which a measure should lie.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
}

impl Band {
    /// True if the value is within the band.
    pub fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least)
            && self.at_most.is_none_or(|most| value <= most)
    }
}

/// The expectation as written in TOML.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[claim.expect]] with measure = \"limit_share\""
)]
struct Raw {
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

impl TryFrom<Raw> for Expectation {
    type Error = Wrong;

    fn try_from(raw: Raw) -> Result<Expectation, Wrong> {
        let measure = Measure::named(&raw.measure);
        let measure = measure
            .map_err(|error| Wrong::new("measure", format!("\"{}\": {error}", raw.measure)))?;
        if raw.what.trim().is_empty() || raw.what.contains(['\n', '\r']) {
            let reason = "is not a line of text; say in one line what is measured";
            return Err(Wrong::new("what", reason));
        }
        for (field, bound) in [("from", raw.from), ("to", raw.to)] {
            if bound.is_some() && !measure.is_windowed {
                let reason = format!(
                    "{} is of the whole run after the warmup; set the study's warmup and duration instead",
                    measure.name
                );
                return Err(Wrong::new(field, reason));
            }
        }
        let over: Vec<(String, String)> = fields("over", raw.over)?
            .into_iter()
            .map(|(field, value)| (field, axis_label(&value)))
            .collect();
        let bound = |field: &str, text: Option<String>| {
            text.map(|text| bound(field, &text, (over.is_empty()).then_some(measure.unit)))
                .transpose()
        };
        let band = Band {
            at_least: bound("at_least", raw.at_least)?,
            at_most: bound("at_most", raw.at_most)?,
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
        if raw.flows.is_some() && kinds::is_of_all_flows(measure) {
            let reason = format!("{} is of all flows together; leave it out", measure.name);
            return Err(Wrong::new("flows", reason));
        }
        if raw
            .differs
            .as_ref()
            .is_some_and(|why| why.trim().is_empty())
        {
            return Err(Wrong::new("differs", "is empty; say why it differs"));
        }
        if raw.differs_on.as_ref().is_some_and(Vec::is_empty) {
            let reason = "is empty; name the engines, or leave it out if it differs on all";
            return Err(Wrong::new("differs_on", reason));
        }
        if raw.never && !kinds::is_of_event(measure) {
            let reason = format!("{} measures no event that may never happen", measure.name);
            return Err(Wrong::new("never", reason));
        }
        if raw.never && !over.is_empty() {
            return Err(Wrong::new("never", "is not for a ratio; leave out over"));
        }
        if raw.differs.is_none() && raw.differs_on.is_some() {
            return Err(Wrong::new(
                "differs",
                "is missing; say why it differs there",
            ));
        }
        if raw.differs.is_none() && raw.unexplained {
            return Err(Wrong::new(
                "differs",
                "is missing; state what is known, and that no cause is established",
            ));
        }
        if raw.differs.is_none() && raw.never {
            return Err(Wrong::new(
                "differs",
                "is missing; say why it never happens",
            ));
        }
        if let (Some(from), Some(to)) = (raw.from, raw.to)
            && from >= to
        {
            return Err(Wrong::new("to", "is not after from"));
        }
        let flows = raw.flows.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|error| Wrong::new("flows", format!("\"{text}\": {error}")))
        });
        Ok(Expectation {
            what: raw.what,
            measure,
            select: Select {
                flows: flows.transpose()?,
                from: raw.from,
                to: raw.to,
            },
            at: fields("at", raw.at)?
                .into_iter()
                .map(|(field, value)| match value {
                    Node::List(values) => (field, values.iter().map(axis_label).collect()),
                    value => (field, vec![axis_label(&value)]),
                })
                .collect(),
            over,
            by: raw.by,
            band,
            engines: raw.engines,
            is_quick: raw.quick,
            differs: raw.differs.map(|why| (raw.differs_on, why)),
            is_unexplained: raw.unexplained,
            never: raw.never,
        })
    }
}

impl Expectation {
    /// The known reason why the expectation is not met on this engine.
    pub fn why_differs(&self, engine: lab::EngineKind) -> Option<&str> {
        let (on, why) = self.differs.as_ref()?;
        let is_there = on.as_ref().is_none_or(|on| on.contains(&engine));
        is_there.then_some(why.as_str())
    }

    /// The unit of the values. A ratio to another point is a plain number.
    pub fn unit(&self) -> Dimension {
        if self.over.is_empty() {
            self.measure.unit
        } else {
            Dimension::Plain
        }
    }
}

/// The largest share: shares are fractions of one, and none is more than twice the whole.
const MAX_SHARE: f64 = 2.0;

/// Reads a bound: a number or a share for a ratio, otherwise a value in the measure's unit. Shares, zero and counts
/// need no unit.
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
            if value.abs() > MAX_SHARE =>
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

/// Reads a table such as `{ "path.loss" = ["1%", "5%"], "flow.controller" = "bbr1" }`, in the order of the text.
pub(super) fn fields(name: &str, value: Option<Node>) -> Result<Vec<(String, Node)>, Wrong> {
    match value {
        None => Ok(Vec::new()),
        Some(Node::Table(entries)) => Ok(entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()),
        Some(_) => Err(Wrong::new(name, "expected a table of fields and values")),
    }
}
