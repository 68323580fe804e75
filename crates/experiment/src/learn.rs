//! Makes a policy from the results of a study: rules with their evidence. The groups in which one controller is better
//! share a rule. So a person can read the policy, and each rule has enough networks that explore.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rules::{Ports, Prefix, Quantity, Span};
use units::Duration;

use crate::assignment::Unit;
use crate::comparison::{GroupRow, is_clear};
use crate::findings::Findings;
use crate::group::{Group, RttClass};
use crate::harm::Harm;
use crate::plan::Plan;
use crate::policy::{Policy, Rule};
use crate::verdict::{Decision, change, joined, probability, range, told};

/// The maximum expectation of a rule, as a relative gain. Half of it is already much.
const MAX_GAIN: f64 = 1.0;

/// The share of client networks that explore, in thousandths, so that a stale rule is noticed.
const EXPLORE_THOUSANDTHS: u64 = 20;

/// The minimum share of client networks that explore, in thousandths. Strong evidence needs fewer, but with less than
/// this, a rule whose reason has gone is not noticed in time.
const MIN_EXPLORE_THOUSANDTHS: u64 = 5;

/// The maximum cost of exploring, as a share of the mean time of objects, in thousandths. An object of a network that
/// explores takes longer by the gain that the network goes without. For a gain above 200 %, [`MIN_EXPLORE_THOUSANDTHS`]
/// costs more: half a per cent of the gain.
const MAX_COST_THOUSANDTHS: f64 = 10.0;

/// The name of the rule for all other connections.
const REST: &str = "rest";

/// The maximum number of list items in a line.
const ITEMS_PER_LINE: usize = 6;

/// The maximum number of groups of a rule whose evidence is shown beside it.
const MAX_SHOWN_GROUPS: usize = 20;

/// A reason why no policy can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPolicy {
    /// The data cannot be trusted.
    Distrust,
    /// There are too few data.
    TooLittle,
}

/// The context of a study's results.
#[derive(Debug, Default)]
pub struct Context<'b> {
    /// The policy that is in force.
    pub earlier: Option<&'b Policy>,
    /// The networks of the regions.
    pub regions: BTreeMap<String, Vec<Prefix>>,
    /// The reason why the study ended before its time, such as a guard.
    pub ended: Option<&'b str>,
}

/// The connections that a rule is for. The order is that of the rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RuleScope {
    /// The most specific networks come first.
    Network(std::cmp::Reverse<u8>, Prefix),
    System(u32),
    Region(String),
    Rtt(RttClass),
}

impl RuleScope {
    /// The place that a group of a study stands for.
    fn of(group: &str) -> Option<RuleScope> {
        Some(match Group::parse(group)? {
            Group::Network(prefix) => {
                RuleScope::Network(std::cmp::Reverse(prefix.length()), prefix)
            }
            Group::System(number) => RuleScope::System(number),
            Group::Region(name) => RuleScope::Region(name),
            Group::Rtt(class) => RuleScope::Rtt(class),
        })
    }

    /// The scopes that share a rule if their controller is the same. Each class of RTTs has its own rule.
    fn rule(&self) -> (u8, Option<RttClass>) {
        match self {
            RuleScope::Network(..) => (0, None),
            RuleScope::System(_) => (1, None),
            RuleScope::Region(_) => (2, None),
            RuleScope::Rtt(class) => (3, Some(*class)),
        }
    }

    fn group(&self) -> Group {
        match self {
            RuleScope::Network(_, prefix) => Group::Network(*prefix),
            RuleScope::System(number) => Group::System(*number),
            RuleScope::Region(name) => Group::Region(name.clone()),
            RuleScope::Rtt(class) => Group::Rtt(*class),
        }
    }

    fn name(&self) -> String {
        self.group().to_string()
    }
}

