//! POLICY.toml: rules in order, which decide the controller of each connection.

mod lowered;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use document::DocumentError;
use document::de::{self, Wrong};
use rules::{
    Conditions, Connection, Interface, MAX_ARMS, MAX_PORT_RANGES, MAX_RULES, Ports, Prefix,
    Quantity, Spans,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use units::bounds::share;
use units::{Duration, Ratio};

use crate::assignment::{Key, Shares, Unit};
use crate::networks::Room;
pub use lowered::{Decision, Lowered, LoweredRule};

/// The bits of a client network.
const V4: u8 = 24;
const V6: u8 = 48;

/// Neighbours explore together for one turn, then other networks do. So each network has its turn, and many networks
/// test a rule even if a policy has few.
const UNIT: Unit = Unit::PrefixInSlot {
    v4: V4,
    v6: V6,
    slot: TURN,
};

/// The length of a turn. It is long compared with most connections, so that neighbours seldom have different
/// controllers. It is short compared with the time in which a stale rule is to be found.
pub const TURN: Duration = Duration::from_secs(600);

/// A policy: rules that assign controllers to the connections of a control group.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Said")]
pub struct Policy {
    /// `cgroup`: the control group whose connections are steered.
    pub cgroup: PathBuf,
    /// `explore`: the share of client networks that get another controller of the policy for one turn.
    pub explore: Ratio,
    /// `seed`: determines which networks explore.
    pub seed: String,
    /// `[[rule]]`: the first rule that matches counts. Connections that match no rule are left alone.
    pub rules: Vec<Rule>,
    /// The text of the policy.
    pub text: String,
    /// The absolute path of the file with this text, if it is known.
    pub file: Option<PathBuf>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { name = \"inside\", prefix = [\"10.0.0.0/8\"], listen = [443], controller = \"cubic\" }"
)]
pub struct Rule {
    /// `name`: the name for people.
    pub name: String,
    /// `listen`: connections accepted at these ports.
    #[serde(default)]
    pub listen: Vec<Ports>,
    /// `connect`: connections opened to these ports.
    #[serde(default)]
    pub connect: Vec<Ports>,
    /// `prefix`: the other side is in these networks. Without `prefix`, `prefix_file` and `as`: in any network.
    #[serde(default)]
    pub prefix: Vec<Prefix>,
    /// `prefix_file`: the other side is in a network that this file lists, one in each line.
    pub prefix_file: Option<PathBuf>,
    /// `as`: the other side is in a network of these autonomous systems, according to a file.
    #[serde(default, rename = "as")]
    pub systems: Vec<u32>,
    /// `interface`: the data leave through these interfaces. Without it: through any interface.
    #[serde(default)]
    pub interface: Vec<Interface>,
    /// The spans of quantities: `rtt_from`, `rtt_below` and the others.
    #[serde(rename = "*")]
    pub spans: Spans,
    /// `controller`: the kernel's name for it.
    pub controller: String,
    /// `evidence`: the reason, for people: a report, a date.
    #[serde(default)]
    pub evidence: String,
    /// `expect`: the expected advantage of its controller over the others. With less than half of it, the rule is
    /// stale.
    pub expect: Option<Ratio>,
    /// `explore`: the share of its client networks that explore, instead of the policy's. With 0, none does.
    #[serde(default, deserialize_with = "some_share")]
    pub explore: Option<Ratio>,
}

fn some_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    share(deserializer).map(Some)
}

/// The fields of a policy's text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(default)]
    cgroup: PathBuf,
    #[serde(default = "nothing", deserialize_with = "share")]
    explore: Ratio,
    #[serde(default)]
    seed: String,
    rule: Vec<Rule>,
}

const fn nothing() -> Ratio {
    Ratio::new(0, 1)
}

impl TryFrom<Said> for Policy {
    type Error = Wrong;

