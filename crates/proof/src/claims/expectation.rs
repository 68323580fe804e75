//! The expected value of a measure, and its published band.

use super::band::{Band, read_bound};
use super::differs::{self, Differs};
use super::kinds;
use super::points::{fields, labels};
use document::de::Wrong;
use document::tree::Node;
use record::Dimension;
use record::measure::{Measure, Select};
use serde::Deserialize;
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
    /// `[[claim.expect.differs]]`: the points that are known to lie outside the band.
    pub differs: Vec<Differs>,
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
    #[serde(default)]
    differs: Vec<differs::Raw>,
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
        let unit = over.is_empty().then_some(measure.unit);
        let band = Band::read(raw.at_least, raw.at_most, |field, text| {
            read_bound(field, text, unit)
        })?;
        match (band.at_least, band.at_most) {
            (None, None) => {
                let reason = "is missing, and at_most too; give the band that was published";
                return Err(Wrong::new("at_least", reason));
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
        let differs = raw.differs.into_iter().enumerate().map(|(place, of)| {
            of.read(measure, unit).map_err(|error| Wrong {
                field: format!("differs[{place}].{}", error.field),
                ..error
            })
        });
        let differs = differs.collect::<Result<Vec<_>, Wrong>>()?;
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
            at: labels(fields("at", raw.at)?),
            over,
            by: raw.by,
            band,
            engines: raw.engines,
            is_quick: raw.quick,
            differs,
        })
    }
}

impl Expectation {
    /// The points that are known to differ on this engine.
    pub fn differs_on(&self, engine: lab::EngineKind) -> impl Iterator<Item = &Differs> {
        self.differs.iter().filter(move |of| of.is_on(engine))
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
