//! Makes a policy from the results of a study: rules with their evidence. The groups in which one controller is better
//! share a rule. So a person can read the policy, and each rule has enough networks that explore.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::effect::DOUBT;
use crate::findings::{Findings, GroupRow, Rival, is_clear};
use crate::plan::Plan;
use crate::policy::{Policy, Rule};
use crate::ports::Ports;
use crate::prefix::Prefix;
use crate::verdict::{Decision, change, probability, range};

/// The greatest expectation of a rule. Half of it is already much.
const MOST: f64 = 1.0;

/// The share of client networks that explore, so that a stale rule is noticed.
const EXPLORE: &str = "2%";

/// The name of the rule for all other connections.
const REST: &str = "rest";

/// The number of list items in a line.
const LINE: usize = 6;

/// The number of groups of a rule whose evidence is shown beside it.
const SHOWN: usize = 20;

/// Why no policy can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// The data cannot be trusted.
    Distrust,
    /// There are too few data.
    TooLittle,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The most specific networks come first.
    Network(std::cmp::Reverse<u8>, Prefix),
    System(u32),
}

impl Place {
    /// The place that a group of a study stands for.
    fn of(group: &str) -> Option<Place> {
        if let Some(number) = group.strip_prefix("AS") {
            return number.parse().ok().map(Place::System);
        }
        let prefix: Prefix = group.parse().ok()?;
        Some(Place::Network(std::cmp::Reverse(prefix.length()), prefix))
    }

    fn network(&self) -> Option<Prefix> {
        match self {
            Place::Network(_, prefix) => Some(*prefix),
            Place::System(_) => None,
        }
    }

    fn system(&self) -> Option<u32> {
        match self {
            Place::Network(..) => None,
            Place::System(number) => Some(*number),
        }
    }

    fn name(&self) -> String {
        match self {
            Place::Network(_, prefix) => prefix.to_string(),
            Place::System(number) => format!("AS{number}"),
        }
    }
}

/// A group that a rule will hold for.
struct Learned<'f> {
    controller: &'f str,
    /// The observed advantage of its controller over that of the remaining connections. The largest of many advantages is
    /// partly chance.
    better: f64,
    /// The lower end of the interval that is corrected for the selection.
    expect: f64,
    p: f64,
    observations: u64,
    is_kept: bool,
    evidence: String,
}

/// The line that names the control group. A study by route has none, and a policy without one is refused.
fn group(plan: &Plan) -> String {
    match &plan.cgroup {
        Some(group) => format!("cgroup = {}", quoted(&group.to_string_lossy())),
        None => "# The study was by route: give the control group of the server.\ncgroup = \"\""
            .to_owned(),
    }
}

