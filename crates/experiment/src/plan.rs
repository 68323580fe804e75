//! PLAN.toml: the connections that take part, the arms, their randomisation, the duration, and reasons to stop early.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use document::DocumentError;
use document::de::{self, Wrong};
use rules::{Interface, MAX_ARMS, MAX_PORT_RANGES, Ports, Prefix};
use serde::Deserialize;
use units::bounds::{positive, share};
use units::{Duration, Ratio};

use crate::assignment::{Key, Shares, Unit};
use crate::measure::Measure;
use crate::networks::Room;

/// The maximum length of an arm's name in characters.
const MAX_NAME_CHARS: usize = 32;

/// The default washout is one part in this many of a slot. The other arm's queues are gone within seconds. Connections
/// of the other arm that last longer must be short compared with the slot.
const WASHOUT_DIVISOR: u64 = 10;

/// A randomised experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Said")]
pub struct Plan {
    /// `name`: the name for people.
    pub name: String,
    /// `cgroup`: the control group whose connections take part, given by its directory. A relative path is in the file
    /// system of control groups. None with `assign = "route"`: connections of the whole network namespace take part.
    pub cgroup: Option<PathBuf>,
    /// `[connections]`: which of its connections take part.
    pub connections: Connections,
    /// `unit`, `prefix_v4`, `prefix_v6`, `slot`: the unit of randomisation.
    pub unit: Unit,
    /// `washout`: the time at the beginning of each slot that is not evaluated, while the other arm's queues are there.
    pub washout: Duration,
    /// `duration`: the duration of the study.
    pub duration: Duration,
    /// `seed`: determines the draws. Without it, they are random.
    pub seed: Option<String>,
    /// `address`: how much of the clients' addresses is kept.
    pub address: KeptAddress,
    /// `join`: whether a keyed hash of address and port is kept, so that access logs can be joined.
    pub join: bool,
    /// `[[arm]]`: the arms. The others are compared with the first.
    pub arms: Vec<Arm>,
    /// `[[guard]]`: when to stop early.
    pub guards: Vec<Guard>,
}

/// The connections of the control group that take part.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { listen = [443] }"
)]
pub struct Connections {
    /// `listen`: those accepted at these ports.
    pub listen: Vec<Ports>,
    /// `connect`: those opened to these ports.
    pub connect: Vec<Ports>,
    /// `prefix`: those of clients in these networks. Without it and `prefix_file`, in all networks.
    pub prefix: Vec<Prefix>,
    /// `prefix_file`: a file with more such networks, one in a line.
    pub prefix_file: Option<PathBuf>,
    /// `except`: not those of clients in these networks. The most specific network counts.
    pub except: Vec<Prefix>,
    /// `interface`: those whose data leave through these interfaces. Without it, through any interface.
    pub interface: Vec<Interface>,
}

/// An arm: a controller and its share.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { controller = \"bbr\", share = \"50%\" }"
)]
pub struct Arm {
    /// `name`: the arm's name for people. Without it, the controller's. Arms with the same controller need names.
    pub name: Option<String>,
    /// `controller`: the kernel's name for it.
    pub controller: String,
    /// `share`: the share of units, in proportion to the other arms' shares.
    #[serde(deserialize_with = "share")]
    pub share: Ratio,
}

/// A guard: the study stops if an arm is this much worse than the first, by the anytime-valid 95 % interval.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { measure = \"resent\", worse = \"50%\" }"
)]
pub struct Guard {
    /// `measure`: the measure.
    pub measure: Measure,
    /// `worse`: the limit, relative to the first arm.
    pub worse: Ratio,
}

impl Arm {
    /// Its name for people.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.controller())
    }

    /// The kernel's name for its controller, which scenarios call `kernel:NAME`.
    pub fn controller(&self) -> &str {
        self.controller
            .strip_prefix("kernel:")
            .unwrap_or(&self.controller)
    }
}

