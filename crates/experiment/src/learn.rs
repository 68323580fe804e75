//! A policy from what a study has found: rules with their evidence. The groups that are better with one controller share a rule, so
//! that a person can read it, and so that enough of its networks explore.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::effect::DOUBT;
use crate::findings::{Findings, GroupRow, Rival};
use crate::plan::Plan;
use crate::policy::{Policy, Rule};
use crate::prefix::Prefix;
use crate::verdict::{Decision, change, probability, range};

/// A rule is not worth having for less than this.
const LEAST: f64 = 0.03;

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
            let is_clear = p < DOUBT && better >= LEAST;
            if !(is_clear || was_before && better > 0.0) {
                continue;
            }
            let small = Small::of(rival, &row.group, findings.is_over);
            if small.harm > better {
                harmed.push(format!(
                    "No rule for {}: {controller} changes throughput over 3 MB by {} there, but {}.",
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
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::findings::Gathered;
    use crate::observation::Observation;
    use crate::simulated::{Model, Units};

    const PLAN: &str = "name = \"a \\\"b\\\"\"\ncgroup = \"g\"\nunit = \"prefix\"\nduration = \"1h\"\n\
        [connections]\nlisten = [443, \"8000-8010\"]\nexcept = [\"10.0.0.0/8\"]\n\
        [[arm]]\ncontroller = \"cubic\"\nshare = \"50%\"\n[[arm]]\ncontroller = \"bbr\"\nshare = \"50%\"\n";

    /// Studies of as many groups as there are effects.
    fn findings(effects: &[(&str, f64)]) -> Findings {
        findings_of(3000, effects)
    }

    fn findings_of(prefixes: usize, effects: &[(&str, f64)]) -> Findings {
        gathered_of(prefixes, effects).findings()
    }

    fn gathered_of(prefixes: usize, effects: &[(&str, f64)]) -> Gathered {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
        let seed = Cell::new(0);
        for (group, effect) in effects {
            let model = Model::new(Units::Prefixes(prefixes), *effect);
            seed.set(seed.get() + 1);
            for of in model.study(seed.get()) {
                let groups = vec![(*group).to_owned()];
                gathered.add(&Observation { groups, ..of });
            }
        }
        gathered
    }

    fn learned(effects: &[(&str, f64)], earlier: Option<&Policy>) -> Policy {
        let plan = Plan::parse(PLAN).unwrap();
        let text = policy(&plan, &findings(effects), earlier).unwrap();
        Policy::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn rules(policy: &Policy) -> Vec<(&str, &str)> {
        let rules = policy.rules.iter();
        rules
            .map(|rule| (rule.name.as_str(), rule.controller()))
            .collect()
    }

    #[test]
    fn who_gains_gets_a_rule_and_the_rest_stays() {
        let found = learned(
            &[
                ("AS1", 0.8),
                ("192.0.2.0/24", 0.9),
                ("AS2", -0.75),
                ("AS3", 0.0),
            ],
            None,
        );
        // On the whole nothing is clear, so the rest has the first arm; AS2 has it anyway.
        assert_eq!(
            rules(&found),
            [
                ("no part", "cubic"),
                ("bbr for 192.0.2.0/24", "bbr"),
                ("bbr for AS1", "bbr"),
                ("rest", "cubic")
            ]
        );
        assert_eq!(found.rules[2].systems, [1]);
        let expect = found.rules[2].expect.unwrap().as_f64();
        // The lower end of what was found of 80 %.
        assert!((0.3..0.8).contains(&expect), "{expect}");
        assert!(found.rules[2].evidence.contains("bbr against cubic: +"));
        assert_eq!(found.explore.as_f64(), 0.02);
        assert_eq!(found.rules[3].listen.len(), 2);
    }

    #[test]
    fn where_all_gain_who_does_not_is_the_exception() {
        let effects = [("AS1", 0.9), ("AS2", 0.9), ("AS3", 0.9), ("AS4", -0.5)];
        let found = learned(&effects, None);
        assert_eq!(
            rules(&found),
            [
                ("no part", "cubic"),
                ("cubic for AS4", "cubic"),
                ("rest", "bbr")
            ]
        );
    }

    #[test]
    fn a_rule_stays_until_something_speaks_against_it() {
        let before = learned(&[("AS1", 0.8), ("AS2", -0.6), ("AS3", 0.0)], None);
        assert!(rules(&before).contains(&("bbr for AS1", "bbr")));
        // Of a little more nobody would make a rule.
        let weak = [("AS1", 0.08), ("AS2", -0.6), ("AS3", 0.0)];
        assert!(!rules(&learned(&weak, None)).contains(&("bbr for AS1", "bbr")));
        let kept = learned(&weak, Some(&before));
        let rule = kept.rules.iter().find(|rule| rule.systems == [1]);
        let evidence = &rule.unwrap().evidence;
        assert!(
            evidence.starts_with("kept, as nothing speaks"),
            "{evidence}"
        );
        let refuted = learned(&[("AS1", -0.5), ("AS2", -0.6), ("AS3", 0.0)], Some(&before));
        assert!(!rules(&refuted).contains(&("bbr for AS1", "bbr")));
    }

    #[test]
    fn the_largest_of_many_by_chance_promise_no_more_than_is_there() {
        // Each group gains 50 %; who shows it is taken, and so who shows more of it.
        let groups: Vec<String> = (0..30).map(|number| format!("AS{number}")).collect();
        let effects: Vec<(&str, f64)> = groups.iter().map(|group| (group.as_str(), 0.5)).collect();
        let mut findings = findings_of(800, &effects);
        findings.decision = Decision::Open;
        let rows = findings.comparisons[0].rival.groups.iter();
        let raw: Vec<f64> = rows
            .filter(|row| row.p_corrected < DOUBT)
            .map(|row| row.effect.change)
            .collect();
        let plan = Plan::parse(PLAN).unwrap();
        let found = Policy::parse(&policy(&plan, &findings, None).unwrap()).unwrap();
        let all = super::learned(&findings, "cubic", None, &mut Vec::new());
        let promised: Vec<f64> = all.values().map(|of| of.expect).collect();
        // The rule for all of them promises what they do on average.
        let [expect] = found
            .rules
            .iter()
            .filter_map(|rule| rule.expect)
            .collect::<Vec<_>>()[..]
        else {
            panic!("{found:?}");
        };
        let least = promised.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((least..0.5).contains(&expect.as_f64()), "{expect}");
        assert_eq!(
            (promised.len(), raw.len() >= 4),
            (raw.len(), true),
            "{raw:?}"
        );
        let above = |all: &[f64]| all.iter().filter(|one| **one > 0.5).count();
        assert!(above(&raw) * 10 > raw.len() * 6, "{raw:?}");
        assert!(above(&promised) <= 1 + promised.len() / 20, "{promised:?}");
        assert!(promised.iter().all(|one| *one > 0.0), "{promised:?}");
    }

    /// A study of three arms: what the second and the third change in each group.
    fn of_three(effects: &[(&str, [f64; 2])]) -> Findings {
        let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
        let mut seed = 100;
        for (group, effects) in effects {
            for (other, effect) in effects.iter().enumerate() {
                seed += 1;
                for of in Model::new(Units::Prefixes(3000), *effect).study(seed) {
                    gathered.add(&Observation {
                        arm: if of.arm == 1 { 1 + other } else { 0 },
                        groups: vec![(*group).to_owned()],
                        ..of
                    });
                }
            }
        }
        gathered.findings()
    }

    #[test]
    fn of_several_arms_the_best_one_is_taken_and_not_the_first_one() {
        let findings = of_three(&[
            ("AS1", [0.5, 2.5]),
            ("AS2", [0.5, 2.5]),
            ("AS3", [0.5, 2.5]),
            ("AS4", [0.8, -0.5]),
        ]);
        assert_eq!(findings.decision, Decision::Take("reno".to_owned()));
        let text =
            PLAN.replacen("50%", "25%", 1) + "[[arm]]\ncontroller = \"reno\"\nshare = \"25%\"\n";
        let plan = Plan::parse(&text).unwrap();
        let found = Policy::parse(&policy(&plan, &findings, None).unwrap()).unwrap();
        // Where the best one of all is not the best, an arm is that was neither the first nor taken.
        assert_eq!(
            rules(&found),
            [
                ("no part", "cubic"),
                ("bbr for AS4", "bbr"),
                ("rest", "reno")
            ]
        );
        assert!(found.rules[1].evidence.starts_with("bbr against reno: +"));
    }

    #[test]
    fn where_small_objects_lose_more_than_large_ones_gain_there_is_no_rule() {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
        for (number, slower) in (1..).zip([1, 4]) {
            for mut of in Model::new(Units::Prefixes(3000), 0.9).study(number) {
                if of.arm == 1 && of.acknowledged < 10_000 {
                    of.busy = of.busy * slower;
                }
                let groups = vec![format!("AS{number}")];
                gathered.add(&Observation { groups, ..of });
            }
        }
        let plan = Plan::parse(PLAN).unwrap();
        let findings = gathered.findings();
        let text = policy(&plan, &findings, None).unwrap();
        let found = Policy::parse(&text).unwrap();
        assert_eq!(
            rules(&found),
            [
                ("no part", "cubic"),
                ("bbr for AS1", "bbr"),
                ("rest", "cubic")
            ]
        );
        // Its evidence has what becomes of small objects.
        let evidence = &found.rules[1].evidence;
        for size in ["time below 10 kB", "time from 10 to 100 kB"] {
            assert!(evidence.contains(size), "{evidence}");
        }
        assert!(!evidence.contains("worse"), "{evidence}");
        let line = text.lines().find(|line| line.starts_with("# No rule for"));
        let line = line.expect("a line that says so");
        assert!(
            line.contains("AS2") && line.contains("worse beyond doubt"),
            "{line}"
        );
    }

    #[test]
    fn while_the_study_goes_on_a_rule_takes_what_holds_at_any_time() {
        let many = [("AS1", 0.45), ("AS2", -0.3), ("AS3", 0.0)];
        let mut gathered = gathered_of(3000, &many);
        let plan = Plan::parse(PLAN).unwrap();
        let rules = |findings: &Findings| {
            let mut findings = findings.clone();
            findings.decision = Decision::Open;
            Policy::parse(&policy(&plan, &findings, None).unwrap())
                .unwrap()
                .rules
        };
        let over = gathered.findings();
        gathered.goes_on();
        let on = gathered.findings();
        let group = |of: &Findings| {
            of.comparisons[0]
                .rival
                .groups
                .iter()
                .find(|row| row.group == "AS1")
                .unwrap()
                .clone()
        };
        assert!(group(&on).p_corrected > group(&over).p_corrected);
        assert!(group(&on).picked.low < group(&over).picked.low);
        assert!(rules(&on).len() <= rules(&over).len());
    }

    #[test]
    fn groups_of_one_controller_share_a_rule_that_a_person_can_read() {
        let systems = (0..40).map(|number| format!("AS{number}"));
        let networks = [2, 3, 9].map(|number| format!("192.0.{number}.0/24"));
        let groups: Vec<String> = systems.chain(networks).collect();
        let mut effects: Vec<(&str, f64)> =
            groups.iter().map(|group| (group.as_str(), 3.0)).collect();
        effects.push(("AS100", -0.9));
        let plan = Plan::parse(PLAN).unwrap();
        let mut findings = findings_of(500, &effects);
        findings.decision = Decision::Open;
        let text = policy(&plan, &findings, None).unwrap();
        let found = Policy::parse(&text).unwrap();
        let systems = found.rules[2].systems.clone();
        let many = systems.len();
        // Chance leaves some out; no more would have had a rule each.
        assert!(many > crate::policy::MOST_RULES, "{text}");
        assert_eq!(
            rules(&found),
            [
                ("no part", "cubic"),
                ("bbr for 3 networks", "bbr"),
                (&*format!("bbr for {many} systems"), "bbr"),
                ("rest", "cubic")
            ]
        );
        let prefixes: Vec<String> = found.rules[1]
            .prefix
            .iter()
            .map(Prefix::to_string)
            .collect();
        assert_eq!(prefixes, ["192.0.2.0/23", "192.0.9.0/24"]);
        let evidence = &found.rules[2].evidence;
        assert!(
            evidence.contains(&format!("in each of {many} groups")),
            "{text}"
        );
        // The surest have their evidence beside the rule; nothing is long.
        assert_eq!(text.matches("# AS").count(), SHOWN);
        assert!(
            text.contains(&format!("# and {} more\n", many - SHOWN)),
            "{text}"
        );
        assert!(text.lines().count() < 70, "{text}");
        // A later study finds the groups in their rules again.
        let place = |group: &str| Place::of(group).unwrap();
        for (group, is_there) in [
            ("192.0.3.0/24", true),
            ("192.0.4.0/24", false),
            ("AS70", false),
        ] {
            assert_eq!(has(Some(&found), place(group), "bbr"), is_there, "{group}");
        }
        for (controller, is_there) in [("bbr", true), ("cubic", false)] {
            assert_eq!(
                has(Some(&found), Place::System(systems[0]), controller),
                is_there
            );
        }
    }

    #[test]
    fn networks_of_which_nothing_is_to_be_found_out_explore_nothing() {
        let found = learned(&[("10.1.2.0/24", 0.9), ("AS1", 0.8), ("AS2", -0.75)], None);
        let explored: Vec<f64> = found
            .rules
            .iter()
            .map(|rule| found.explored(rule).as_f64())
            .collect();
        // Who had no part has none; private networks that took part are clients'.
        assert_eq!(
            rules(&found)[..2],
            [("no part", "cubic"), ("bbr for 10.1.2.0/24", "bbr")]
        );
        assert_eq!(explored[0], 0.0);
        assert!(
            explored[1..].iter().all(|share| *share == 0.02),
            "{explored:?}"
        );
    }

    #[test]
    fn a_policy_of_one_controller_says_that_it_explores_nothing() {
        let plan = Plan::parse(PLAN).unwrap();
        let text = |effects: &[(&str, f64)]| policy(&plan, &findings(effects), None).unwrap();
        let one = text(&[("AS1", 0.0), ("AS2", 0.0)]);
        assert!(!Policy::parse(&one).unwrap().has_explorers());
        assert!(one.contains("nothing to explore"), "{one}");
        let two = text(&[("AS1", 0.9), ("AS2", 0.0), ("AS3", -0.5)]);
        assert!(Policy::parse(&two).unwrap().has_explorers());
        assert!(!two.contains("nothing to explore"), "{two}");
    }

    #[test]
    fn a_study_that_says_nothing_makes_no_policy() {
        let plan = Plan::parse(PLAN).unwrap();
        let none = findings(&[]);
        assert_eq!(policy(&plan, &none, None), Err(Nothing::TooLittle));
        let mut distrusted = findings(&[("AS1", 0.8)]);
        distrusted.decision = Decision::Distrust;
        assert_eq!(policy(&plan, &distrusted, None), Err(Nothing::Distrust));
    }
}
