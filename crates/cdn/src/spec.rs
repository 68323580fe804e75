//! CDN.toml: client networks and sites, the objects that they fetch, and the controllers to compare.

use std::path::Path;

use crate::population::{Access, Swing};
use crate::shared::{RawShared, Shared};
use crate::stand_in::stand_in;
use document::DocumentError;
use document::de;
use document::tree::{Entry, Node};
use scenario::{Draft, FlowSpec};
use serde::Deserialize;
use transport::app::{Config, Connections, Poisson};
use units::bounds::positive;
use units::{Duration, hint};

/// The port that the CDN serves.
pub const PORT: u16 = 443;

/// The fewest lines of a network. A study needs 20 lines of each arm, and with this many, chance seldom leaves an arm
/// with fewer.
const MIN_LINES: u64 = 50;

/// The most lines of a network. They are numbered with a byte.
const MAX_LINES: u64 = 256;

/// The most networks. They are numbered with a byte, too.
const MAX_NETWORKS: usize = 256;

/// A small CDN.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: the name for people.
    pub name: String,
    /// `seed`: the seed of all random choices.
    pub seed: u64,
    /// `duration`: the time in which downloads begin on each line.
    pub duration: Duration,
    /// `[[arm]]`: the controllers. The others are compared with the first.
    pub arms: Vec<FlowSpec>,
    /// `[[shared]]`: the links that the lines of networks share.
    pub shared: Vec<Shared>,
    /// `[[network]]`: the networks of lines.
    pub networks: Vec<Network>,
}

/// A network of lines of one kind.
#[derive(Debug, Clone)]
pub struct Network {
    /// `name`: the name for people.
    pub name: String,
    /// `kind`: the kind of the network.
    pub kind: Kind,
    /// `as`: the autonomous system of all its lines.
    pub system: u32,
    /// `lines`: the number of lines. Each is a client network with a path of its own.
    pub lines: u64,
    /// `over`: the index of the shared link that all its lines go over. `None` if its lines share nothing.
    pub over: Option<usize>,
    /// `traffic`: the objects that are fetched over each line.
    pub traffic: Vec<Poisson>,
    /// `path` and `swing`: the distributions of the lines' paths.
    pub(crate) access: Access,
    /// The rest of a line: background traffic and hosts.
    pub(crate) base: Draft,
}

units::named! {
    /// The kind of a network: who is at the other end.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind, "kind of network" {
        /// Clients of the CDN.
        Clients = "clients",
        /// Another site.
        Sites = "site-to-site",
        /// The same site.
        Inside = "intra-site",
    }
}

units::as_text!(Kind);

/// The fields of the text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSpec {
    name: String,
    #[serde(default = "one")]
    seed: u64,
    #[serde(deserialize_with = "positive")]
    duration: Duration,
    arm: Vec<FlowSpec>,
    #[serde(default)]
    traffic: Vec<Poisson>,
    #[serde(default)]
    shared: Vec<RawShared>,
    network: Vec<RawNetwork>,
}

const fn one() -> u64 {
    1
}

/// The fields of a network.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[network]] with a name"
)]
struct RawNetwork {
    name: String,
    kind: Kind,
    #[serde(rename = "as")]
    system: u32,
    lines: u64,
    over: Option<String>,
    path: Node,
    swing: Option<Swing>,
    traffic: Option<Vec<Poisson>>,
    #[serde(default)]
    background: Vec<Node>,
    host: Option<Node>,
}

impl Spec {
    /// Reads the CDN in `file`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is invalid.
    pub fn load(file: &Path) -> Result<Spec, DocumentError> {
        de::load(file, Spec::parse)
    }

    /// Reads a CDN from `text`. Paths of files in it are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text is invalid.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, DocumentError> {
        let entries = Node::from_toml(text)?;
        let read = de::read_entries(&entries).and_then(|said| read(said, directory));
        read.map_err(|error| error.on_line_in(&entries))
    }

    /// The arms' controllers by the kernel's names, which plans and policies use.
    pub fn controllers(&self) -> Vec<&str> {
        let arms = self.arms.iter();
        arms.map(|arm| arm.controller.kernel_name()).collect()
    }

    /// The plan of a study whose servers are in this control group.
    pub(crate) fn plan(&self, cgroup: &str) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut text = format!(
            "name = {}\ncgroup = {}\nunit = \"prefix\"\nduration = \"{}\"\nseed = \"{}\"\n\
             [connections]\nlisten = [{PORT}]\n",
            quoted(&self.name),
            quoted(cgroup),
            self.duration,
            self.seed
        );
        for controller in self.controllers() {
            let share = 1.0 / self.arms.len() as f64;
            text += &format!("[[arm]]\ncontroller = \"{controller}\"\nshare = {share:.4}\n");
        }
        text
    }
}