/// A group that a rule will hold for.
struct Learned<'f> {
    arm: &'f str,
    /// The observed advantage of its controller over that of the remaining connections. The largest of many is chance
    /// in part.
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
pub fn policy(plan: &Plan, findings: &Findings, beside: &Context<'_>) -> Result<String, NoPolicy> {
    let names = plan.names();
    let first = names.first().copied().unwrap_or_default();
    let rest = match &findings.decision {
        Decision::Distrust => return Err(NoPolicy::Distrust),
        Decision::TooLittle => return Err(NoPolicy::TooLittle),
        Decision::Take(arm) => arm.as_str(),
        Decision::Open | Decision::Stay | Decision::TakeForSome(_) | Decision::Weigh(_) => first,
    };
    let controller = |arm: &str| plan.controller(arm).to_owned();
    let mut without = Vec::new();
    let mut all = learned(plan, findings, rest, beside, &mut without);
    // Two arms may have the same controller, to compare it with itself.
    all.retain(|_, learned| controller(learned.arm) != controller(rest));
    let mut text = format!(
        "# Made by fullpipe steer learn from the study {}, by {}.\n\
         # Exploring costs time: an object of a network that explores takes longer by the gain that the network goes without.\n\
         {}\nexplore = \"{}\"\n",
        quoted(&plan.name),
        plan.unit,
        group(plan),
        share(EXPLORE_THOUSANDTHS)
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
        rule("no part", &networks, &controller(first), more);
    }
    // All client networks of one IP version have the same prefix length, so none is within another.
    let mut rules: BTreeMap<_, Vec<(&RuleScope, &Learned<'_>)>> = BTreeMap::new();
    for (place, learned) in &all {
        let key = (place.rule(), controller(learned.arm));
        rules.entry(key).or_default().push((place, learned));
    }
    for ((_, controller), mut groups) in rules {
        groups.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
        let Groups {
            mut place,
            name,
            more,
        } = Groups::of(&groups, &beside.regions);
        if matches!(groups[..], [(RuleScope::Rtt(_), _), ..]) && plan.unit != Unit::Connection {
            place += "# The study compared classes of the first handshake's RTT of each unit. The rule takes that of each connection.\n";
        }
        rule(
            &format!("{controller} for {name}"),
            &place,
            &controller,
            &more,
        );
    }
    let ScopeFields {
        mut networks,
        explore,
    } = ScopeFields::in_networks(&plan.connections.prefix);
    if let Some(file) = &plan.connections.prefix_file {
        let _ = writeln!(
            networks,
            "prefix_file = {}",
            quoted(&file.to_string_lossy())
        );
    }
    let evidence = quoted(&evidence_of_rest(findings, rest, beside.ended));
    let more = format!("{explore}evidence = {evidence}\n");
    rule(REST, &networks, &controller(rest), &more);
    for line in &without {
        let _ = write!(text, "\n# {line}\n");
    }
    if controllers.len() == 1 {
        text += "\n# All rules have one controller: there is nothing to explore, and no rule is found stale.\n";
    }
    Ok(text)
}

/// The reason why the remaining connections have this arm.
fn evidence_of_rest(findings: &Findings, rest: &str, ended: Option<&str>) -> String {
    let why = match &findings.decision {
        Decision::Weigh(arm) => {
            let comparison = findings
                .comparisons
                .iter()
                .find(|one| one.rival.controller == *arm);
            let worse = comparison.map_or_else(String::new, |one| {
                joined(told(&one.measures, false).into_iter())
            });
            format!(
                "{rest} stays: {arm} is faster, but significantly worse in {worse}. If that weighs less, change the controller here. "
            )
        }
        Decision::TakeForSome(_) => {
            format!("{rest} stays for the others, because no arm is faster over all clients. ")
        }
        Decision::Open => {
            format!("{rest} stays, because no difference over all clients is significant. ")
        }
        Decision::Stay => format!("{rest} stays, because no other arm is faster. "),
        Decision::Take(_) | Decision::Distrust | Decision::TooLittle => String::new(),
    };
    let ended = ended.map_or_else(String::new, |ended| {
        format!("The study ended early: {ended}. ")
    });
    why + &ended + &findings.verdict
}

/// The share of networks that explore, in thousandths, if the rule surely gains this much.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is bounded"
)]
fn explored(gain: f64) -> u64 {
    let bound =
        (MAX_COST_THOUSANDTHS / gain.max(f64::MIN_POSITIVE)).min(EXPLORE_THOUSANDTHS as f64);
    (bound as u64).max(MIN_EXPLORE_THOUSANDTHS)
}

/// Thousandths as a percentage: `2%`, `0.5%`.
fn share(thousandths: u64) -> String {
    match thousandths % 10 {
        0 => format!("{}%", thousandths / 10),
        tenth => format!("{}.{tenth}%", thousandths / 10),
    }
}

