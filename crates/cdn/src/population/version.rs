//! Versions of a population: the same members with other numbers.

use serde::Deserialize;

use super::access::{Access, Swing, path_fields};
use super::distribution::Distribution;
use document::DocumentError;
use document::de::Wrong;
use document::tree::Node;
use scenario::Draft;

/// The most changes of a version. Each is compared with all access networks.
const MAX_CHANGES: usize = 100;

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
    /// Checks that the common scenario has the fields, and that each change is of some access network.
    pub(super) fn check(&self, base: &Draft, accesses: &[Access]) -> Result<(), DocumentError> {
        if self.scenario.is_some() {
            self.set(&mut base.clone())?;
        }
        check_count("change", self.changes.len(), MAX_CHANGES)?;
        for (place, change) in self.changes.iter().enumerate() {
            if !accesses.iter().any(|access| change.is_of(access)) {
                let error = DocumentError::new("region", "names no access network of the file");
                return Err(error.item(place).within("change"));
            }
        }
        Ok(())
    }

    /// Changes the common scenario and the access networks, with which the version was checked.
    pub(super) fn apply(
        &self,
        base: &mut Draft,
        accesses: &mut [Access],
    ) -> Result<(), DocumentError> {
        self.set(base)?;
        for change in &self.changes {
            let meant = accesses.iter_mut().filter(|access| change.is_of(access));
            meant.for_each(|access| change.apply(access));
        }
        Ok(())
    }

    /// Changes the common scenario.
    fn set(&self, base: &mut Draft) -> Result<(), DocumentError> {
        let Some(scenario) = &self.scenario else {
            return Ok(());
        };
        let example = "a table such as [version.scenario] with a duration";
        let fields = scenario.entries(example)?;
        fields
            .iter()
            .try_for_each(|field| base.replace(&field.key, &field.value))
            .map_err(|error| error.within("scenario"))
    }
}

/// Checks that there are no more than `most` of these.
pub(super) fn check_count(field: &str, count: usize, most: usize) -> Result<(), DocumentError> {
    if count <= most {
        return Ok(());
    }
    let reason = format!("{count} are more than {most}; give fewer");
    Err(DocumentError::new(field, reason))
}
