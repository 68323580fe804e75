//! Reads POPULATION.toml.

use std::collections::BTreeSet;
use std::path::Path;

use super::AS_ASSUMED;
use super::access::Access;
use super::version::{Version, check_count};
use document::DocumentError;
use document::de;
use document::tree::{self, Entry, Node};
use scenario::Draft;
use serde::Deserialize;
use units::hint;

/// The most access networks, and the most versions. Each version is compared with all access networks.
const MAX_ACCESSES: usize = 1000;
const MAX_VERSIONS: usize = 100;

/// The access networks of a population.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: the name of the population.
    pub name: String,
    /// `[[access]]`: the access networks, in the order of the text.
    pub accesses: Vec<Access>,
    /// `[[version]]`: the same members with other numbers.
    pub versions: Vec<Version>,
    /// `[scenario]`: the scenario common to all members.
    pub(super) base: Draft,
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

    /// The population of the version with this name: [`AS_ASSUMED`], or one of [`versions`](Spec::versions).
    ///
    /// # Errors
    ///
    /// There is no such version.
    pub fn version(&self, name: &str) -> Result<Spec, DocumentError> {
        if name == AS_ASSUMED {
            return Ok(self.clone());
        }
        let of_name = self.versions.iter().find(|version| version.name == name);
        let version = of_name.ok_or_else(|| {
            let own = self.versions.iter().map(|version| version.name.as_str());
            let known: Vec<&str> = std::iter::once(AS_ASSUMED).chain(own).collect();
            let reason = format!("there is no {name}{}", hint(name, &known));
            DocumentError::new("version", reason)
        })?;
        let mut spec = self.clone();
        version.apply(&mut spec.base, &mut spec.accesses)?;
        Ok(spec)
    }

    /// Checks that each version can be had, under a name of its own.
    fn check_versions(&self) -> Result<(), DocumentError> {
        check_count("version", self.versions.len(), MAX_VERSIONS)?;
        let mut names = BTreeSet::from([AS_ASSUMED]);
        for (place, version) in self.versions.iter().enumerate() {
            let checked = if names.insert(&version.name) {
                version.check(&self.base, &self.accesses)
            } else {
                let reason = format!("there is a version {} already", version.name);
                Err(DocumentError::new("name", reason))
            };
            checked.map_err(|error| error.item(place).within("version"))?;
        }
        Ok(())
    }
}

/// The population as written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<String>,
    scenario: Option<Node>,
    access: Option<Vec<Access>>,
    #[serde(default)]
    version: Vec<Version>,
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
    check_count("access", accesses.len(), MAX_ACCESSES)?;
    for (place, access) in accesses.iter_mut().enumerate() {
        access.line = tree::line_of(entries, &format!("access[{place}]"));
    }
    let mut known = BTreeSet::new();
    for (place, access) in accesses.iter().enumerate() {
        if !known.insert((&access.region, &access.name)) {
            let reason = format!("there is a {} in {} already", access.name, access.region);
            return Err(DocumentError::new("name", reason)
                .item(place)
                .within("access"));
        }
    }
    let spec = Spec {
        name,
        accesses,
        versions: raw.version,
        base: Draft::new(common, directory),
    };
    spec.check_versions()?;
    Ok(spec)
}
