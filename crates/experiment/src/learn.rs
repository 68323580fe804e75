//! A policy from what a study has found: rules with their evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::effect::{DOUBT, Interval};
use crate::findings::Findings;
use crate::plan::Plan;
use crate::policy::{MOST_RULES, Policy};
use crate::prefix::Prefix;
use crate::verdict::{Decision, change, probability, range};

/// A rule is not worth having for less than this.
const LEAST: f64 = 0.03;

/// More than this no rule expects: half of it is already much.
const MOST: f64 = 1.0;

/// The share of client networks that explore, so that a rule that has gone stale shows.
const EXPLORE: &str = "2%";

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

    fn field(&self) -> String {
        match self {
            Place::Network(_, prefix) => format!("prefix = [\"{prefix}\"]"),
            Place::System(number) => format!("as = [{number}]"),
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
    let all = learned(findings, first, rest, earlier);
    let mut text = format!(
        "# Made by fullpipe steer learn from the study {}, by {}.\ncgroup = {}\nexplore = \"{EXPLORE}\"\n",
        quoted(&plan.name),
        plan.unit,
        quoted(&plan.cgroup.to_string_lossy())
    );
    let mut ports = String::new();
    for (field, of) in [
        ("listen", &plan.connections.listen),
        ("connect", &plan.connections.connect),
    ] {
        if !of.is_empty() {
            let _ = writeln!(ports, "{field} = {}", list(of));
        }
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
    // Rules beside the learned ones: the rest, and what took no part.
    let mut room = MOST_RULES - 1;
    let Connections { prefix, except } = Connections::of(plan);
    if !except.is_empty() {
        room -= 1;
        let evidence = "evidence = \"took no part in the study\"\n";
        rule("no part", &format!("prefix = {except}\n"), first, evidence);
    }
    let mut surest: Vec<(&Place, &Learned<'_>)> = all.iter().collect();
    surest.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
    let left_out = surest.len().saturating_sub(room);
    surest.truncate(room);
    surest.sort_by_key(|(place, _)| **place);
    for (place, learned) in surest {
        // In tenths of a per cent, and not upwards.
        let expect = (learned.expect.min(MOST) * 1000.0).floor() / 10.0;
        let mut more = format!("evidence = {}\n", quoted(&learned.evidence));
        if expect > 0.0 {
            more = format!("expect = \"{expect:.1}%\"\n{more}");
        }
        let name = format!("{} for {}", learned.controller, place.name());
        rule(
            &name,
            &format!("{}\n", place.field()),
            learned.controller,
            &more,
        );
    }
    let place = if prefix.is_empty() {
        String::new()
    } else {
        format!("prefix = {prefix}\n")
    };
    let evidence = format!("evidence = {}\n", quoted(&findings.verdict));
    rule("rest", &place, rest, &evidence);
    if controllers.len() == 1 {
        text += "\n# All rules have one controller: there is nothing to explore, and no rule is found stale.\n";
    }
    if left_out > 0 {
        let _ = write!(
            text,
            "\n# {left_out} more groups differ beyond doubt; a policy has {MOST_RULES} rules, and the surest have one.\n"
        );
    }
    Ok(text)
}

/// The networks of a plan, as a policy's fields.
struct Connections {
    prefix: String,
    except: String,
}

impl Connections {
    fn of(plan: &Plan) -> Connections {
        let some = |prefixes: &[Prefix]| {
            if prefixes.is_empty() {
                String::new()
            } else {
                list(prefixes)
            }
        };
        Connections {
            prefix: some(&plan.connections.prefix),
            except: some(&plan.connections.except),
        }
    }
}

/// A rule for each group in which another controller than that of the rest is better beyond doubt, or was before.
fn learned<'f>(
    findings: &'f Findings,
    first: &'f str,
    rest: &str,
    earlier: Option<&Policy>,
) -> BTreeMap<Place, Learned<'f>> {
    let mut all: BTreeMap<Place, Learned<'_>> = BTreeMap::new();
    let many = findings.comparisons.len() as f64;
    for comparison in &findings.comparisons {
        for row in &comparison.groups {
            let Some(place) = Place::of(&row.group) else {
                continue;
            };
            // An arm against the first one, or, where the arm is that of the rest, the first one against it.
            let reversed = |change: f64| 1.0 / (1.0 + change) - 1.0;
            let (controller, better, expect) = if comparison.controller == rest {
                (
                    first,
                    reversed(row.effect.change),
                    reversed(row.picked.high),
                )
            } else if rest == first {
                (
                    comparison.controller.as_str(),
                    row.effect.change,
                    row.picked.low,
                )
            } else {
                // Neither: they were not compared with each other.
                continue;
            };
            let p = (row.p_corrected * many).min(1.0);
            let was_before = has(earlier, place, controller);
            let believed = row.effect.interval(findings.is_over);
            let is_refuted = is_refuted(believed, comparison.controller == rest);
            let is_clear = p < DOUBT && better >= LEAST;
            if !(is_clear || was_before && better > 0.0 && !is_refuted) {
                continue;
            }
            let kept = if is_clear {
                ""
            } else {
                "kept, as nothing speaks against it: "
            };
            let evidence = format!(
                "{kept}{} against {}: {} ({}) in {} observations, p {} corrected",
                comparison.controller,
                comparison.over,
                change(row.effect.change),
                range(believed),
                row.effect.connections.iter().sum::<u64>(),
                probability(p)
            );
            let learned = Learned {
                controller,
                better,
                expect,
                p,
                evidence,
            };
            let known = all.get(&place);
            if known.is_none_or(|known| known.better < learned.better) {
                all.insert(place, learned);
            }
        }
    }
    all
}

/// Whether an earlier policy has such a rule.
fn has(earlier: Option<&Policy>, place: Place, controller: &str) -> bool {
    let mut rules = earlier.iter().flat_map(|policy| &policy.rules);
    rules.any(|rule| {
        let is_there = match place {
            Place::Network(_, prefix) => rule.prefix.contains(&prefix),
            Place::System(number) => rule.systems.contains(&number),
        };
        is_there && rule.controller() == controller
    })
}

/// Whether the other controller is the better one for certain.
fn is_refuted(believed: Interval, is_reversed: bool) -> bool {
    if is_reversed {
        believed.low > 0.0
    } else {
        believed.high < 0.0
    }
}

fn list<T: std::fmt::Display>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(|one| format!("\"{one}\"")).collect();
    format!("[{}]", all.join(", "))
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
        // Each group gains 50 %; a rule has who shows it, and so who shows more of it.
        let groups: Vec<String> = (0..30).map(|number| format!("AS{number}")).collect();
        let effects: Vec<(&str, f64)> = groups.iter().map(|group| (group.as_str(), 0.5)).collect();
        let mut findings = findings_of(800, &effects);
        findings.decision = Decision::Open;
        let rows = findings.comparisons[0].groups.iter();
        let raw: Vec<f64> = rows
            .filter(|row| row.p_corrected < DOUBT)
            .map(|row| row.effect.change)
            .collect();
        let plan = Plan::parse(PLAN).unwrap();
        let found = Policy::parse(&policy(&plan, &findings, None).unwrap()).unwrap();
        let promised: Vec<f64> = found
            .rules
            .iter()
            .filter_map(|rule| Some(rule.expect?.as_f64()))
            .collect();
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
    fn there_are_no_more_rules_than_the_kernel_takes() {
        let groups: Vec<String> = (0..40).map(|number| format!("AS{number}")).collect();
        let mut effects: Vec<(&str, f64)> =
            groups.iter().map(|group| (group.as_str(), 3.0)).collect();
        effects.push(("AS100", -0.9));
        let plan = Plan::parse(PLAN).unwrap();
        let mut findings = findings_of(500, &effects);
        findings.decision = Decision::Open;
        let text = policy(&plan, &findings, None).unwrap();
        let found = Policy::parse(&text).unwrap();
        assert_eq!(found.rules.len(), MOST_RULES);
        assert!(text.contains(" more groups differ"), "{text}");
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
