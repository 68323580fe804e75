//! A policy from what a study has found: rules with their evidence. The groups that are better with one controller share a rule, so
//! that a person can read it, and so that enough of its networks explore.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::effect::DOUBT;
use crate::findings::{Findings, GroupRow, Rival, is_clear};
use crate::plan::Plan;
use crate::policy::{Policy, Rule};
use crate::prefix::Prefix;
use crate::verdict::{Decision, change, probability, range};

/// More than this no rule expects: half of it is already much.
const MOST: f64 = 1.0;

/// The share of client networks that explore, so that a rule that has gone stale shows.
const EXPLORE: &str = "2%";

/// The rule for who is in no other one.
const REST: &str = "rest";

/// So many of a list are in a line.
const LINE: usize = 6;

/// Of a rule for many groups, so many have their evidence beside it.
const SHOWN: usize = 20;

/// Why there is no policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// The data cannot be believed.
    Distrust,
    /// There is too little of it.
    TooLittle,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The most specific first.
    Network(std::cmp::Reverse<u8>, Prefix),
    System(u32),
}

impl Place {
    /// The place that a group of a study is.
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

/// A rule in the making.
struct Learned<'f> {
    controller: &'f str,
    /// How much better its controller is than the one of the rest, as it was found: the largest of many are so by chance, too.
    better: f64,
    /// The lower end of what is left of it where the surest are picked out.
    expect: f64,
    p: f64,
    observations: u64,
    is_kept: bool,
    evidence: String,
}

/// The policy's text. A rule of an earlier policy stays as long as the study does not speak against it.
///
/// # Errors
///
/// The study says nothing.
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
        "# Made by fullpipe steer learn from the study {}, by {}.\ncgroup = {}\nexplore = \"{EXPLORE}\"\n",
        quoted(&plan.name),
        plan.unit,
        quoted(&plan.cgroup.to_string_lossy())
    );
    let mut ports = String::new();
    for (name, of) in [
        ("listen", &plan.connections.listen),
        ("connect", &plan.connections.connect),
    ] {
        ports += &field(name, texts(of));
    }
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
        // Who took no part has none now.
        let more = "explore = \"0%\"\nevidence = \"took no part in the study\"\n";
        let networks = field("prefix", texts(&plan.connections.except));
        rule("no part", &networks, first, more);
    }
    // Networks of clients have one length for each version, so that none is within another one.
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
    let Placed { networks, explore } = Placed::in_networks(&plan.connections.prefix);
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

/// Where a rule holds that explores, as its fields.
struct Placed {
    networks: String,
    /// Where it must be said: private networks that took part in a study are clients'.
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

/// A rule for groups that are better with one controller: all of them networks, or all of them systems.
struct Groups {
    place: String,
    name: String,
    more: String,
}

impl Groups {
    /// Of one or more groups, the surest first.
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
        // In tenths of a per cent, and not upwards.
        let expect = (expected(groups) * 1000.0).floor() / 10.0;
        let mut more = format!("{explore}evidence = {}\n", quoted(&evidence));
        if expect > 0.0 {
            more = format!("expect = \"{expect:.1}%\"\n{more}");
        }
        Groups { place, name, more }
    }
}

/// What a rule for groups is to be better by: what each of them promises, as often as it was observed.
fn expected(groups: &[(&Place, &Learned<'_>)]) -> f64 {
    let weight = |of: &Learned<'_>| of.observations.max(1) as f64;
    let all: f64 = groups.iter().map(|(_, of)| weight(of)).sum();
    let promised = groups
        .iter()
        .map(|(_, of)| of.expect.clamp(0.0, MOST) * weight(of));
    promised.sum::<f64>() / all
}

/// The evidence of many groups in a sentence.
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

/// Each group in which another controller than that of the rest is better beyond doubt, or was before: of several the one that is
/// better by most for certain. Where it would harm small objects by more, there is none, but a line that says so.
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
            // Twice the time weighs as much as twice the throughput, which is half the time.
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

/// What becomes of small objects in a group.
struct Small {
    /// By how much more time they take, beyond doubt.
    harm: f64,
    /// All that is known of their times, in words.
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
                if is_worse { ": worse beyond doubt" } else { "" }
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
        // The rest is no rule that was learned.
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

/// A field of a rule that has something, in a line or more.
fn field(name: &str, all: Vec<String>) -> String {
    let lines: Vec<String> = all.chunks(LINE).map(|line| line.join(", ")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{name} = [{line}]\n"),
        lines => format!("{name} = [\n  {},\n]\n", lines.join(",\n  ")),
    }
}

/// A string of TOML.
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
