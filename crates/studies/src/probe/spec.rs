//! PROBE.toml.

use std::path::Path;
use std::str::FromStr;

use quic::endpoint::Fingerprint;
use quic::probe::Token;
use units::{Bytes, Duration};

use crate::sweep::{Sweep, SweepError};
use scenario::value::{self, Entry, Value};
use scenario::{Controller, ScenarioError};

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
        base: Vec<Entries>,
        /// `engine`: `sim` if not given, or `linux`.
        engine: lab::EngineKind,
        /// `[axes]` and `[[together]]`: what tells the paths apart.
        varied: Vec<Entries>,
    },
    /// `[[destination]]`: hosts where somebody receives.
    Hosts(Vec<Host>),
}

/// A part of the text that is read when the paths are known.
#[derive(Debug, Clone)]
pub struct Entries(pub(super) Entry);

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

/// The keys of all probings, of paths alone, and of hosts alone.
const SHARED: [&str; 5] = ["name", "controllers", "bytes", "interval", "rounds"];
const OF_PATHS: [&str; 6] = ["engine", "seed", "path", "host", "axes", "together"];
const OF_HOSTS: [&str; 1] = ["destination"];
const OF_HOST: [&str; 5] = ["name", "address", "over", "fingerprint", "token"];

/// What a receiver takes at most.
const LARGEST: Bytes = Bytes::new(quic::probe::LARGEST);

/// A receiver closes connections that are idle for longer.
const LONGEST: Duration = Duration::from_secs(10 * 60);

const USUAL_BYTES: Bytes = Bytes::new(8_000_000);
const USUAL_INTERVAL: Duration = Duration::from_secs(60);
/// More would be a mistake, or a thousand times the memory that a probing needs.
const MAX_ROUNDS: u64 = 100_000;

impl Spec {
    /// Reads what is probed from `text`, and the tokens of receivers; files that it names are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text makes no sense, or a token cannot be read. Paths are checked when they are planned.
    pub fn parse(text: &str, directory: &Path) -> Result<Spec, SweepError> {
        let entries = Value::from_toml(text)?;
        let spec = read(&entries, directory).map_err(|mut error| {
            error.line = error.line.or(value::line_of(&entries, &error.field));
            error
        })?;
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
        let mut scenario: Vec<Entry> = base.iter().map(|entry| entry.0.clone()).collect();
        scenario.push(entry("name", text(&self.name)));
        scenario.push(entry("seed", text(self.seed)));
        scenario.push(entry("flow", Value::List(vec![self.flow()])));
        let controllers = self.controllers.iter().map(text).collect();
        let controllers = entry("flow.controller", Value::List(controllers));
        let mut entries = vec![entry("scenario", Value::Table(scenario))];
        let mut axes = Vec::new();
        for varied in varied {
            match (&varied.0.key[..], &varied.0.value) {
                ("axes", Value::Table(fields)) => axes.extend(fields.iter().cloned()),
                _ => entries.push(varied.0.clone()),
            }
        }
        axes.push(controllers);
        entries.push(entry("axes", Value::Table(axes)));
        entries.push(entry("engine", text(engine)));
        Sweep::read(&entries, directory)
    }

    /// One connection, over which a response of so many bytes is asked for again and again.
    fn flow(&self) -> Value {
        let app = vec![
            entry("kind", text("requests")),
            entry("response", text(self.bytes)),
            entry("think", text(self.interval)),
            entry("count", text(self.rounds.unwrap_or(10))),
        ];
        Value::Table(vec![
            entry("controller", text("bbr1")),
            entry("app", Value::Table(app)),
        ])
    }
}

fn entry(key: &str, value: Value) -> Entry {
    Entry {
        key: key.to_string(),
        value,
        line: None,
    }
}

fn text(value: impl ToString) -> Value {
    Value::Scalar(value.to_string())
}