    fn try_from(said: Said) -> Result<Policy, Wrong> {
        if said.cgroup.as_os_str().is_empty() {
            return Err(Wrong::new(
                "cgroup",
                "is missing; give the directory of a control group, such as system.slice/nginx.service",
            ));
        }
        if said.rule.is_empty() || said.rule.len() > MAX_RULES {
            let reason = format!("{} rules; give 1 to {MAX_RULES}", said.rule.len());
            return Err(Wrong::new("rule", reason));
        }
        for (index, rule) in said.rule.iter().enumerate() {
            let known = &said.rule[..index];
            rule.check(known)
                .map_err(|(field, reason)| Wrong::new(format!("rule[{index}].{field}"), reason))?;
        }
        check_explore(said.explore).map_err(|reason| Wrong::new("explore", reason))?;
        let policy = Policy {
            cgroup: said.cgroup,
            explore: said.explore,
            seed: said.seed,
            rules: said.rule,
            text: String::new(),
            file: None,
        };
        if policy.controllers().len() > MAX_ARMS {
            let reason = format!("name more than {MAX_ARMS} controllers; give fewer");
            return Err(Wrong::new("rule", reason));
        }
        Ok(policy)
    }
}

fn check_explore(explore: Ratio) -> Result<(), String> {
    if explore.as_f64() < 0.5 {
        return Ok(());
    }
    Err(format!(
        "{explore} would be a study and not a policy; give less than 50%"
    ))
}

impl Rule {
    /// The first invalid field, and the reason.
    fn check(&self, earlier: &[Rule]) -> Result<(), (&'static str, String)> {
        if self.name.is_empty() || earlier.iter().any(|other| other.name == self.name) {
            return Err((
                "name",
                format!(
                    "\"{}\" must not be empty, and no other rule may have it",
                    self.name
                ),
            ));
        }
        if self.listen.is_empty() && self.connect.is_empty() {
            let reason = "names no port; give listen, connect, or both, such as listen = [443]";
            return Err(("listen", reason.to_owned()));
        }
        for (field, ports) in [("listen", &self.listen), ("connect", &self.connect)] {
            if ports.len() > MAX_PORT_RANGES {
                return Err((
                    field,
                    format!("{} ranges; give {MAX_PORT_RANGES} or fewer", ports.len()),
                ));
            }
        }
        rules::check_interfaces(&self.interface).map_err(|reason| ("interface", reason))?;
        for quantity in Quantity::ALL {
            let span = self.spans.of(quantity);
            if span.is_empty() {
                let ([from, below], least) = (quantity.fields(), quantity.form().text(span.from));
                // Without an end, there is no value because of where the span begins.
                let wrong = if span.below == u64::MAX {
                    (from, "leaves no value; give less".to_owned())
                } else {
                    let reason =
                        format!("leaves no value, because {from} counts as {least}; give more");
                    (below, reason)
                };
                return Err(wrong);
            }
        }
        let name = self.controller();
        if !rules::can_be_controller(name) {
            let reason = format!(
                "\"{}\" cannot be the name of a kernel's controller",
                name.escape_debug()
            );
            return Err(("controller", reason));
        }
        check_explore(self.explore.unwrap_or_default()).map_err(|reason| ("explore", reason))
    }

    /// The kernel's name for its controller, which scenarios call `kernel:NAME`.
    pub fn controller(&self) -> &str {
        self.controller
            .strip_prefix("kernel:")
            .unwrap_or(&self.controller)
    }

    /// True if it holds in any network.
    pub fn is_everywhere(&self) -> bool {
        self.prefix.is_empty() && self.prefix_file.is_none() && self.systems.is_empty()
    }

    /// True if its networks are all private. Within a site or between sites, there is nothing to explore.
    fn is_inside(&self) -> bool {
        let is_elsewhere = self.prefix_file.is_some() || !self.systems.is_empty();
        !is_elsewhere && !self.prefix.is_empty() && self.prefix.iter().all(Prefix::is_private)
    }

    /// The conditions for a connection, apart from its client's network.
    pub fn conditions(&self) -> Conditions {
        let (listen, connect) = (self.listen.clone(), self.connect.clone());
        Conditions {
            spans: self.spans,
            ..Conditions::new(listen, connect, self.interface.clone())
        }
    }
}

impl Policy {
    /// Reads the text of a policy.
    ///
    /// # Errors
    ///
    /// The policy is invalid.
    pub fn parse(text: &str) -> Result<Policy, DocumentError> {
        let (policy, _) = de::read_toml::<Policy>(text)?;
        Ok(Policy {
            text: text.to_owned(),
            ..policy
        })
    }

    /// The control group in a policy's text, even if the rest of the text is invalid. `None` if the text has no rules,
    /// as that of a study's plan.
    pub fn group_in(text: &str) -> Option<PathBuf> {
        #[derive(Deserialize)]
        struct Group {
            cgroup: PathBuf,
            #[serde(rename = "rule")]
            _rule: IgnoredAny,
        }
        let (group, _) = de::read_toml::<Group>(text).ok()?;
        Some(group.cgroup)
    }

