//! PROBE.toml.

use std::path::Path;
use std::str::FromStr;

use quic::endpoint::Fingerprint;
use quic::probe::Token;
use units::bounds::{given, positive, refused, whole};
use units::{Bytes, Duration};

use crate::sweep::{Sweep, SweepError};
use scenario::de;
use scenario::tree::{Entry, Node};
use scenario::{Controller, ScenarioError};
use serde::{Deserialize, Deserializer};

/// What is probed, and how.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: what people call it.
    pub name: String,
    /// `controllers`: each has a connection to each destination; `bbr1` and `cubic` if not given.
    pub controllers: Vec<Controller>,
    /// `bytes`: what a probe sends; 8 MB if not given.
    pub bytes: Bytes,
    /// `interval`: from the start of a round to the start of the next one; a minute if not given. On paths, how long a
    /// connection is idle between two probes.
    pub interval: Duration,
    /// `rounds`: how many; without it, ten on paths, and no end to hosts.
    pub rounds: Option<u64>,
    /// `seed`: what everything random on paths derives from.
    pub seed: u64,
    /// Where to.
    pub target: Target,
}

/// What is probed.
#[derive(Debug, Clone)]
pub enum Target {
    /// `[path]` and its variations, run by an engine.
    Paths {
        /// The entries of a sweep's scenario: path and host.
        base: Vec<Entry>,
        /// `engine`: `sim` if not given, or `linux`.
        engine: lab::EngineKind,
        /// `[axes]` and `[[together]]`: what tells the paths apart.
        varied: Vec<Entry>,
    },
    /// `[[destination]]`: hosts where somebody receives.
    Hosts(Vec<Host>),
}

/// A host where somebody receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// `name`: what people call it; the address if not given.
    pub name: String,
    /// `address`: its name or address, and the port.
    pub address: String,
    /// What carries the probes.
    pub over: Over,
    /// `token`: the file with what its senders must know; none if not given.
    pub token: Token,
}

/// What carries the probes to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// `over = "tcp"`: the kernel's TCP.
    Tcp,
    /// `over = "quic"`: our QUIC, to the receiver with the certificate `fingerprint`.
    Quic(Fingerprint),
}

impl Over {
    /// Its name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Over::Tcp => "tcp",
            Over::Quic(_) => "quic",
        }
    }
}

/// What a receiver takes at most.
const LARGEST: Bytes = Bytes::new(quic::probe::LARGEST);

/// A receiver closes connections that are idle for longer.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// More would be a mistake, or a thousand times the memory that a probing needs.
const MAX_ROUNDS: u64 = 100_000;

impl Spec {
    /// Reads what is probed from `text`, and the tokens of receivers; files that it names are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text makes no sense, or a token cannot be read. Paths are checked when they are planned.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, SweepError> {
        let entries = Node::from_toml(text)?;
        let spec = de::read_entries(&entries).and_then(|said| read(said, directory));
        let spec = spec.map_err(|error| error.on_line_in(&entries))?;
        if let Target::Paths { .. } = &spec.target {
            // What is wrong with axes is said before anything else is done.
            spec.sweep(directory)?;
        }
        Ok(spec)
    }

    /// The sweep over paths and controllers.
    pub(super) fn sweep(&self, directory: &Path) -> Result<Sweep, SweepError> {
        let Target::Paths {
            base,
            engine,
            varied,
        } = &self.target
        else {
            return Err(ScenarioError::new("path", "is missing").into());
        };
        let mut scenario = base.clone();
        scenario.push(Entry::new("name", text(&self.name)));
        scenario.push(Entry::new("seed", text(self.seed)));
        scenario.push(Entry::new("flow", Node::List(vec![self.flow()])));
        let controllers = self.controllers.iter().map(text).collect();
        let controllers = Entry::new("flow.controller", Node::List(controllers));
        let mut entries = vec![Entry::new("scenario", Node::Table(scenario))];
        let mut axes = Vec::new();
        for varied in varied {
            match (&varied.key[..], &varied.value) {
                ("axes", Node::Table(fields)) => axes.extend(fields.iter().cloned()),
                _ => entries.push(varied.clone()),
            }
        }
        axes.push(controllers);
        entries.push(Entry::new("axes", Node::Table(axes)));
        entries.push(Entry::new("engine", text(engine)));
        Sweep::read(&entries, directory)
    }

    /// One connection, over which a response of so many bytes is asked for again and again.
    fn flow(&self) -> Node {
        let app = vec![
            Entry::new("kind", text("requests")),
            Entry::new("response", text(self.bytes)),
            Entry::new("think", text(self.interval)),
            Entry::new("count", text(self.rounds.unwrap_or(10))),
        ];
        Node::Table(vec![
            Entry::new("controller", text("bbr1")),
            Entry::new("app", Node::Table(app)),
        ])
    }
}