fn read(entries: &[Entry], directory: &Path) -> Result<Spec, ScenarioError> {
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let hosts = find("destination");
    let known = match (find("path"), hosts) {
        (Some(_), Some(_)) => {
            let reason = "there is a path already; probe paths or hosts";
            return Err(ScenarioError::new("destination", reason));
        }
        (_, None) => [&SHARED[..], &OF_PATHS, &OF_HOSTS].concat(),
        (None, Some(_)) => [&SHARED[..], &OF_HOSTS].concat(),
    };
    if let Some(entry) = entries
        .iter()
        .find(|entry| !known.contains(&entry.key.as_str()))
    {
        let error = match OF_PATHS.contains(&entry.key.as_str()) {
            true => ScenarioError::new("", "is of paths; hosts have none"),
            false => ScenarioError::unknown_key(&entry.key, &known),
        };
        return Err(error.within(&entry.key));
    }
    let table = Value::Table(entries.to_vec());
    let fields = table.fields("name and path", &known)?;
    let target = match hosts {
        Some(hosts) => {
            let read = read_hosts(&hosts.value, directory);
            Target::Hosts(read.map_err(|error| error.within("destination"))?)
        }
        None => {
            if find("path").is_none() {
                let reason = "is missing; give [path] for paths, or [[destination]] for hosts";
                return Err(ScenarioError::new("path", reason));
            }
            let engine = fields.or("engine", lab::EngineKind::Sim, |engine| {
                match engine.parse()? {
                    lab::EngineKind::Quic => {
                        let reason =
                            "has no connections that wait; use sim, linux, or hosts over quic";
                        Err(engine.wrong(reason))
                    }
                    engine => Ok(engine),
                }
            })?;
            let parts = |keys: [&str; 2]| {
                let found = entries
                    .iter()
                    .filter(|entry| keys.contains(&entry.key.as_str()));
                found.cloned().map(Entries).collect()
            };
            Target::Paths {
                base: parts(["path", "host"]),
                engine,
                varied: parts(["axes", "together"]),
            }
        }
    };
    let is_quic = |host: &Host| host.over != Over::Tcp;
    let over_quic = matches!(&target, Target::Hosts(hosts) if hosts.iter().any(is_quic));
    let controllers = fields.or("controllers", usual_controllers(), |list| {
        let controllers = list.list(Value::parse::<Controller>)?;
        check_controllers(&controllers, over_quic)?;
        Ok(controllers)
    })?;
    let bytes = fields.or("bytes", USUAL_BYTES, |bytes| {
        match bytes.positive_size()? {
            size if size > LARGEST => Err(bytes.wrong(&format!("is more than {LARGEST}"))),
            size => Ok(size),
        }
    })?;
    let interval = fields.or("interval", USUAL_INTERVAL, |interval| {
        match interval.positive_time()? {
            time if time > LONGEST => Err(interval.wrong(&format!("is more than {LONGEST}"))),
            time => Ok(time),
        }
    })?;
    let rounds = fields.optional("rounds", |rounds| match rounds.whole()? {
        count @ 1..=MAX_ROUNDS => Ok(count),
        _ => Err(rounds.wrong(&format!("rounds are none; give 1 to {MAX_ROUNDS}"))),
    })?;
    Ok(Spec {
        name: fields.required("name", |name| name.text("a name").map(str::to_string))?,
        controllers,
        bytes,
        interval,
        rounds,
        seed: fields.or("seed", 1, Value::whole)?,
        target,
    })
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
    let is_kernels = |one: &&Controller| matches!(one, Controller::Kernel(_));
    match controllers.iter().find(is_kernels).filter(|_| over_quic) {
        Some(kernels) => wrong(&format!("{kernels} is a kernel's, which QUIC has not")),
        None => Ok(()),
    }
}

fn read_hosts(value: &Value, directory: &Path) -> Result<Vec<Host>, ScenarioError> {
    let Value::List(items) = value else {
        return Err(ScenarioError::new("", "is a list; write [[destination]]"));
    };
    let hosts = value::items(items, |item| Host::read(item, directory))?;
    for (place, host) in hosts.iter().enumerate() {
        if hosts
            .iter()
            .take(place)
            .any(|other| other.name == host.name)
        {
            let reason = format!("there is a {} already", host.name);
            return Err(ScenarioError::new("name", reason).item(place));
        }
    }
    Ok(hosts)
}

impl Host {
    fn read(value: &Value, directory: &Path) -> Result<Host, ScenarioError> {
        let fields = value.fields("[[destination]] with an address", &OF_HOST)?;
        let address = fields.required("address", |address| {
            let text = address.text("an address and a port")?;
            let port = text.rsplit_once(':').map(|(_, port)| u16::from_str(port));
            match port {
                Some(Ok(1..)) => Ok(text.to_string()),
                _ => Err(address.wrong("has no port; write it as host:4440")),
            }
        })?;
        let fingerprint = fields.optional("fingerprint", Value::parse)?;
        let is_quic = fields.required("over", |over| {
            over.one_of("way to it", &[("tcp", false), ("quic", true)])
        })?;
        let over = match (is_quic, fingerprint) {
            (false, None) => Over::Tcp,
            (true, Some(fingerprint)) => Over::Quic(fingerprint),
            (true, None) => {
                let reason = "is missing; the receiver prints it when it starts";
                return Err(ScenarioError::new("fingerprint", reason));
            }
            (false, Some(_)) => {
                let reason = "is of a receiver over quic; tcp has none";
                return Err(ScenarioError::new("fingerprint", reason));
            }
        };
        let name = fields.optional("name", |name| name.text("a name").map(str::to_string))?;
        let token = fields.optional("token", |token| {
            let file = directory.join(token.text("the name of a file")?);
            Token::in_file(&file).map_err(|error| token.wrong(&error.to_string()))
        })?;
        Ok(Host {
            token: token.unwrap_or_else(Token::none),
            name: name.unwrap_or_else(|| address.clone()),
            address,
            over,
        })
    }
}
