//! A set of cases, in TOML: a sweep without an engine, names for its points, and explanations for differences.

use std::path::Path;

use wildmatch::WildMatch;

use super::quantity::Quantity;
use document::tree::Node;
use document::{DocumentError, de};
use serde::{Deserialize, Deserializer};
use studies::sweep::{Sweep, SweepError};
use units::bounds::given;

/// A set of cases.
#[derive(Debug, Clone)]
pub struct Set {
    /// `name`: the name of the set.
    pub name: String,
    /// `case`: the name of each point, with fields in braces: `{flow.controller}-{path.rate}`.
    pub(super) case: String,
    /// `quick`: patterns of the cases' names for a first impression.
    pub(super) quick: Vec<WildMatch>,
    /// `chance`: patterns of the cases' names that vary by chance more than by engine.
    pub(super) chance: Vec<WildMatch>,
    /// `[[explained]]`.
    pub(super) explained: Vec<Explanation>,
    /// The other keys, as a sweep.
    pub(super) sweep: Sweep,
}

/// The reason why the engines differ in some cases.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { case = \"bbr1-*\", because = \"…\" }"
)]
pub struct Explanation {
    /// `case`: the pattern of the cases' names.
    #[serde(deserialize_with = "pattern")]
    pub(super) case: WildMatch,
    /// `quantity`: the quantity that differs; by default every quantity with a tolerance.
    #[serde(default, deserialize_with = "given")]
    pub(super) quantity: Option<Quantity>,
    /// `because`: one sentence.
    pub because: String,
}

/// The keys of a set that a sweep does not have.
const SET_KEYS: [&str; 4] = ["case", "quick", "chance", "explained"];

/// The keys of a set's text. Those of a sweep are read elsewhere.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what a sweep reads is only named here")]
struct Raw {
    name: Option<Node>,
    scenario: Option<Node>,
    axes: Option<Node>,
    together: Option<Node>,
    case: Option<String>,
    #[serde(default)]
    quick: Vec<String>,
    #[serde(default)]
    chance: Vec<String>,
    #[serde(default)]
    explained: Vec<Explanation>,
    engine: Option<Node>,
    repeats: Option<Node>,
    plot: Option<Node>,
}

impl Set {
    /// Reads a set from `text`. File names in it are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text is invalid. Points are not checked yet.
    pub fn parse(text: &str, directory: &Path) -> Result<Set, SweepError> {
        let entries = Node::from_toml(text)?;
        let numbered = |error: DocumentError| SweepError::Text(error.on_line_in(&entries));
        let raw: Raw = de::read_entries(&entries).map_err(numbered)?;
        let others = [
            ("engine", raw.engine.is_some()),
            ("repeats", raw.repeats.is_some()),
            ("plot", raw.plot.is_some()),
        ];
        if let Some((key, _)) = others.iter().find(|(_, is_given)| *is_given) {
            let error = DocumentError::new(*key, "a set has none; it is up to the command");
            return Err(numbered(error));
        }
        let shared = entries
            .iter()
            .filter(|entry| !SET_KEYS.contains(&entry.key.as_str()));
        let sweep = Sweep::read(&shared.cloned().collect::<Vec<_>>(), directory)?;
        let case = raw.case.ok_or_else(|| {
            let reason = "is missing; name the points, such as \"{flow.controller}-{path.rate}\"";
            DocumentError::new("case", reason)
        })?;
        let case = template(case, &sweep).map_err(|error| numbered(error.within("case")))?;
        Ok(Set {
            name: sweep.name.clone().unwrap_or_default(),
            case,
            quick: wild(&raw.quick),
            chance: wild(&raw.chance),
            explained: raw.explained,
            sweep,
        })
    }

    /// The name of the case with these values of the varying fields.
    pub(super) fn name_of(&self, fields: &[String], values: &[String]) -> String {
        let pairs = fields.iter().zip(values);
        pairs.fold(self.case.clone(), |name, (field, value)| {
            name.replace(&format!("{{{field}}}"), value)
        })
    }
}

/// Checks that every field in braces is one that varies.
fn template(text: String, sweep: &Sweep) -> Result<String, DocumentError> {
    let wrong = |reason: &str| DocumentError::new("", format!("{text} {reason}"));
    let fields = text.split('{').skip(1).map(|part| part.split_once('}'));
    for field in fields {
        let Some((field, _)) = field else {
            return Err(wrong("has a brace that is not closed"));
        };
        if !sweep.fields().any(|known| known == field) {
            return Err(wrong(&format!(
                "has {{{field}}}, which is not a field of an axis"
            )));
        }
    }
    Ok(text)
}

fn wild(patterns: &[String]) -> Vec<WildMatch> {
    patterns.iter().map(|one| WildMatch::new(one)).collect()
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WildMatch, D::Error> {
    Ok(WildMatch::new(&String::deserialize(deserializer)?))
}