units::named! {
    /// The part of the clients' addresses that the data keep.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum KeptAddress, "kind of address" {
        /// The whole address.
        Full = "full",
        /// The network: 24 bits of IPv4, 48 bits of IPv6.
        #[default]
        Prefix = "prefix",
        /// A pseudonym that only the key can resolve.
        Hashed = "hashed",
        /// Nothing.
        None = "none",
    }
}

units::as_text!(KeptAddress);

units::named! {
    /// The way in which connections get their arms.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    enum Assign, "assignment" {
        /// A program on a control group assigns them.
        #[default]
        Cgroup = "cgroup",
        /// Routes to client networks assign them.
        Route = "route",
    }
}

units::as_text!(Assign);

units::named! {
    /// The kinds of units.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum UnitKind, "unit" {
        /// A connection.
        Connection = "connection",
        /// A client network.
        Prefix = "prefix",
        /// A stretch of time.
        Slot = "slot",
    }
}

units::as_text!(UnitKind);

/// The fields of a plan's text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: String,
    cgroup: Option<PathBuf>,
    #[serde(default)]
    assign: Assign,
    connections: Connections,
    unit: UnitKind,
    prefix_v4: Option<u8>,
    prefix_v6: Option<u8>,
    slot: Option<Duration>,
    washout: Option<Duration>,
    #[serde(deserialize_with = "positive")]
    duration: Duration,
    seed: Option<String>,
    #[serde(default)]
    address: KeptAddress,
    #[serde(default)]
    join: bool,
    arm: Vec<Arm>,
    #[serde(default)]
    guard: Vec<Guard>,
}

impl TryFrom<Said> for Plan {
    type Error = Wrong;

    fn try_from(said: Said) -> Result<Plan, Wrong> {
        let unit = said.unit()?;
        said.check()?;
        Ok(Plan {
            name: said.name,
            cgroup: said.cgroup,
            connections: said.connections,
            unit,
            washout: said.washout.unwrap_or(match unit {
                Unit::Slot(length) => Duration::from_nanos(length.as_nanos() / WASHOUT_DIVISOR),
                Unit::Connection | Unit::Prefix { .. } | Unit::PrefixInSlot { .. } => {
                    Duration::ZERO
                }
            }),
            duration: said.duration,
            seed: said.seed,
            address: said.address,
            join: said.join,
            arms: said.arm,
            guards: said.guard,
        })
    }
}

impl Said {
    fn unit(&self) -> Result<Unit, Wrong> {
        let only = |field: &str, is_given: bool, kind: UnitKind| {
            if is_given && self.unit != kind {
                let reason = format!("belongs to the unit {kind}; leave it out");
                return Err(Wrong::new(field, reason));
            }
            Ok(())
        };
        only("prefix_v4", self.prefix_v4.is_some(), UnitKind::Prefix)?;
        only("prefix_v6", self.prefix_v6.is_some(), UnitKind::Prefix)?;
        only("slot", self.slot.is_some(), UnitKind::Slot)?;
        only("washout", self.washout.is_some(), UnitKind::Slot)?;
        match self.unit {
            UnitKind::Connection => Ok(Unit::Connection),
            UnitKind::Prefix => self.prefix(),
            UnitKind::Slot => self.slot(),
        }
    }

    fn prefix(&self) -> Result<Unit, Wrong> {
        let (v4, v6) = (self.prefix_v4.unwrap_or(24), self.prefix_v6.unwrap_or(48));
        if v4 == 0 || v4 > 32 {
            return Err(Wrong::new("prefix_v4", format!("{v4} bits; give 1 to 32")));
        }
        if v6 == 0 || v6 > 128 {
            return Err(Wrong::new("prefix_v6", format!("{v6} bits; give 1 to 128")));
        }
        Ok(Unit::Prefix { v4, v6 })
    }

    fn slot(&self) -> Result<Unit, Wrong> {
        let Some(slot) = self.slot else {
            return Err(Wrong::new("slot", "is missing; give a time such as 10min"));
        };
        if slot < Duration::from_secs(1) {
            return Err(Wrong::new(
                "slot",
                format!("{slot} is too short; give 1s or more"),
            ));
        }
        if self.washout.is_some_and(|washout| washout >= slot) {
            let reason = format!("leaves nothing of a slot of {slot}; give a shorter time");
            return Err(Wrong::new("washout", reason));
        }
        if self.duration.as_nanos() / slot.as_nanos() < 2 {
            let reason = format!("{slot} is too long; give a duration of many slots");
            return Err(Wrong::new("slot", reason));
        }
        Ok(Unit::Slot(slot))
    }

