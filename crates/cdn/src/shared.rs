//! Links that the lines of several networks share: `[[shared]]`.

use std::path::Path;

use document::DocumentError;
use document::tree::{Entry, Node};
use scenario::{Draft, PathSpec, Scenario};
use serde::Deserialize;

use crate::stand_in::stand_in;

/// A link between the servers and all lines of one or more networks.
#[derive(Debug, Clone)]
pub struct Shared {
    /// `name`: the name for people.
    pub name: String,
    /// `path`: its rate, its buffer and all else.
    pub path: PathSpec,
}

/// The fields of the text.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[shared]] with name = \"uplink\" and a path"
)]
pub(crate) struct RawShared {
    name: String,
    path: Node,
}

impl Shared {
    /// Reads the links. Names of traces are relative to `directory`.
    pub(crate) fn all(
        said: Vec<RawShared>,
        directory: &Path,
    ) -> Result<Vec<Shared>, DocumentError> {
        let mut all: Vec<Shared> = Vec::new();
        for (index, said) in said.into_iter().enumerate() {
            let read = Shared::read(said, &all, directory);
            all.push(read.map_err(|error| error.item(index).within("shared"))?);
        }
        Ok(all)
    }

    fn read(
        said: RawShared,
        earlier: &[Shared],
        directory: &Path,
    ) -> Result<Shared, DocumentError> {
        if earlier.iter().any(|other| other.name == said.name) {
            let reason = format!("there is already a link {}", said.name);
            return Err(DocumentError::new("name", reason));
        }
        let entries = vec![
            Entry::new("name", Node::Scalar("shared".to_owned())),
            Entry::new("path", said.path),
            Entry::new("flow", Node::List(vec![stand_in()])),
        ];
        let Scenario { path, next, .. } = Draft::new(entries, directory).read()?;
        if !next.is_empty() {
            let reason = "a shared link is one link; leave it out";
            return Err(DocumentError::new("path.next", reason));
        }
        if path.data.rate.is_none() && path.data.trace.is_none() {
            let reason = "without it, lines share nothing; give a rate such as \"1gbit\"";
            return Err(DocumentError::new("path.rate", reason));
        }
        let name = said.name;
        Ok(Shared { name, path })
    }
}

/// Checks that a line, whose scenario this is without the downloads, can go over a shared link.
pub(crate) fn check_line(base: &Scenario) -> Result<(), DocumentError> {
    if base.host.nic.is_some() {
        let reason =
            "the lines over a shared link have the same server; give the link this rate instead";
        return Err(DocumentError::new("host.nic", reason));
    }
    match base.flows.iter().position(|flow| flow.rtt.is_some()) {
        Some(index) => {
            let reason =
                "over a shared link, the RTprop is that of the line and the link; leave it out";
            Err(DocumentError::new(format!("flow[{index}].rtt"), reason))
        }
        None => Ok(()),
    }
}
