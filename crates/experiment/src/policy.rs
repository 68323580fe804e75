//! POLICY.toml: which connections get which controller, by rules in order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use scenario::ScenarioError;
use scenario::de::{self, Wrong};
use serde::{Deserialize, Deserializer};
use units::bounds::share;
use units::{Duration, Ratio};

use crate::assignment::{Key, Shares, Unit};
use crate::plan::{MOST_ARMS, MOST_PORTS, NAME};
use crate::ports::Ports;
use crate::prefix::Prefix;

/// So many rules: as many as the kernel's program looks through.
pub const MOST_RULES: usize = 32;

/// So many networks, in all rules together. Routers of the whole internet know some 1.3 million; the kernel's table takes up to 200
/// bytes for each.
pub const MOST_NETWORKS: usize = 2_000_000;

/// Neighbours explore together, for this long; then others do. So each network has its turn, and whether a rule holds is told by many
/// networks also where a policy has few.
const UNIT: Unit = Unit::PrefixInSlot {
    v4: 24,
    v6: 48,
    slot: TURN,
};

/// For so long the same networks explore: long beside most connections, so that neighbours seldom have another controller, and short beside
/// the time in which a rule is to be found stale.
pub const TURN: Duration = Duration::from_secs(600);

/// Which connections of a control group get which controller.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Said")]
pub struct Policy {
    /// `cgroup`: whose connections.
    pub cgroup: PathBuf,
    /// `explore`: the share of client networks that, for a while, get another of the policy's controllers.
    pub explore: Ratio,
    /// `seed`: makes the draws of who explores.
    pub seed: String,
    /// `[[rule]]`: the first that holds counts. What none holds for is left alone.
    pub rules: Vec<Rule>,
    /// The text that it was read from.
    pub text: String,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { name = \"inside\", prefix = [\"10.0.0.0/8\"], listen = [443], controller = \"cubic\" }"
)]
pub struct Rule {
    /// `name`: what people call it.
    pub name: String,
    /// `listen`: connections that came in at these ports.
    #[serde(default)]
    pub listen: Vec<Ports>,
    /// `connect`: connections that went out to these ports.
    #[serde(default)]
    pub connect: Vec<Ports>,
    /// `prefix`: with the other side in these networks; none, here, of `prefix_file` and of `as`: in any.
    #[serde(default)]
    pub prefix: Vec<Prefix>,
    /// `prefix_file`: with the other side in the networks that this file has, one in a line.
    pub prefix_file: Option<PathBuf>,
    /// `as`: with the other side in the networks of these autonomous systems, which a file tells.
    #[serde(default, rename = "as")]
    pub systems: Vec<u32>,
    /// `rtt_from`: with at least this RTT of the handshake.
    #[serde(default)]
    pub rtt_from: Duration,
    /// `rtt_below`: with less than this.
    pub rtt_below: Option<Duration>,
    /// `controller`: by the kernel's name for it.
    pub controller: String,
    /// `evidence`: why, for people: a report, a date.
    #[serde(default)]
    pub evidence: String,
    /// `expect`: how much better its controller is to be than the others; less than half of it makes it stale.
    pub expect: Option<Ratio>,
    /// `explore`: the share of its client networks that explore, in place of the policy's; of 0, it has no part in that.
    #[serde(default, deserialize_with = "some_share")]
    pub explore: Option<Ratio>,
}

fn some_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    share(deserializer).map(Some)
}

/// What a policy's text says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
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
            return Err(Wrong::new("cgroup", "is empty; give its directory"));
        }
        if said.rule.is_empty() || said.rule.len() > MOST_RULES {
            let reason = format!("{} rules; give 1 to {MOST_RULES}", said.rule.len());
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
        };
        if policy.controllers().len() > MOST_ARMS {
            let reason = format!("name more than {MOST_ARMS} controllers; give fewer");
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
        "{explore} is a study and no policy; give less than 50%"
    ))
}