    fn check(&self) -> Result<(), Wrong> {
        self.check_assignment()?;
        let Connections {
            listen, connect, ..
        } = &self.connections;
        if listen.is_empty() && connect.is_empty() {
            let reason = "names no port; give listen, connect, or both";
            return Err(Wrong::new("connections", reason));
        }
        for (field, ports) in [("listen", listen), ("connect", connect)] {
            if ports.len() > MAX_PORT_RANGES {
                let reason = format!(
                    "{} ranges are too many; give {MAX_PORT_RANGES} or fewer",
                    ports.len()
                );
                return Err(Wrong::new(format!("connections.{field}"), reason));
            }
        }
        rules::check_interfaces(&self.connections.interface)
            .map_err(|reason| Wrong::new("connections.interface", reason))?;
        self.check_arms()
    }

    fn check_assignment(&self) -> Result<(), Wrong> {
        let wrong = |field: &str, reason: &str| Err(Wrong::new(field, reason.to_owned()));
        match (self.assign, &self.cgroup) {
            (Assign::Cgroup, None) => {
                return wrong(
                    "cgroup",
                    "is missing; give the directory of a control group; only a plan with assign = \"route\" has none",
                );
            }
            (Assign::Cgroup, Some(group)) if group.as_os_str().is_empty() => {
                return wrong("cgroup", "is empty; give its directory");
            }
            (Assign::Cgroup, Some(_)) => return Ok(()),
            (Assign::Route, Some(_)) => {
                return wrong(
                    "cgroup",
                    "routes hold for a whole network namespace; leave it out with assign = \"route\"",
                );
            }
            (Assign::Route, None) => {}
        }
        if self.unit != UnitKind::Prefix {
            return wrong(
                "unit",
                "a route leads to a client network; give unit = \"prefix\" with assign = \"route\"",
            );
        }
        if self.connections.prefix.is_empty() && self.connections.prefix_file.is_none() {
            return wrong(
                "connections.prefix",
                "is missing: with assign = \"route\", client networks are known before; give them here or in prefix_file",
            );
        }
        if !self.connections.interface.is_empty() {
            return wrong(
                "connections.interface",
                "with assign = \"route\", networks decide, and not interfaces; leave it out, and give the networks behind the interface in \
                 connections.prefix",
            );
        }
        let objects = |guard: &Guard| guard.measure == Measure::Unfinished;
        if let Some(index) = self.guard.iter().position(objects) {
            let field = format!("guard[{index}].measure");
            return wrong(
                &field,
                "with assign = \"route\", objects are not observed; give another measure",
            );
        }
        Ok(())
    }

    fn check_arms(&self) -> Result<(), Wrong> {
        if !(2..=MAX_ARMS).contains(&self.arm.len()) {
            let reason = format!("give 2 to {MAX_ARMS} arms, not {}", self.arm.len());
            return Err(Wrong::new("arm", reason));
        }
        for (index, arm) in self.arm.iter().enumerate() {
            let wrong = |field: &str, reason: String| {
                Err(Wrong::new(format!("arm[{index}].{field}"), reason))
            };
            let controller = arm.controller();
            if !rules::can_be_controller(controller) {
                return wrong(
                    "controller",
                    format!(
                        "\"{}\" cannot be the name of a kernel's controller",
                        controller.escape_debug()
                    ),
                );
            }
            let name = arm.name();
            if arm.name.is_some() && !is_name(name) {
                return wrong(
                    "name",
                    format!(
                        "\"{}\" cannot be an arm's name; give 1 to {MAX_NAME_CHARS} letters, digits, - and _",
                        name.escape_debug()
                    ),
                );
            }
            if self.arm[..index].iter().any(|other| other.name() == name) {
                return match arm.name {
                    Some(_) => wrong(
                        "name",
                        format!("another arm is called {name}; give another name"),
                    ),
                    None => wrong(
                        "controller",
                        format!(
                            "{name} already has an arm; add the shares, or give the arms names to compare {name} with itself"
                        ),
                    ),
                };
            }
            if arm.share.numerator() == 0 {
                return wrong("share", "is 0 %; leave the arm out".to_owned());
            }
        }
        let guards = self.guard.iter().enumerate();
        for (index, guard) in guards {
            if guard.worse.numerator() == 0 {
                let reason = "0 % would stop every study; give a share such as 20%";
                return Err(Wrong::new(format!("guard[{index}].worse"), reason));
            }
            if guard.measure.is_more_better().is_none() {
                let reason = format!(
                    "{} is neither better nor worse when it changes; give another measure",
                    guard.measure
                );
                return Err(Wrong::new(format!("guard[{index}].measure"), reason));
            }
        }
        Ok(())
    }
}

