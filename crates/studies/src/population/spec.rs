//! POPULATION.toml.

use std::path::Path;

use units::bounds::{positive, refused, share};
use units::{Duration, Ratio};

use super::distribution::Distribution;
use scenario::de::{self, Wrong};
use scenario::tree::{self, Entry, Node};
use scenario::{Draft, ScenarioError};
use serde::{Deserialize, Deserializer};

/// The access networks that a population is drawn from.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: what people call it.
    pub name: String,
    /// `[[access]]`: the access networks, in the order of the text.
    pub accesses: Vec<Access>,
    /// `[scenario]`: what all members have in common.
    pub(super) base: Draft,
}

/// Access networks of one kind in one region.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "SaidOfAccess")]
pub struct Access {
    /// `region`: where.
    pub region: String,
    /// `name`: of which kind.
    pub name: String,
    /// `share`: how many of all members have such an access, in proportion to the others' shares.
    pub share: Ratio,
    /// `[access.path]`: what the fields of the path are drawn from.
    pub fields: Vec<(String, Distribution)>,
    /// `swing`: how the rate varies over time.
    pub swing: Option<Swing>,
    /// Its line in the text.
    pub(super) line: Option<usize>,
}

/// A rate that changes at regular times. Each new rate is independent, and log-normally distributed around the member's own.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { every = \"500ms\", sigma = 0.3 }"
)]
pub struct Swing {
    /// `every`: how long a rate lasts.
    #[serde(deserialize_with = "positive")]
    pub every: Duration,
    /// `sigma`: the standard deviation of the rate's natural logarithm.
    #[serde(deserialize_with = "sigma")]
    pub sigma: f64,
}

impl Access {
    /// One that is in no population: its members are drawn one by one.
    ///
    /// # Errors
    ///
    /// The path makes no sense.
    pub fn alone(name: &str, path: Node, swing: Option<Swing>) -> Result<Access, ScenarioError> {
        let said = SaidOfAccess {
            region: String::new(),
            name: name.to_owned(),
            share: Ratio::ONE,
            path,
            swing,
        };
        Access::try_from(said).map_err(|wrong| ScenarioError::new(wrong.field, wrong.reason))
    }
}

impl Spec {
    /// Reads the population in `file`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or what it says makes no sense.
    pub fn load(file: &Path) -> Result<Spec, ScenarioError> {
        de::load(file, Spec::parse)
    }

    /// Reads a population from `text`; what its scenario names is relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text makes no sense. Members are checked when they are drawn.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, ScenarioError> {
        let entries = Node::from_toml(text)?;
        let read = de::read_entries(&entries).and_then(|said| read(said, &entries, directory));
        read.map_err(|error| error.on_line_in(&entries))
    }
}

/// What the text says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: Option<String>,
    scenario: Option<Node>,
    access: Option<Vec<Access>>,
}

fn read(said: Said, entries: &[Entry], directory: &Path) -> Result<Spec, ScenarioError> {
    let missing = |key: &str, fix: &str| ScenarioError::new(key, format!("is missing; {fix}"));
    let name = said.name;
    let name = name.ok_or_else(|| missing("name", "give the population one"))?;
    let common = said.scenario;
    let common = common.ok_or_else(|| missing("scenario", "say in [scenario] what all do"))?;
    let Node::Table(common) = common else {
        let reason = "is a table; write [scenario]";
        return Err(ScenarioError::new("scenario", reason));
    };
    if common.iter().any(|entry| entry.key == "path") {
        let reason = "is what is drawn; give it to each access as [access.path]";
        return Err(ScenarioError::new("scenario.path", reason));
    }
    let accesses = said.access;
    let mut accesses = accesses.ok_or_else(|| missing("access", "give one or more [[access]]"))?;
    for (place, access) in accesses.iter_mut().enumerate() {
        access.line = tree::line_of(entries, &format!("access[{place}]"));
    }
    for (place, access) in accesses.iter().enumerate() {
        let is_same =
            |other: &&Access| (&other.region, &other.name) == (&access.region, &access.name);
        if accesses.iter().take(place).any(|other| is_same(&other)) {
            let reason = format!("there is a {} in {} already", access.name, access.region);
            return Err(ScenarioError::new("name", reason)
                .item(place)
                .within("access"));
        }
    }
    Ok(Spec {
        name,
        accesses,
        base: Draft::new(common, directory),
    })
}

/// What the text says of an access.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[access]] with a region"
)]
struct SaidOfAccess {
    region: String,
    name: String,
    #[serde(deserialize_with = "some")]
    share: Ratio,
    path: Node,
    swing: Option<Swing>,
}

fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
    let share = share(deserializer)?;
    if share == Ratio::ZERO {
        Err(refused("is nobody; give more, or leave it out"))
    } else {
        Ok(share)
    }
}

impl TryFrom<SaidOfAccess> for Access {
    type Error = Wrong;

    fn try_from(said: SaidOfAccess) -> Result<Access, Wrong> {
        let mut fields = Vec::new();
        let path = said
            .path
            .entries("a table such as [access.path] with a rate");
        path.and_then(|path| read_fields(&mut fields, "path", path))
            .map_err(|error| error.within("path"))
            .map_err(|error| Wrong::new(error.field, error.reason.to_string()))?;
        let has_rate = fields.iter().any(|(field, _)| field == "path.rate");
        if said.swing.is_some() && !has_rate {
            let reason = "there is no path.rate that could vary";
            return Err(Wrong::new("swing", reason));
        }
        Ok(Access {
            region: said.region,
            name: said.name,
            share: said.share,
            fields,
            swing: said.swing,
            line: None,
        })
    }
}

/// The fields in a table, and in its tables; errors' fields are relative to the outermost one.
fn read_fields(
    found: &mut Vec<(String, Distribution)>,
    prefix: &str,
    entries: &[Entry],
) -> Result<(), ScenarioError> {
    for entry in entries {
        let field = format!("{prefix}.{}", entry.key);
        let read = match &entry.value {
            Node::Table(inner) if !Distribution::is_meant_by(&entry.value) => {
                read_fields(found, &field, inner)
            }
            value => Distribution::read(value).map(|distribution| {
                found.push((field, distribution));
            }),
        };
        read.map_err(|error| error.within(&entry.key))?;
    }
    Ok(())
}

fn sigma<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let sigma = f64::deserialize(deserializer)?;
    if (0.0..=2.0).contains(&sigma) {
        Ok(sigma)
    } else {
        Err(refused("is not a number from 0 to 2, such as 0.3"))
    }
}
