//! A set of cases, in TOML: a sweep without an engine, names for its points, and explanations for differences.

use std::path::Path;

use wildmatch::WildMatch;

use super::quantity::Quantity;
use crate::sweep::{Sweep, SweepError};
use scenario::ScenarioError;
use scenario::value::{self, Entry, Value};

/// A set of cases.
#[derive(Debug, Clone)]
pub struct Set {
    /// `name`: what people call it.
    pub name: String,
    /// `case`: the name of each point, with fields in braces: `{flow.controller}-{path.rate}`.
    pub(super) case: String,
    /// `quick`: patterns of the names of cases that are a first impression.
    pub(super) quick: Vec<WildMatch>,
    /// `[[explained]]`.
    pub(super) explained: Vec<Explanation>,
    /// The rest of it.
    pub(super) sweep: Sweep,
}

/// Why the engines differ in some cases.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// `case`: the pattern of the cases' names.
    pub(super) case: WildMatch,
    /// `quantity`: in what; everything that has a tolerance if not given.
    pub(super) quantity: Option<Quantity>,
    /// `because`: one sentence.
    pub because: String,
}

/// The keys of a set that a sweep has not.
const OWN: [&str; 3] = ["case", "quick", "explained"];
/// Those that it has as a sweep has them.
const SHARED: [&str; 4] = ["name", "scenario", "axes", "together"];

const EXPLAINED: [&str; 3] = ["case", "quantity", "because"];

impl Set {
    /// Reads a set from `text`; files that it names are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text makes no sense. Points are not checked yet.
    pub fn parse(text: &str, directory: &Path) -> Result<Set, SweepError> {
        let entries = Value::from_toml(text)?;
        let numbered = |mut error: ScenarioError| {
            error.line = error.line.or(value::line_of(&entries, &error.field));
            SweepError::Text(error)
        };
        let known = [&SHARED[..], &OWN].concat();
        if let Some(entry) = entries
            .iter()
            .find(|entry| !known.contains(&entry.key.as_str()))
        {
            let key = entry.key.as_str();
            let error = match Sweep::KEYS.contains(&key) {
                true => ScenarioError::new("", "a set has none; it is up to the command"),
                false => ScenarioError::unknown_key(key, &known),
            };
            return Err(numbered(error.within(key)));
        }
        let (own, shared): (Vec<Entry>, Vec<Entry>) = entries
            .iter()
            .cloned()
            .partition(|entry| OWN.contains(&entry.key.as_str()));
        let sweep = Sweep::read(&shared, directory)?;
        let (case, quick, explained) = read_own(&own, &sweep).map_err(numbered)?;
        Ok(Set {
            name: sweep.name.clone().unwrap_or_default(),
            case,
            quick,
            explained,
            sweep,
        })
    }

    /// The name of the case where the fields that vary have these values.
    pub(super) fn name_of(&self, fields: &[String], values: &[String]) -> String {
        let pairs = fields.iter().zip(values);
        pairs.fold(self.case.clone(), |name, (field, value)| {
            name.replace(&format!("{{{field}}}"), value)
        })
    }
}

type Own = (String, Vec<WildMatch>, Vec<Explanation>);

fn read_own(own: &[Entry], sweep: &Sweep) -> Result<Own, ScenarioError> {
    let entry = |key: &str| own.iter().find(|entry| entry.key == key);
    let case = entry("case").ok_or_else(|| {
        ScenarioError::new(
            "case",
            "is missing; name the points, such as \"{flow.controller}-{path.rate}\"",
        )
    })?;
    let case = template(&case.value, sweep).map_err(|error| error.within("case"))?;
    let patterns = |entry: &Entry| entry.value.list(pattern);
    let quick = entry("quick").map(patterns).transpose();
    let quick = quick.map_err(|error| error.within("quick"))?;
    let explained = entry("explained").map(|entry| match &entry.value {
        Value::List(items) => value::items(items, explanation),
        _ => Err(ScenarioError::new("", "is a list; write [[explained]]")),
    });
    let explained = explained.transpose();
    let explained = explained.map_err(|error| error.within("explained"))?;
    Ok((
        case,
        quick.unwrap_or_default(),
        explained.unwrap_or_default(),
    ))
}

/// The names' pattern, if every field in braces is one that varies.
fn template(value: &Value, sweep: &Sweep) -> Result<String, ScenarioError> {
    let text = value.text("a name such as \"{flow.controller}-{path.rate}\"")?;
    let fields = text.split('{').skip(1).map(|part| part.split_once('}'));
    for field in fields {
        let Some((field, _)) = field else {
            return Err(value.wrong("has a brace that is not closed"));
        };
        if !sweep.fields().any(|known| known == field) {
            return Err(value.wrong(&format!("has {{{field}}}, which is no field of an axis")));
        }
    }
    Ok(text.to_string())
}

fn pattern(value: &Value) -> Result<WildMatch, ScenarioError> {
    Ok(WildMatch::new(value.text("a name such as \"bbr1-*\"")?))
}

fn explanation(value: &Value) -> Result<Explanation, ScenarioError> {
    let fields = value.fields("{ case = \"bbr1-*\", because = \"…\" }", &EXPLAINED)?;
    Ok(Explanation {
        case: fields.required("case", pattern)?,
        quantity: fields.optional("quantity", Value::parse)?,
        because: fields.required("because", |because| {
            Ok(because.text("a sentence")?.to_string())
        })?,
    })
}