/// The fields of a rule that explores.
struct ScopeFields {
    networks: String,
    /// Set explicitly for private networks: if they took part in a study, they are clients' networks.
    explore: String,
}

impl ScopeFields {
    fn in_networks(prefixes: &[Prefix]) -> ScopeFields {
        ScopeFields::exploring(prefixes, EXPLORE_THOUSANDTHS)
    }

    fn exploring(prefixes: &[Prefix], explored: u64) -> ScopeFields {
        let is_inside = !prefixes.is_empty() && prefixes.iter().all(Prefix::is_private);
        ScopeFields {
            networks: field("prefix", texts(prefixes)),
            explore: if is_inside || explored != EXPLORE_THOUSANDTHS {
                format!("explore = \"{}\"\n", share(explored))
            } else {
                String::new()
            },
        }
    }
}

/// A rule for groups in which one controller is better. They are all of one kind.
struct Groups {
    place: String,
    name: String,
    more: String,
}

impl Groups {
    /// `groups` are one or more, by ascending p-value.
    fn of(
        groups: &[(&RuleScope, &Learned<'_>)],
        regions: &BTreeMap<String, Vec<Prefix>>,
    ) -> Groups {
        let (mut networks, mut systems, mut rtt) = (Vec::new(), BTreeSet::new(), String::new());
        for (place, _) in groups {
            match place {
                RuleScope::Network(_, prefix) => networks.push(*prefix),
                RuleScope::System(number) => drop(systems.insert(*number)),
                RuleScope::Region(name) => networks.extend(regions.get(name).into_iter().flatten()),
                RuleScope::Rtt(RttClass { from, below }) => {
                    let bounds = Quantity::Rtt.fields().into_iter().zip([from, below]);
                    let bounds = bounds.filter_map(|(name, bound)| Some((name, bound.as_ref()?)));
                    rtt.extend(bounds.map(|(name, bound)| format!("{name} = \"{bound}\"\n")));
                }
            }
        }
        let explored = explored(sure(groups));
        let ScopeFields { networks, explore } =
            ScopeFields::exploring(&Prefix::fewest(networks), explored);
        let kind = groups
            .first()
            .map_or("group", |(place, _)| place.group().noun());
        let systems = systems.iter().map(u32::to_string).collect();
        let mut place = networks + &field("as", systems) + &rtt;
        let (name, evidence) = match groups {
            [(place, learned)] => (place.name(), learned.evidence.clone()),
            all => {
                for (group, learned) in all.iter().take(MAX_SHOWN_GROUPS) {
                    let _ = writeln!(place, "# {}: {}", group.name(), learned.evidence);
                }
                if all.len() > MAX_SHOWN_GROUPS {
                    let _ = writeln!(place, "# and {} more", all.len() - MAX_SHOWN_GROUPS);
                }
                (format!("{} {kind}s", all.len()), summary(all))
            }
        };
        // In tenths of a per cent, rounded down.
        let expect = (expected(groups) * 1000.0).floor() / 10.0;
        let mut more = format!("{explore}evidence = {}\n", quoted(&evidence));
        let sure = sure(groups);
        if sure > 0.0 && sure.is_finite() {
            let cost = explored as f64 * sure / 10.0;
            more =
                format!("# Exploring costs {cost:.1} % of the mean time of these objects.\n{more}");
        }
        if expect > 0.0 {
            more = format!("expect = \"{expect:.1}%\"\n{more}");
        }
        Groups { place, name, more }
    }
}

/// The expected advantage of a rule: the mean of its groups' expectations, weighted by observations.
fn expected(groups: &[(&RuleScope, &Learned<'_>)]) -> f64 {
    weighted(groups, |of| of.expect.clamp(0.0, MAX_GAIN))
}

/// The gain of a rule that is sure: the same without an upper bound.
fn sure(groups: &[(&RuleScope, &Learned<'_>)]) -> f64 {
    weighted(groups, |of| of.expect.max(0.0))
}

/// The mean of a value over groups, weighted by observations.
fn weighted(groups: &[(&RuleScope, &Learned<'_>)], value: impl Fn(&Learned<'_>) -> f64) -> f64 {
    let weight = |of: &Learned<'_>| of.observations.max(1) as f64;
    let all: f64 = groups.iter().map(|(_, of)| weight(of)).sum();
    let sum: f64 = groups.iter().map(|(_, of)| value(of) * weight(of)).sum();
    sum / all
}

/// The evidence of many groups in one sentence.
fn summary(groups: &[(&RuleScope, &Learned<'_>)]) -> String {
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

/// The groups in which another controller than that of the remaining connections is significantly better, or was so
/// before. If several controllers are, the one with the greatest expectation is taken. If the harm is greater than the
/// gain, or the networks of a region are unknown, there is no rule, but a line in `without`.
///
/// Classes of RTTs have rules only if no other group has one for this arm: the RTTs of a network are similar.
fn learned<'f>(
    plan: &Plan,
    findings: &'f Findings,
    rest: &str,
    beside: &Context<'_>,
    without: &mut Vec<String>,
) -> BTreeMap<RuleScope, Learned<'f>> {
    let mut all: BTreeMap<RuleScope, Learned<'_>> = BTreeMap::new();
    for rival in findings.against(rest) {
        let arm = rival.controller.as_str();
        let places = rival
            .groups
            .iter()
            .filter_map(|row| Some((RuleScope::of(&row.group)?, row)));
        let mut places: Vec<(RuleScope, &GroupRow)> = places.collect();
        let is_class = |place: &RuleScope| matches!(place, RuleScope::Rtt(_));
        places.sort_by_key(|(place, _)| is_class(place));
        let mut has_others = false;
        for (place, row) in places {
            if has_others && is_class(&place) {
                break;
            }
            let (better, p) = (row.effect.change, row.p_corrected);
            let was_before = has(beside, &place, plan.controller(arm));
            let believed = row.effect.interval(findings.is_over);
            let is_clear = is_clear(better, p);
            if !(is_clear || was_before && better > 0.0) {
                continue;
            }
            let harm = Harm::of(rival, &row.group, findings.is_over);
            if harm.most > better {
                without.push(format!(
                    "No rule with {arm} for {}: it changes throughput over 3 MB by {} there, but {}.",
                    place.name(),
                    change(better),
                    harm.told.join(", ")
                ));
                continue;
            }
            if let RuleScope::Region(name) = &place
                && !beside.regions.contains_key(name)
            {
                without.push(format!(
                    "No rule with {arm} for {}, where it changes throughput over 3 MB by {}: its networks are not known here. Give the \
                     file with the regions: --region FILE.",
                    place.name(),
                    change(better)
                ));
                continue;
            }
            has_others |= !is_class(&place);
            let kept = if is_clear {
                ""
            } else {
                "kept, as nothing speaks against it: "
            };
            let observations = row.effect.connections.iter().sum::<u64>();
            let large = format!(
                "{kept}{arm} against {}: {} ({}) in {observations} observations, p {} corrected",
                rival.over,
                change(better),
                range(believed),
                probability(p)
            );
            let evidence = [vec![large], harm.told].concat().join("; ");
            let learned = Learned {
                arm,
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

/// True if an earlier policy has such a rule.
fn has(beside: &Context<'_>, place: &RuleScope, controller: &str) -> bool {
    let around = |rule: &Rule, prefix: &Prefix| {
        let mut all = rule.prefix.iter();
        all.any(|one| one.length() <= prefix.length() && one.has(prefix.first()))
    };
    let mut rules = beside.earlier.iter().flat_map(|policy| &policy.rules);
    rules.any(|rule| {
        // The rule for the remaining connections was not learned.
        let is_learned = rule.name != REST;
        let is_there = match place {
            RuleScope::Network(_, prefix) => around(rule, prefix),
            RuleScope::System(number) => rule.systems.contains(number),
            RuleScope::Region(name) => {
                let networks = beside.regions.get(name);
                networks.is_some_and(|all| all.iter().all(|prefix| around(rule, prefix)))
            }
            RuleScope::Rtt(RttClass { from, below }) => {
                let from = from.unwrap_or_default().as_nanos();
                rule.spans.of(Quantity::Rtt) == Span::new(from, below.map(Duration::as_nanos))
            }
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
    let lines: Vec<String> = all
        .chunks(ITEMS_PER_LINE)
        .map(|line| line.join(", "))
        .collect();
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
            c if text::is_obeyed(c) => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests;