impl Rule {
    /// The field that makes no sense, and why.
    fn check(&self, earlier: &[Rule]) -> Result<(), (&'static str, String)> {
        if self.name.is_empty() || earlier.iter().any(|other| other.name == self.name) {
            return Err((
                "name",
                format!("\"{}\" must be there, and once only", self.name),
            ));
        }
        if self.listen.is_empty() && self.connect.is_empty() {
            let reason = "names no port; give listen, connect, or both, such as listen = [443]";
            return Err(("listen", reason.to_owned()));
        }
        for (field, ports) in [("listen", &self.listen), ("connect", &self.connect)] {
            if ports.len() > MOST_PORTS {
                return Err((
                    field,
                    format!("{} ranges; give {MOST_PORTS} or fewer", ports.len()),
                ));
            }
        }
        if self.rtt_below.is_some_and(|below| below <= self.rtt_from) {
            let reason = format!("nothing is from {} on and below that", self.rtt_from);
            return Err(("rtt_below", reason));
        }
        let name = self.controller();
        if name.is_empty() || name.len() >= NAME || name.contains(|c: char| !c.is_ascii_graphic()) {
            let reason = format!("\"{}\" is no controller of a kernel's", name.escape_debug());
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

    /// Whether it holds in any network.
    pub fn is_everywhere(&self) -> bool {
        self.prefix.is_empty() && self.prefix_file.is_none() && self.systems.is_empty()
    }

    /// Whether all that it says of networks is private ones: within a site, or between sites, nothing is to be found out.
    fn is_inside(&self) -> bool {
        let is_elsewhere = self.prefix_file.is_some() || !self.systems.is_empty();
        !is_elsewhere && !self.prefix.is_empty() && self.prefix.iter().all(Prefix::is_private)
    }

    fn has_port(&self, of: &Connection) -> bool {
        let ports = if of.is_incoming {
            &self.listen
        } else {
            &self.connect
        };
        ports.iter().any(|ports| ports.has(of.port))
    }

    fn has_rtt(&self, rtt: Duration) -> bool {
        if rtt.is_zero() {
            return self.rtt_from.is_zero() && self.rtt_below.is_none();
        }
        rtt >= self.rtt_from && self.rtt_below.is_none_or(|below| rtt < below)
    }
}

/// What a policy looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The other side.
    pub client: IpAddr,
    /// Whether it came in.
    pub is_incoming: bool,
    /// This side's port if it came in, else the other side's.
    pub port: u16,
    /// The RTT of the handshake; zero if it is not known, as with Fast Open.
    pub rtt: Duration,
    /// When it was set up, since 1970: who explores changes with [`TURN`].
    pub at: Duration,
}

/// What a policy decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision<'p> {
    /// By which rule.
    pub rule: &'p Rule,
    /// The controller.
    pub controller: &'p str,
    /// Whether it is another one than the rule's, to explore.
    pub is_exploring: bool,
}

impl Policy {
    /// Reads a policy's text.
    ///
    /// # Errors
    ///
    /// It makes no sense.
    pub fn parse(text: &str) -> Result<Policy, ScenarioError> {
        let (policy, _) = de::read_toml::<Policy>(text)?;
        Ok(Policy {
            text: text.to_owned(),
            ..policy
        })
    }

    /// Whose connections a policy's text is of, also where the rest of it makes no sense.
    pub fn group_in(text: &str) -> Option<PathBuf> {
        #[derive(Deserialize)]
        struct Group {
            cgroup: PathBuf,
        }
        let (group, _) = de::read_toml::<Group>(text).ok()?;
        Some(group.cgroup)
    }

    /// The autonomous systems that its rules name.
    pub fn systems(&self) -> BTreeSet<u32> {
        let all = self.rules.iter().flat_map(|rule| &rule.systems);
        all.copied().collect()
    }

    /// Gives rules the networks of the systems that they name.
    ///
    /// # Errors
    ///
    /// A system has none. Without a network, a rule would hold nowhere.
    pub fn place_systems(
        &mut self,
        networks: &BTreeMap<u32, Vec<Prefix>>,
    ) -> Result<(), ScenarioError> {
        for (index, rule) in self.rules.iter_mut().enumerate() {
            for number in &rule.systems {
                let Some(networks) = networks.get(number).filter(|all| !all.is_empty()) else {
                    let reason = format!("AS{number} has no network in the file that --as names");
                    return Err(ScenarioError::new(format!("rule[{index}].as"), reason));
                };
                rule.prefix.extend(networks);
            }
        }
        self.count()
    }

