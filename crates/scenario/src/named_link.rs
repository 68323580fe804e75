//! A link of a network: `[[link]]`.

use serde::{Deserialize, Serialize};

use super::name::Name;
use super::path_spec::PathSpec;

/// A link between two sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[link]] with name = \"core\", from = \"server\", to = \"client\""
)]
pub struct NamedLink {
    /// `name`: its name.
    pub name: Name,
    /// `from`: the site at which it begins.
    pub from: Name,
    /// `to`: the site at which it ends.
    pub to: Name,
    /// The fields of `[path]`: the direction from `from` to `to` is that of data, the opposite one that of ACKs.
    #[serde(rename = "*")]
    pub path: PathSpec,
}
