//! Versions of a population: the same members with other numbers.

use serde::Deserialize;

use super::access::{Access, Swing, path_fields};
use super::distribution::Distribution;
use document::DocumentError;
use document::de::Wrong;
use document::tree::Node;
use scenario::Draft;

/// What differs in a version of the population. All else is as in the rest of the file, member by member: a field that
/// has the same distribution has the same value.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[version]] with a name"
)]
pub struct Version {
    /// `name`: the name.
    pub name: String,
    /// `[version.scenario]`: fields of the common scenario.
    scenario: Option<Node>,
    /// `[[version.change]]`: what differs in access networks, in this order.
    #[serde(default, rename = "change")]
    changes: Vec<Change>,
}

/// A difference of some access networks.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RawChange")]
struct Change {
    /// The regions; all if empty.
    regions: Vec<String>,
    /// The kinds of access; all if empty.
    kinds: Vec<String>,
    fields: Vec<(String, Distribution)>,
    swing: Option<Swing>,
}

/// A difference as written in TOML.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[version.change]] with a path"
)]
struct RawChange {
    #[serde(default)]
    region: Vec<String>,
    #[serde(default)]
    access: Vec<String>,
    path: Option<Node>,
    swing: Option<Swing>,
}

impl TryFrom<RawChange> for Change {
    type Error = Wrong;

    fn try_from(raw: RawChange) -> Result<Change, Wrong> {
        let example = "a table such as [version.change.path] with a buffer";
        let fields = match &raw.path {
            Some(path) => path_fields(path, example)?,
            None if raw.swing.is_none() => {
                let reason = "is missing, and swing too; say what differs";
                return Err(Wrong::new("path", reason));
            }
            None => Vec::new(),
        };
        Ok(Change {
            regions: raw.region,
            kinds: raw.access,
            fields,
            swing: raw.swing,
        })
    }
}

impl Change {
    fn is_of(&self, access: &Access) -> bool {
        let has = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        has(&self.regions, &access.region) && has(&self.kinds, &access.name)
    }

    fn apply(&self, access: &mut Access) {
        for (field, distribution) in &self.fields {
            match access.fields.iter_mut().find(|(known, _)| known == field) {
                Some((_, of)) => *of = distribution.clone(),
                None => access.fields.push((field.clone(), distribution.clone())),
            }
        }
        access.swing = self.swing.or(access.swing);
    }
}

impl Version {
    /// Changes the common scenario and the access networks.
    pub(super) fn apply(
        &self,
        base: &mut Draft,
        accesses: &mut [Access],
    ) -> Result<(), DocumentError> {
        if let Some(scenario) = &self.scenario {
            let example = "a table such as [version.scenario] with a duration";
            let fields = scenario.entries(example)?;
            fields
                .iter()
                .try_for_each(|field| base.replace(&field.key, &field.value))
                .map_err(|error| error.within("scenario"))?;
        }
        for (place, change) in self.changes.iter().enumerate() {
            if !accesses.iter().any(|access| change.is_of(access)) {
                let error = DocumentError::new("region", "names no access network of the file");
                return Err(error.item(place).within("change"));
            }
            let meant = accesses.iter_mut().filter(|access| change.is_of(access));
            meant.for_each(|access| change.apply(access));
        }
        Ok(())
    }
}