fn text(value: impl ToString) -> Node {
    Node::Scalar(value.to_string())
}

/// What the text says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: String,
    controllers: Option<Vec<Controller>>,
    #[serde(default = "usual_bytes", deserialize_with = "bytes")]
    bytes: Bytes,
    #[serde(default = "usual_interval", deserialize_with = "interval")]
    interval: Duration,
    #[serde(default, deserialize_with = "rounds")]
    rounds: Option<u64>,
    #[serde(default, deserialize_with = "engine")]
    engine: Option<lab::EngineKind>,
    seed: Option<u64>,
    path: Option<Node>,
    host: Option<Node>,
    axes: Option<Node>,
    together: Option<Node>,
    destination: Option<Vec<SaidOfHost>>,
}

const fn usual_bytes() -> Bytes {
    Bytes::new(8_000_000)
}

const fn usual_interval() -> Duration {
    Duration::from_secs(60)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    match positive(deserializer)? {
        size if size > LARGEST => Err(refused(format!("is more than {LARGEST}"))),
        size => Ok(size),
    }
}

fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    match positive(deserializer)? {
        time if time > LONGEST => Err(refused(format!("is more than {LONGEST}"))),
        time => Ok(time),
    }
}

fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let reason = format!("rounds are none; give 1 to {MAX_ROUNDS}");
    whole(deserializer, 1..=MAX_ROUNDS, &reason)
}

fn engine<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<lab::EngineKind>, D::Error> {
    match lab::EngineKind::deserialize(deserializer)? {
        lab::EngineKind::Quic => {
            let reason = "has no connections that wait; use sim, linux, or hosts over quic";
            Err(refused(reason))
        }
        engine => Ok(Some(engine)),
    }
}

fn read(mut said: Said, directory: &Path) -> Result<Spec, ScenarioError> {
    let target = target(&mut said, directory)?;
    let controllers = said.controllers.unwrap_or_else(usual_controllers);
    let is_quic = |host: &Host| host.over != Over::Tcp;
    let over_quic = matches!(&target, Target::Hosts(hosts) if hosts.iter().any(is_quic));
    check_controllers(&controllers, over_quic).map_err(|error| error.within("controllers"))?;
    Ok(Spec {
        name: said.name,
        controllers,
        bytes: said.bytes,
        interval: said.interval,
        rounds: said.rounds,
        seed: said.seed.unwrap_or(1),
        target,
    })
}

/// Paths or hosts, and what else the text says of these.
fn target(said: &mut Said, directory: &Path) -> Result<Target, ScenarioError> {
    let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
    let entries = |all: [(&str, Option<Node>); 2]| {
        let all = all.into_iter();
        all.filter_map(|(key, value)| Some(Entry::new(key, value?)))
            .collect()
    };
    match (said.path.take(), said.destination.take()) {
        (Some(_), Some(_)) => {
            let reason = "there is a path already; probe paths or hosts";
            wrong("destination", reason)
        }
        (None, None) => {
            let reason = "is missing; give [path] for paths, or [[destination]] for hosts";
            wrong("path", reason)
        }
        (None, Some(hosts)) => {
            let of_paths = [
                ("engine", said.engine.is_some()),
                ("seed", said.seed.is_some()),
                ("host", said.host.is_some()),
                ("axes", said.axes.is_some()),
                ("together", said.together.is_some()),
            ];
            if let Some((key, _)) = of_paths.iter().find(|(_, is_given)| *is_given) {
                return wrong(key, "is of paths; hosts have none");
            }
            let hosts = read_hosts(hosts, directory);
            Ok(Target::Hosts(
                hosts.map_err(|error| error.within("destination"))?,
            ))
        }
        (path, None) => Ok(Target::Paths {
            base: entries([("path", path), ("host", said.host.take())]),
            engine: said.engine.unwrap_or_default(),
            varied: entries([
                ("axes", said.axes.take()),
                ("together", said.together.take()),
            ]),
        }),
    }
}