fn read(said: RawSpec, directory: &Path) -> Result<Spec, DocumentError> {
    if said.arm.len() < 2 {
        let reason = format!(
            "give two or more [[arm]] to compare, not {}",
            said.arm.len()
        );
        return Err(DocumentError::new("arm", reason));
    }
    for (index, arm) in said.arm.iter().enumerate() {
        check_arm(arm, &said.arm[..index]).map_err(|error| error.item(index).within("arm"))?;
    }
    if said.network.is_empty() || said.network.len() > MAX_NETWORKS {
        let reason = format!("{} networks; give 1 to {MAX_NETWORKS}", said.network.len());
        return Err(DocumentError::new("network", reason));
    }
    // There are no more networks that could go over them.
    if said.shared.len() > MAX_NETWORKS {
        let reason = format!("{} links; give at most {MAX_NETWORKS}", said.shared.len());
        return Err(DocumentError::new("shared", reason));
    }
    let shared = Shared::all(said.shared, directory)?;
    let mut networks: Vec<Network> = Vec::new();
    for (index, of) in said.network.into_iter().enumerate() {
        let over = of.over.as_deref().map(|name| place_of(name, &shared));
        let read = over
            .transpose()
            .and_then(|over| network(of, over, &said.traffic, said.duration, &networks, directory));
        networks.push(read.map_err(|error| error.item(index).within("network"))?);
    }
    for (index, link) in shared.iter().enumerate() {
        if networks.iter().all(|network| network.over != Some(index)) {
            let reason = format!(
                "no network goes over {0}; leave it out, or give a network over = \"{0}\"",
                link.name
            );
            return Err(DocumentError::new("", reason).item(index).within("shared"));
        }
    }
    Ok(Spec {
        name: said.name,
        seed: said.seed,
        duration: said.duration,
        arms: said.arm,
        shared,
        networks,
    })
}

/// The index of the shared link with this name.
fn place_of(name: &str, shared: &[Shared]) -> Result<usize, DocumentError> {
    let place = shared.iter().position(|link| link.name == name);
    place.ok_or_else(|| {
        let known: Vec<&str> = shared.iter().map(|link| &*link.name).collect();
        let reason = match hint(name, &known) {
            near if near.is_empty() => format!("there is no [[shared]] {name}; add it"),
            near => format!("there is no [[shared]] {name}{near}"),
        };
        DocumentError::new("over", reason)
    })
}

/// Checks that an arm has only a controller and its settings. The traffic determines the data.
fn check_arm(arm: &FlowSpec, earlier: &[FlowSpec]) -> Result<(), DocumentError> {
    let settings = FlowSpec {
        bbr1: arm.bbr1,
        cubic: arm.cubic,
        bbr3: arm.bbr3,
        ..FlowSpec::new(arm.controller)
    };
    if *arm != settings {
        let reason = "an arm has only a controller and its settings";
        return Err(DocumentError::new("", reason));
    }
    let name = arm.controller.kernel_name();
    if earlier
        .iter()
        .any(|other| other.controller.kernel_name() == name)
    {
        let reason = format!("the kernel's {name} already has an arm");
        return Err(DocumentError::new("controller", reason));
    }
    Ok(())
}

fn network(
    said: RawNetwork,
    over: Option<usize>,
    traffic: &[Poisson],
    duration: Duration,
    earlier: &[Network],
    directory: &Path,
) -> Result<Network, DocumentError> {
    let wrong = |field: &str, reason: String| Err(DocumentError::new(field, reason));
    if !(MIN_LINES..=MAX_LINES).contains(&said.lines) {
        let reason = format!("{}; give {MIN_LINES} to {MAX_LINES}", said.lines);
        return wrong("lines", reason);
    }
    for other in earlier {
        if other.name == said.name {
            return wrong("name", format!("there is already a network {}", said.name));
        }
        if other.system == said.system {
            return wrong("as", format!("AS{} is already {}", said.system, other.name));
        }
    }
    let traffic = said.traffic.unwrap_or_else(|| traffic.to_vec());
    if traffic.is_empty() {
        let reason = "nothing is fetched; give [[traffic]] with an interval and sizes";
        return wrong("traffic", reason.to_owned());
    }
    for (index, of) in traffic.iter().enumerate() {
        check_traffic(of).map_err(|error| error.item(index).within("traffic"))?;
    }
    let access = Access::alone(&said.name, said.path, said.swing)?;
    // Downloads that have not finished by then are cut off.
    let end = (duration * 2).to_string();
    let mut flows = said.background;
    flows.push(stand_in());
    let mut entries = vec![
        Entry::new("name", Node::Scalar(said.name.clone())),
        Entry::new("duration", Node::Scalar(end)),
        Entry::new("flow", Node::List(flows)),
    ];
    entries.extend(said.host.map(|host| Entry::new("host", host)));
    Ok(Network {
        name: said.name,
        kind: said.kind,
        system: said.system,
        lines: said.lines,
        over,
        traffic,
        access,
        base: Draft::new(entries, directory),
    })
}

fn check_traffic(of: &Poisson) -> Result<(), DocumentError> {
    Config::Poisson(of.clone()).validate()?;
    if of.connections != Connections::New {
        let reason = "each object has a connection of its own; leave it out";
        return Err(DocumentError::new("connections", reason));
    }
    Ok(())
}
