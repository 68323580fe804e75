//! Reads PROBE.toml.

use std::path::Path;
use std::str::FromStr;

use quic::endpoint::Fingerprint;
use quic::probe::Token;
use units::bounds::{given, positive, refused, whole};
use units::{Bytes, Duration};

use crate::sweep::{Sweep, SweepError};
use document::DocumentError;
use document::de;
use document::tree::{Entry, Node};
use scenario::Controller;
use serde::{Deserialize, Deserializer};

/// A description of probes.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `name`: the name of the probing.
    pub name: String,
    /// `controllers`: each has a connection to each destination. By default `bbr1` and `cubic`.
    pub controllers: Vec<Controller>,
    /// `bytes`: the size of a probe. By default 8 MB.
    pub bytes: Bytes,
    /// `interval`: the time from the start of one round to the start of the next. By default a minute. On paths, the
    /// idle time of a connection between two probes.
    pub interval: Duration,
    /// `rounds`: the number of rounds. By default ten on paths, and unlimited to hosts.
    pub rounds: Option<u64>,
    /// `seed`: the seed from which all random choices on paths derive.
    pub seed: u64,
    /// The destinations.
    pub target: Target,
}

/// The destinations of probes.
#[derive(Debug, Clone)]
pub enum Target {
    /// `[path]` and its variations, run by an engine.
    Paths {
        /// The entries of a sweep's scenario: path and host.
        base: Vec<Entry>,
        /// `engine`: `sim` if not given, or `linux`.
        engine: lab::EngineKind,
        /// `[axes]` and `[[together]]`: the fields in which the paths differ.
        varied: Vec<Entry>,
    },
    /// `[[destination]]`: hosts with a receiver.
    Hosts(Vec<Host>),
}

/// A host with a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// `name`: the name. By default the address.
    pub name: String,
    /// `address`: the host's name or address, and the port.
    pub address: String,
    /// The protocol of the probes.
    pub over: Over,
    /// `token`: the file with the secret that senders must know. By default none.
    pub token: Token,
}

/// The protocol of probes to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// `over = "tcp"`: the kernel's TCP.
    Tcp,
    /// `over = "quic"`: our QUIC, to the receiver with the certificate `fingerprint`.
    Quic(Fingerprint),
}

impl Over {
    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Over::Tcp => "tcp",
            Over::Quic(_) => "quic",
        }
    }
}

/// The largest probe that a receiver accepts.
const MAX_BYTES: Bytes = Bytes::new(quic::probe::MAX_STREAM_BYTES);

/// The longest interval: a receiver closes connections that are idle for longer.
const MAX_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// The most rounds: more would be a mistake, or need a thousand times the usual memory.
const MAX_ROUNDS: u64 = 100_000;

impl Spec {
    /// Reads a description of probes from `text`, and the tokens of receivers. File names in it are relative to
    /// `directory`.
    ///
    /// # Errors
    ///
    /// The text is invalid, or a token cannot be read. Paths are checked when they are planned.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, SweepError> {
        let entries = Node::from_toml(text)?;
        let spec = de::read_entries(&entries).and_then(|raw| read(raw, directory));
        let spec = spec.map_err(|error| error.on_line_in(&entries))?;
        if let Target::Paths { .. } = &spec.target {
            // Errors in the axes are reported first.
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
            return Err(DocumentError::new("path", "is missing").into());
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

    /// One connection, with repeated requests for a response of the probe's size.
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

/// The description as written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
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
    destination: Option<Vec<RawHost>>,
}

const fn usual_bytes() -> Bytes {
    Bytes::new(8_000_000)
}

const fn usual_interval() -> Duration {
    Duration::from_secs(60)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    match positive(deserializer)? {
        size if size > MAX_BYTES => Err(refused(format!("is more than {MAX_BYTES}"))),
        size => Ok(size),
    }
}

fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    match positive(deserializer)? {
        time if time > MAX_INTERVAL => Err(refused(format!("is more than {MAX_INTERVAL}"))),
        time => Ok(time),
    }
}

fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let reason = format!("rounds are out of range; give 1 to {MAX_ROUNDS}");
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

fn read(mut raw: Raw, directory: &Path) -> Result<Spec, DocumentError> {
    let target = target(&mut raw, directory)?;
    let controllers = raw.controllers.unwrap_or_else(usual_controllers);
    let is_quic = |host: &Host| host.over != Over::Tcp;
    let over_quic = matches!(&target, Target::Hosts(hosts) if hosts.iter().any(is_quic));
    check_controllers(&controllers, over_quic).map_err(|error| error.within("controllers"))?;
    Ok(Spec {
        name: raw.name,
        controllers,
        bytes: raw.bytes,
        interval: raw.interval,
        rounds: raw.rounds,
        seed: raw.seed.unwrap_or(1),
        target,
    })
}