    /// Gives rules the networks of the files that they name, as `read` finds them there.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or has none. Without a network, a rule would hold nowhere.
    pub fn place_lists<E: Display>(
        &mut self,
        mut read: impl FnMut(&Path) -> Result<Vec<Prefix>, E>,
    ) -> Result<(), ScenarioError> {
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let Some(file) = &rule.prefix_file else {
                continue;
            };
            let wrong = |why: &dyn Display| {
                let reason = format!("{}: {why}", file.display());
                ScenarioError::new(format!("rule[{index}].prefix_file"), reason)
            };
            let networks = read(file).map_err(|error| wrong(&error))?;
            if networks.is_empty() {
                return Err(wrong(&"has no network; give one in each line"));
            }
            rule.prefix.extend(networks);
        }
        self.count()
    }

    /// Whether there are no more networks than the kernel is to hold.
    fn count(&self) -> Result<(), ScenarioError> {
        let count: usize = self.rules.iter().map(|rule| rule.prefix.len()).sum();
        if count <= MOST_NETWORKS {
            return Ok(());
        }
        let reason = format!(
            "name {count} networks altogether; give {MOST_NETWORKS} or fewer, such as larger networks in place of their parts"
        );
        Err(ScenarioError::new("rule", reason))
    }

    /// All of its controllers.
    pub fn controllers(&self) -> BTreeSet<&str> {
        self.rules.iter().map(Rule::controller).collect()
    }

    /// The share of a rule's client networks that explore: what it says itself; without that, none of private networks, and of others
    /// the policy's.
    pub fn explored(&self, rule: &Rule) -> Ratio {
        let other = if rule.is_inside() {
            Ratio::ZERO
        } else {
            self.explore
        };
        rule.explore.unwrap_or(other)
    }

    /// Whether any network explores: not where there is but one controller.
    pub fn has_explorers(&self) -> bool {
        let mut rules = self.rules.iter();
        self.controllers().len() > 1 && rules.any(|rule| self.explored(rule).numerator() > 0)
    }

    /// What draws who explores.
    pub fn key(&self) -> Key {
        Key::of_seed(&self.seed)
    }

    /// What draws are of.
    pub fn unit(&self) -> Unit {
        UNIT
    }

    /// A rule's controllers and their shares: its own first, and those to explore.
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

    /// Each network that a rule names, in order, with a bit for each rule that holds there; and the bits of rules that hold
    /// everywhere. The most specific network counts, so it has the bits of those around it.
    pub fn networks(&self) -> (Vec<(Prefix, u64)>, u64) {
        let mut everywhere = 0;
        let count = self.rules.iter().map(|rule| rule.prefix.len()).sum();
        let mut all: Vec<(Prefix, u64)> = Vec::with_capacity(count);
        for (place, rule) in self.rules.iter().enumerate() {
            if rule.is_everywhere() {
                everywhere |= 1 << place;
            }
            all.extend(rule.prefix.iter().map(|prefix| (*prefix, 1 << place)));
        }
        all.sort_unstable();
        all.dedup_by(|later, one| {
            let is_same = later.0 == one.0;
            if is_same {
                one.1 |= later.1;
            }
            is_same
        });
        // In this order a network comes behind those around it, with only others of theirs in between.
        let mut around: Vec<(Prefix, u64)> = Vec::new();
        for (prefix, bits) in &mut all {
            while around
                .pop_if(|(outer, _)| !outer.has(prefix.first()))
                .is_some()
            {}
            *bits |= around.last().map_or(everywhere, |(_, outer)| *outer);
            around.push((*prefix, *bits));
        }
        (all, everywhere)
    }

    /// What it decides, as the kernel's program does; nothing if it leaves the connection alone.
    pub fn decide(&self, of: &Connection) -> Option<Decision<'_>> {
        let client = of.client.to_canonical();
        let holds = |rule: &&Rule| {
            let is_there =
                rule.is_everywhere() || rule.prefix.iter().any(|prefix| prefix.has(client));
            is_there && rule.has_rtt(of.rtt) && rule.has_port(of)
        };
        let rule = self.rules.iter().find(holds)?;
        let (names, shares) = self.arms(rule);
        let draw = self.key().draw(UNIT.subject(0, client, of.at));
        let arm = shares.arm(draw);
        Some(Decision {
            rule,
            controller: names.get(arm).copied()?,
            is_exploring: arm > 0,
        })
    }
}

#[cfg(test)]
mod tests;