fn usual_controllers() -> Vec<Controller> {
    use congestion::ControllerKind;
    vec![ControllerKind::Bbr1.into(), ControllerKind::Cubic.into()]
}

fn check_controllers(controllers: &[Controller], over_quic: bool) -> Result<(), ScenarioError> {
    let wrong = |reason: &str| Err(ScenarioError::new("", reason));
    if controllers.is_empty() {
        return wrong("are none; give one or more, such as [\"bbr1\", \"cubic\"]");
    }
    let mut before = controllers.iter().enumerate();
    if let Some((_, twice)) =
        before.find(|(place, one)| controllers.iter().take(*place).any(|other| other == *one))
    {
        return wrong(&format!("has {twice} twice; once is enough"));
    }
    let is_pythons = |one: &&Controller| matches!(one, Controller::Python(_));
    if let Some(pythons) = controllers.iter().find(is_pythons) {
        return wrong(&format!(
            "{pythons} is a class of Python's, which only the simulator runs"
        ));
    }
    let is_kernels = |one: &&Controller| matches!(one, Controller::Kernel(_));
    match controllers.iter().find(is_kernels).filter(|_| over_quic) {
        Some(kernels) => wrong(&format!("{kernels} is a kernel's, which QUIC has not")),
        None => Ok(()),
    }
}

fn read_hosts(said: Vec<SaidOfHost>, directory: &Path) -> Result<Vec<Host>, ScenarioError> {
    let mut hosts: Vec<Host> = Vec::new();
    let count = said.len();
    for (place, said) in said.into_iter().enumerate() {
        let host = Host::read(said, directory).map_err(|error| match count {
            1 => error,
            _ => error.item(place),
        })?;
        if hosts.iter().any(|other| other.name == host.name) {
            let reason = format!("there is a {} already", host.name);
            return Err(ScenarioError::new("name", reason).item(place));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

/// What the text says of a host.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[destination]] with an address"
)]
struct SaidOfHost {
    name: Option<String>,
    #[serde(deserialize_with = "address")]
    address: String,
    over: Way,
    #[serde(default, deserialize_with = "given")]
    fingerprint: Option<Fingerprint>,
    token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename = "way to it", rename_all = "lowercase")]
enum Way {
    Tcp,
    Quic,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let port = text.rsplit_once(':').map(|(_, port)| u16::from_str(port));
    match port {
        Some(Ok(1..)) => Ok(text),
        _ => Err(refused("has no port; write it as host:4440")),
    }
}

impl Host {
    fn read(said: SaidOfHost, directory: &Path) -> Result<Host, ScenarioError> {
        let over = match (said.over, said.fingerprint) {
            (Way::Tcp, None) => Over::Tcp,
            (Way::Quic, Some(fingerprint)) => Over::Quic(fingerprint),
            (Way::Quic, None) => {
                let reason = "is missing; the receiver prints it when it starts";
                return Err(ScenarioError::new("fingerprint", reason));
            }
            (Way::Tcp, Some(_)) => {
                let reason = "is of a receiver over quic; tcp has none";
                return Err(ScenarioError::new("fingerprint", reason));
            }
        };
        let token = said.token.map(|name| {
            Token::in_file(&directory.join(&name))
                .map_err(|error| ScenarioError::new("token", format!("{name} {error}")))
        });
        Ok(Host {
            token: token.transpose()?.unwrap_or_else(Token::none),
            name: said.name.unwrap_or_else(|| said.address.clone()),
            address: said.address,
            over,
        })
    }
}