/// Reads paths or hosts, with the keys that belong to them.
fn target(raw: &mut Raw, directory: &Path) -> Result<Target, DocumentError> {
    let wrong = |field: &str, reason: &str| Err(DocumentError::new(field, reason));
    let entries = |all: [(&str, Option<Node>); 2]| {
        let all = all.into_iter();
        all.filter_map(|(key, value)| Some(Entry::new(key, value?)))
            .collect()
    };
    match (raw.path.take(), raw.destination.take()) {
        (Some(_), Some(_)) => {
            let reason = "there is also a path; give either paths or hosts";
            wrong("destination", reason)
        }
        (None, None) => {
            let reason = "is missing; give [path] for paths, or [[destination]] for hosts";
            wrong("path", reason)
        }
        (None, Some(hosts)) => {
            let of_paths = [
                ("engine", raw.engine.is_some()),
                ("seed", raw.seed.is_some()),
                ("host", raw.host.is_some()),
                ("axes", raw.axes.is_some()),
                ("together", raw.together.is_some()),
            ];
            if let Some((key, _)) = of_paths.iter().find(|(_, is_given)| *is_given) {
                return wrong(key, "is only for paths; leave it out for hosts");
            }
            let hosts = read_hosts(hosts, directory);
            Ok(Target::Hosts(
                hosts.map_err(|error| error.within("destination"))?,
            ))
        }
        (path, None) => Ok(Target::Paths {
            base: entries([("path", path), ("host", raw.host.take())]),
            engine: raw.engine.unwrap_or_default(),
            varied: entries([("axes", raw.axes.take()), ("together", raw.together.take())]),
        }),
    }
}

fn usual_controllers() -> Vec<Controller> {
    use congestion::ControllerKind;
    vec![ControllerKind::Bbr1.into(), ControllerKind::Cubic.into()]
}

fn check_controllers(controllers: &[Controller], over_quic: bool) -> Result<(), DocumentError> {
    let wrong = |reason: &str| Err(DocumentError::new("", reason));
    if controllers.is_empty() {
        return wrong("is empty; give one or more, such as [\"bbr1\", \"cubic\"]");
    }
    let mut before = controllers.iter().enumerate();
    if let Some((_, twice)) =
        before.find(|(place, one)| controllers.iter().take(*place).any(|other| other == *one))
    {
        return wrong(&format!("has {twice} twice; give it once"));
    }
    let is_class = |one: &&Controller| {
        matches!(
            one,
            Controller::Python(_) | Controller::JavaScript(_) | Controller::Rust(_)
        )
    };
    if let Some(class) = controllers.iter().find(is_class) {
        return wrong(&format!(
            "{class} is a class of another program, which only the simulator runs"
        ));
    }
    let is_kernels = |one: &&Controller| matches!(one, Controller::Kernel(_));
    match controllers.iter().find(is_kernels).filter(|_| over_quic) {
        Some(kernels) => wrong(&format!(
            "{kernels} is a kernel's controller, which QUIC does not have"
        )),
        None => Ok(()),
    }
}

fn read_hosts(raw: Vec<RawHost>, directory: &Path) -> Result<Vec<Host>, DocumentError> {
    let mut hosts: Vec<Host> = Vec::new();
    let count = raw.len();
    for (place, raw) in raw.into_iter().enumerate() {
        let host = Host::read(raw, directory).map_err(|error| match count {
            1 => error,
            _ => error.item(place),
        })?;
        if hosts.iter().any(|other| other.name == host.name) {
            let reason = format!("there is a {} already", host.name);
            return Err(DocumentError::new("name", reason).item(place));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

/// A host as written in TOML.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[destination]] with an address"
)]
struct RawHost {
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
    fn read(raw: RawHost, directory: &Path) -> Result<Host, DocumentError> {
        let over = match (raw.over, raw.fingerprint) {
            (Way::Tcp, None) => Over::Tcp,
            (Way::Quic, Some(fingerprint)) => Over::Quic(fingerprint),
            (Way::Quic, None) => {
                let reason = "is missing; the receiver prints it when it starts";
                return Err(DocumentError::new("fingerprint", reason));
            }
            (Way::Tcp, Some(_)) => {
                let reason = "is of a receiver over quic; tcp has none";
                return Err(DocumentError::new("fingerprint", reason));
            }
        };
        let token = raw.token.map(|name| {
            Token::in_file(&directory.join(&name))
                .map_err(|error| DocumentError::new("token", format!("{name} {error}")))
        });
        Ok(Host {
            token: token.transpose()?.unwrap_or_else(Token::none),
            name: raw.name.unwrap_or_else(|| raw.address.clone()),
            address: raw.address,
            over,
        })
    }
}