    /// The autonomous systems that its rules name.
    pub fn systems(&self) -> BTreeSet<u32> {
        let all = self.rules.iter().flat_map(|rule| &rule.systems);
        all.copied().collect()
    }

    /// Resolves the autonomous systems that rules name to their networks.
    ///
    /// # Errors
    ///
    /// A system has no network, so its rule would hold nowhere. Or there are too many networks.
    pub fn place_systems(
        &mut self,
        networks: &BTreeMap<u32, Vec<Prefix>>,
    ) -> Result<(), DocumentError> {
        let mut room = self.room();
        for (index, rule) in self.rules.iter_mut().enumerate() {
            for number in &rule.systems {
                let wrong = |why: &str| {
                    DocumentError::new(format!("rule[{index}].as"), format!("AS{number} {why}"))
                };
                let Some(networks) = networks.get(number).filter(|all| !all.is_empty()) else {
                    return Err(wrong("has no network in the file that --as names"));
                };
                room.take(networks.len()).map_err(|why| wrong(&why))?;
                rule.prefix.extend(networks);
            }
        }
        Ok(())
    }

    /// Adds the networks of the files that rules name. `read` returns the networks of a file, and the iterator reads them one
    /// by one.
    ///
    /// # Errors
    ///
    /// A file cannot be read or has no network, so its rule would hold nowhere. Or there are too many networks.
    pub fn place_lists<E: Display, L: IntoIterator<Item = Result<Prefix, E>>>(
        &mut self,
        mut read: impl FnMut(&Path) -> Result<L, E>,
    ) -> Result<(), DocumentError> {
        let mut room = self.room();
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let Some(file) = &rule.prefix_file else {
                continue;
            };
            let list = read(file).map_err(|error| error.to_string());
            let added = list.and_then(|list| room.add_list(list, &mut rule.prefix));
            added.map_err(|why| {
                let reason = format!("{}: {why}", file.display());
                DocumentError::new(format!("rule[{index}].prefix_file"), reason)
            })?;
        }
        Ok(())
    }

    /// The room for further networks.
    fn room(&self) -> Room {
        Room::beside(self.rules.iter().map(|rule| rule.prefix.len()).sum())
    }

    /// All controllers of its rules.
    pub fn controllers(&self) -> BTreeSet<&str> {
        self.rules.iter().map(Rule::controller).collect()
    }

    /// The share of a rule's client networks that explore. Without a share of its own, it is none for private networks,
    /// and the policy's for others.
    pub fn explored(&self, rule: &Rule) -> Ratio {
        let other = if rule.is_inside() {
            Ratio::ZERO
        } else {
            self.explore
        };
        rule.explore.unwrap_or(other)
    }

    /// True if any network explores. With a single controller, none does.
    pub fn has_explorers(&self) -> bool {
        let mut rules = self.rules.iter();
        self.controllers().len() > 1 && rules.any(|rule| self.explored(rule).numerator() > 0)
    }

    /// The key of the draws for exploring.
    pub fn key(&self) -> Key {
        Key::of_seed(&self.seed)
    }

    /// The unit of the draws.
    pub fn unit(&self) -> Unit {
        UNIT
    }

    /// The client network of an address.
    pub fn network(&self, client: IpAddr) -> Prefix {
        Prefix::around(client, if client.is_ipv4() { V4 } else { V6 })
    }

    /// A rule's controllers with their shares. Its own is the first.
    pub fn arms<'p>(&'p self, rule: &'p Rule) -> (Vec<&'p str>, Shares) {
        let own = rule.controller();
        let explore = self.explored(rule).as_f64();
        let mut names = vec![own];
        if explore > 0.0 {
            names.extend(self.controllers().into_iter().filter(|name| *name != own));
        }
        let others = names.len() - 1;
        let mut parts = vec![if others > 0 { 1.0 - explore } else { 1.0 }];
        parts.extend(std::iter::repeat_n(explore / others.max(1) as f64, others));
        (names, Shares::of(&parts))
    }

    /// True if a rule is for connections with this port.
    pub fn has_port(&self, of: &Connection) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.conditions().has_port(of))
    }
}

#[cfg(test)]
mod tests;
