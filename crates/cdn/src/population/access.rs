//! Access networks: distributions of a path's fields.

use document::DocumentError;
use document::de::Wrong;
use document::tree::{Entry, Node};
use serde::{Deserialize, Deserializer};
use units::bounds::{positive, refused, share};
use units::{Duration, Ratio};

use super::distribution::Distribution;

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
        let fields = path_fields(&raw.path, "a table such as [access.path] with a rate")?;
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

/// The distributions in a table `path`.
pub(super) fn path_fields(
    path: &Node,
    example: &str,
) -> Result<Vec<(String, Distribution)>, Wrong> {
    let mut fields = Vec::new();
    let read = path
        .entries(example)
        .and_then(|path| read_fields(&mut fields, "path", path))
        .map_err(|error| error.within("path"));
    read.map_err(|error| Wrong::new(error.field, error.reason.to_string()))?;
    Ok(fields)
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