/// The text of the policy. A rule of an earlier policy is kept as long as the study does not speak against it.
///
/// # Errors
///
/// The study gives no result.
pub fn policy(
    plan: &Plan,
    findings: &Findings,
    earlier: Option<&Policy>,
) -> Result<String, Nothing> {
    let names = plan.names();
    let first = names.first().copied().unwrap_or_default();
    let rest = match &findings.decision {
        Decision::Distrust => return Err(Nothing::Distrust),
        Decision::TooLittle => return Err(Nothing::TooLittle),
        Decision::Take(controller) => controller.as_str(),
        Decision::Open | Decision::Stay | Decision::Weigh(_) => first,
    };
    let mut harmed = Vec::new();
    let all = learned(findings, rest, earlier, &mut harmed);
    let mut text = format!(
        "# Made by fullpipe steer learn from the study {}, by {}.\n{}\nexplore = \"{EXPLORE}\"\n",
        quoted(&plan.name),
        plan.unit,
        group(plan)
    );
    let mut ports = String::new();
    for (name, of) in [
        ("listen", &plan.connections.listen),
        ("connect", &plan.connections.connect),
    ] {
        ports += &field(name, of.iter().map(port).collect());
    }
    ports += &field(
        "interface",
        plan.connections
            .interface
            .iter()
            .map(|one| quoted(one.name()))
            .collect(),
    );
    let mut controllers = BTreeSet::new();
    let mut rule = |name: &str, place: &str, controller: &str, more: &str| {
        controllers.insert(controller.to_owned());
        let _ = write!(
            text,
            "\n[[rule]]\nname = {}\n{place}{ports}controller = {}\n{more}",
            quoted(name),
            quoted(controller)
        );
    };
    if !plan.connections.except.is_empty() {
        // Connections that took no part keep the first controller.
        let more = "explore = \"0%\"\nevidence = \"took no part in the study\"\n";
        let networks = field("prefix", texts(&plan.connections.except));
        rule("no part", &networks, first, more);
    }
    // All client networks of one IP version have the same prefix length, so none is within another.
    let mut rules: BTreeMap<(bool, &str), Vec<(&Place, &Learned<'_>)>> = BTreeMap::new();
    for (place, learned) in &all {
        let key = (matches!(place, Place::System(_)), learned.controller);
        rules.entry(key).or_default().push((place, learned));
    }
    for ((_, controller), mut groups) in rules {
        groups.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
        let Groups { place, name, more } = Groups::of(&groups);
        rule(
            &format!("{controller} for {name}"),
            &place,
            controller,
            &more,
        );
    }
    let Placed {
        mut networks,
        explore,
    } = Placed::in_networks(&plan.connections.prefix);
    if let Some(file) = &plan.connections.prefix_file {
        let _ = writeln!(
            networks,
            "prefix_file = {}",
            quoted(&file.to_string_lossy())
        );
    }
    let evidence = format!("{explore}evidence = {}\n", quoted(&findings.verdict));
    rule(REST, &networks, rest, &evidence);
    for line in &harmed {
        let _ = write!(text, "\n# {line}\n");
    }
    if controllers.len() == 1 {
        text += "\n# All rules have one controller: there is nothing to explore, and no rule is found stale.\n";
    }
    Ok(text)
}

/// The fields of a rule that explores.
struct Placed {
    networks: String,
    /// Set explicitly for private networks: if they took part in a study, they are clients' networks.
    explore: String,
}

impl Placed {
    fn in_networks(prefixes: &[Prefix]) -> Placed {
        let is_inside = !prefixes.is_empty() && prefixes.iter().all(Prefix::is_private);
        Placed {
            networks: field("prefix", texts(prefixes)),
            explore: if is_inside {
                format!("explore = \"{EXPLORE}\"\n")
            } else {
                String::new()
            },
        }
    }
}

/// A rule for groups in which one controller is better. They are either all networks or all systems.
struct Groups {
    place: String,
    name: String,
    more: String,
}

impl Groups {
    /// `groups` are one or more, by ascending p-value.
    fn of(groups: &[(&Place, &Learned<'_>)]) -> Groups {
        let systems: BTreeSet<u32> = groups
            .iter()
            .filter_map(|(place, _)| place.system())
            .collect();
        let networks = groups.iter().filter_map(|(place, _)| place.network());
        let Placed { networks, explore } = Placed::in_networks(&Prefix::fewest(networks.collect()));
        let kind = if systems.is_empty() {
            "networks"
        } else {
            "systems"
        };
        let systems = systems.iter().map(u32::to_string).collect();
        let mut place = networks + &field("as", systems);
        let (name, evidence) = match groups {
            [(place, learned)] => (place.name(), learned.evidence.clone()),
            all => {
                for (group, learned) in all.iter().take(SHOWN) {
                    let _ = writeln!(place, "# {}: {}", group.name(), learned.evidence);
                }
                if all.len() > SHOWN {
                    let _ = writeln!(place, "# and {} more", all.len() - SHOWN);
                }
                (format!("{} {kind}", all.len()), summary(all))
            }
        };
        // In tenths of a per cent, rounded down.
        let expect = (expected(groups) * 1000.0).floor() / 10.0;
        let mut more = format!("{explore}evidence = {}\n", quoted(&evidence));
        if expect > 0.0 {
            more = format!("expect = \"{expect:.1}%\"\n{more}");
        }
        Groups { place, name, more }
    }
}

/// The expected advantage of a rule: the mean of its groups' expectations, weighted by observations.
fn expected(groups: &[(&Place, &Learned<'_>)]) -> f64 {
    let weight = |of: &Learned<'_>| of.observations.max(1) as f64;
    let all: f64 = groups.iter().map(|(_, of)| weight(of)).sum();
    let promised = groups
        .iter()
        .map(|(_, of)| of.expect.clamp(0.0, MOST) * weight(of));
    promised.sum::<f64>() / all
}

/// The evidence of many groups in one sentence.
fn summary(groups: &[(&Place, &Learned<'_>)]) -> String {
    let better = || groups.iter().map(|(_, of)| of.better);
    let least = better().fold(f64::INFINITY, f64::min);
    let most = better().fold(f64::NEG_INFINITY, f64::max);
    let p = groups.iter().map(|(_, of)| of.p).fold(0.0, f64::max);
    let observations: u64 = groups.iter().map(|(_, of)| of.observations).sum();
    let mut text = format!(
        "better in each of {} groups, by {} to {}, in {observations} observations, largest p {} corrected",
        groups.len(),
        change(least),
        change(most),
        probability(p)
    );
    let kept = groups.iter().filter(|(_, of)| of.is_kept).count();
    if kept > 0 {
        let _ = write!(
            text,
            "; {kept} of them are kept, as nothing speaks against them"
        );
    }
    text
}

/// The groups in which another controller than that of the remaining connections is significantly better, or was so before.
/// If several controllers are, the one with the greatest expectation is taken. If small objects would lose more than large
/// ones gain, there is no rule, but a line in `harmed`.
fn learned<'f>(
    findings: &'f Findings,
    rest: &str,
    earlier: Option<&Policy>,
    harmed: &mut Vec<String>,
) -> BTreeMap<Place, Learned<'f>> {
    let mut all: BTreeMap<Place, Learned<'_>> = BTreeMap::new();
    for rival in findings.against(rest) {
        let controller = rival.controller.as_str();
        for row in &rival.groups {
            let Some(place) = Place::of(&row.group) else {
                continue;
            };
            let (better, p) = (row.effect.change, row.p_corrected);
            let was_before = has(earlier, place, controller);
            let believed = row.effect.interval(findings.is_over);
            let is_clear = is_clear(better, p);
            if !(is_clear || was_before && better > 0.0) {
                continue;
            }
            let small = Small::of(rival, &row.group, findings.is_over);
            // The scales agree: twice the time compares with twice the throughput, which is half the time.
            if small.harm > better {
                harmed.push(format!(
                    "No rule with {controller} for {}: it changes throughput over 3 MB by {} there, but {}.",
                    place.name(),
                    change(better),
                    small.told.join(", ")
                ));
                continue;
            }
            let kept = if is_clear {
                ""
            } else {
                "kept, as nothing speaks against it: "
            };
            let observations = row.effect.connections.iter().sum::<u64>();
            let large = format!(
                "{kept}{controller} against {}: {} ({}) in {observations} observations, p {} corrected",
                rival.over,
                change(better),
                range(believed),
                probability(p)
            );
            let evidence = [vec![large], small.told].concat().join("; ");
            let learned = Learned {
                controller,
                better,
                expect: row.picked.low,
                p,
                observations,
                is_kept: !is_clear,
                evidence,
            };
            let known = all.get(&place);
            if known.is_none_or(|known| known.expect < learned.expect) {
                all.insert(place, learned);
            }
        }
    }
    all
}

/// The effects on small objects in a group.
struct Small {
    /// The greatest significant increase of their time.
    harm: f64,
    /// All effects on their times, in words.
    told: Vec<String>,
}

impl Small {
    fn of(rival: &Rival, group: &str, is_over: bool) -> Small {
        let rows = rival.small.iter().filter(|row| row.group == group);
        let mut rows: Vec<&GroupRow> = rows.collect();
        rows.sort_by_key(|row| row.measure);
        let sure = rows.iter().filter(|row| row.p_corrected < DOUBT);
        let harm = sure.map(|row| row.effect.change).fold(0.0, f64::max);
        let told = rows.iter().map(|row| {
            let is_worse = row.p_corrected < DOUBT && row.effect.change > 0.0;
            format!(
                "{} {} ({}{})",
                row.measure.title(),
                change(row.effect.change),
                range(row.effect.interval(is_over)),
                if is_worse {
                    ": significantly worse"
                } else {
                    ""
                }
            )
        });
        Small {
            harm,
            told: told.collect(),
        }
    }
}

/// Whether an earlier policy has such a rule.
fn has(earlier: Option<&Policy>, place: Place, controller: &str) -> bool {
    let around = |rule: &Rule, prefix: Prefix| {
        let mut all = rule.prefix.iter();
        all.any(|one| one.length() <= prefix.length() && one.has(prefix.first()))
    };
    let mut rules = earlier.iter().flat_map(|policy| &policy.rules);
    rules.any(|rule| {
        // The rule for the remaining connections was not learned.
        let is_learned = rule.name != REST;
        let is_there = match place {
            Place::Network(_, prefix) => around(rule, prefix),
            Place::System(number) => rule.systems.contains(&number),
        };
        is_learned && is_there && rule.controller() == controller
    })
}

fn texts<T: std::fmt::Display>(all: &[T]) -> Vec<String> {
    all.iter().map(|one| format!("\"{one}\"")).collect()
}

/// A port, or a range of ports in quotes.
fn port(of: &Ports) -> String {
    match of.ends() {
        (first, last) if first == last => first.to_string(),
        _ => format!("\"{of}\""),
    }
}

/// A field of a rule, in one line or more. Empty if there are no items.
fn field(name: &str, all: Vec<String>) -> String {
    let lines: Vec<String> = all.chunks(LINE).map(|line| line.join(", ")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{name} = [{line}]\n"),
        lines => format!("{name} = [\n  {},\n]\n", lines.join(",\n  ")),
    }
}

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests;
