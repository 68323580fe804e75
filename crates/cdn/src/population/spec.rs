//! Reads POPULATION.toml.

use std::path::Path;

use units::bounds::{positive, refused, share};
use units::{Duration, Ratio};

use super::distribution::Distribution;
use document::DocumentError;
use document::de::{self, Wrong};
use document::tree::{self, Entry, Node};
use scenario::Draft;
use serde::{Deserialize, Deserializer};

/// The access networks of a population.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: the name of the population.
    pub name: String,
    /// `[[access]]`: the access networks, in the order of the text.
    pub accesses: Vec<Access>,
    /// `[scenario]`: the scenario common to all members.
    pub(super) base: Draft,
}

/// Access networks of one kind in one region.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RawAccess")]
pub struct Access {
    /// `region`: the region.
    pub region: String,
    /// `name`: the kind.
    pub name: String,
    /// `share`: the share of members with this access, in proportion to the other shares.
    pub share: Ratio,
    /// `[access.path]`: the distributions of the path's fields.
    pub fields: Vec<(String, Distribution)>,
    /// `swing`: how the rate varies over time.
    pub swing: Option<Swing>,
    /// The line in the text.
    pub(super) line: Option<usize>,
}

/// A rate that changes at regular times. Each new rate is independent and log-normal around the member's own.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { every = \"500ms\", sigma = 0.3 }"
)]
pub struct Swing {
    /// `every`: the duration of each rate.
    #[serde(deserialize_with = "positive")]
    pub every: Duration,
    /// `sigma`: the standard deviation of the rate's natural logarithm.
    #[serde(deserialize_with = "sigma")]
    pub sigma: f64,
}

impl Access {
    /// An access network outside of a population, whose members are drawn one by one.
    ///
    /// # Errors
    ///
    /// The path is invalid.
    pub fn alone(name: &str, path: Node, swing: Option<Swing>) -> Result<Access, DocumentError> {
        let raw = RawAccess {
            region: String::new(),
            name: name.to_owned(),
            share: Ratio::ONE,
            path,
            swing,
        };
        Access::try_from(raw).map_err(|wrong| DocumentError::new(wrong.field, wrong.reason))
    }
}

impl Spec {
    /// Reads the population in `file`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is invalid.
    pub fn load(file: &Path) -> Result<Spec, DocumentError> {
        de::load(file, Spec::parse)
    }

    /// Reads a population from `text`. File names in its scenario are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text is invalid. Members are checked when they are drawn.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, DocumentError> {
        let entries = Node::from_toml(text)?;
        let read = de::read_entries(&entries).and_then(|raw| read(raw, &entries, directory));
        read.map_err(|error| error.on_line_in(&entries))
    }
}

/// The population as written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<String>,
    scenario: Option<Node>,
    access: Option<Vec<Access>>,
}

fn read(raw: Raw, entries: &[Entry], directory: &Path) -> Result<Spec, DocumentError> {
    let missing = |key: &str, fix: &str| DocumentError::new(key, format!("is missing; {fix}"));
    let name = raw.name;
    let name = name.ok_or_else(|| missing("name", "give the population one"))?;
    let common = raw.scenario;
    let common = common.ok_or_else(|| missing("scenario", "say in [scenario] what all do"))?;
    let Node::Table(common) = common else {
        let reason = "is a table; write [scenario]";
        return Err(DocumentError::new("scenario", reason));
    };
    if common.iter().any(|entry| entry.key == "path") {
        let reason = "is drawn for each member; give it to each access as [access.path]";
        return Err(DocumentError::new("scenario.path", reason));
    }
    let accesses = raw.access;
    let mut accesses = accesses.ok_or_else(|| missing("access", "give one or more [[access]]"))?;
    for (place, access) in accesses.iter_mut().enumerate() {
        access.line = tree::line_of(entries, &format!("access[{place}]"));
    }
    for (place, access) in accesses.iter().enumerate() {
        let is_same =
            |other: &&Access| (&other.region, &other.name) == (&access.region, &access.name);
        if accesses.iter().take(place).any(|other| is_same(&other)) {
            let reason = format!("there is a {} in {} already", access.name, access.region);
            return Err(DocumentError::new("name", reason)
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

/// An access network as written in TOML.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[access]] with a region"
)]
struct RawAccess {
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
        Err(refused(
            "is zero; give a larger share, or leave the access out",
        ))
    } else {
        Ok(share)
    }
}

impl TryFrom<RawAccess> for Access {
    type Error = Wrong;

    fn try_from(raw: RawAccess) -> Result<Access, Wrong> {
        let mut fields = Vec::new();
        let path = raw
            .path
            .entries("a table such as [access.path] with a rate");
        path.and_then(|path| read_fields(&mut fields, "path", path))
            .map_err(|error| error.within("path"))
            .map_err(|error| Wrong::new(error.field, error.reason.to_string()))?;
        let has_rate = fields.iter().any(|(field, _)| field == "path.rate");
        if raw.swing.is_some() && !has_rate {
            let reason = "there is no path.rate that could vary";
            return Err(Wrong::new("swing", reason));
        }
        Ok(Access {
            region: raw.region,
            name: raw.name,
            share: raw.share,
            fields,
            swing: raw.swing,
            line: None,
        })
    }
}

/// Reads the fields of a table and of its subtables. Errors' fields are relative to the outermost table.
fn read_fields(
    found: &mut Vec<(String, Distribution)>,
    prefix: &str,
    entries: &[Entry],
) -> Result<(), DocumentError> {
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