/// True if a name fits into tables and options.
fn is_name(name: &str) -> bool {
    let is_fine = |c: char| text::is_letter(c) || matches!(c, '-' | '_');
    (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && name.chars().all(is_fine)
}

impl Plan {
    /// Reads the text of a plan.
    ///
    /// # Errors
    ///
    /// The plan is invalid.
    pub fn parse(text: &str) -> Result<Plan, DocumentError> {
        de::read_toml(text).map(|(plan, _)| plan)
    }

    /// Adds the networks of the file that the plan names. `read` returns the networks of this file, and the iterator reads
    /// them one by one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no network. Without a network, all clients would take part. Or there are too many.
    pub fn place_list<E: Display, L: IntoIterator<Item = Result<Prefix, E>>>(
        &mut self,
        read: impl FnOnce(&Path) -> Result<L, E>,
    ) -> Result<(), DocumentError> {
        let named = &mut self.connections;
        let Some(file) = &named.prefix_file else {
            return Ok(());
        };
        let mut room = Room::beside(named.prefix.len() + named.except.len());
        let list = read(file).map_err(|error| error.to_string());
        let added = list.and_then(|list| room.add_list(list, &mut named.prefix));
        added.map_err(|why| {
            let reason = format!("{}: {why}", file.display());
            DocumentError::new("connections.prefix_file", reason)
        })
    }

    /// The ranges of draws for the arms.
    pub fn shares(&self) -> Shares {
        let parts: Vec<f64> = self.arms.iter().map(|arm| arm.share.as_f64()).collect();
        Shares::of(&parts)
    }

    /// The key of its seed, or of `chance` if it has none.
    pub fn key(&self, chance: &str) -> Key {
        Key::of_seed(self.seed.as_deref().unwrap_or(chance))
    }

    /// True if connections can be joined to access logs. The whole address or its hash identifies them as well.
    pub fn keeps_ends(&self) -> bool {
        self.join || matches!(self.address, KeptAddress::Full | KeptAddress::Hashed)
    }

    /// True if a connection that was set up at this time, since 1970, is evaluated: it is not in its slot's washout.
    pub fn is_evaluated(&self, set_up: Duration) -> bool {
        match self.unit {
            Unit::Slot(slot) => {
                set_up.as_nanos() % slot.as_nanos().max(1) >= self.washout.as_nanos()
            }
            Unit::Connection | Unit::Prefix { .. } | Unit::PrefixInSlot { .. } => true,
        }
    }

    /// The names of the arms.
    pub fn names(&self) -> Vec<&str> {
        self.arms.iter().map(Arm::name).collect()
    }

    /// The controller of the arm with this name; the name itself if there is no such arm.
    pub fn controller<'p>(&'p self, name: &'p str) -> &'p str {
        let arm = self.arms.iter().find(|arm| arm.name() == name);
        arm.map_or(name, Arm::controller)
    }

    /// The controllers of the arms, by the kernel's names.
    pub fn controllers(&self) -> Vec<&str> {
        self.arms.iter().map(Arm::controller).collect()
    }
}

#[cfg(test)]
mod tests;
