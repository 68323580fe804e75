use std::cell::Cell;

use super::*;
use crate::effect::DOUBT;
use crate::findings::Gathered;
use crate::observation::Observation;
use crate::simulated::{Model, Units};

const PLAN: &str = "name = \"a \\\"b\\\"\"\ncgroup = \"g\"\nunit = \"prefix\"\nduration = \"1h\"\n\
        [connections]\nlisten = [443, \"8000-8010\"]\nexcept = [\"10.0.0.0/8\"]\n\
        [[arm]]\ncontroller = \"cubic\"\nshare = \"50%\"\n[[arm]]\ncontroller = \"bbr\"\nshare = \"50%\"\n";

/// The results of a study with one group for each effect.
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
    let beside = Context {
        earlier,
        ..Context::default()
    };
    let text = policy(&plan, &findings(effects), &beside).unwrap();
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
    // Over all groups, nothing is significant, so the remaining connections keep the first arm, and so does AS2.
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
    // The lower end of the interval around 80 %.
    assert!((0.3..0.8).contains(&expect), "{expect}");
    assert!(found.rules[2].evidence.contains("bbr against cubic: +"));
    assert_eq!(found.explore.as_f64(), 0.02);
    assert_eq!(found.rules[3].listen.len(), 2);
    assert!(found.text.contains("listen = [443, \"8000-8010\"]\n"));
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
    // Such a small advantage alone makes no rule.
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
    // Each group gains 50 %. Groups that show it by chance are selected, and their observed gains are too great.
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
    let found = Policy::parse(&policy(&plan, &findings, &Context::default()).unwrap()).unwrap();
    let all = super::learned(
        &plan,
        &findings,
        "cubic",
        &Context::default(),
        &mut Vec::new(),
    );
    let promised: Vec<f64> = all.values().map(|of| of.expect).collect();
    // The rule for all of them expects their average.
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

/// A study of three arms. `effects` are those of the second and the third arm in each group. With the second arm, small
/// objects take `slower` times as long.
fn of_three(effects: &[(&str, [f64; 2])], slower: u64) -> Findings {
    let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
    let mut seed = 100;
    for (group, effects) in effects {
        for (other, effect) in effects.iter().enumerate() {
            seed += 1;
            for mut of in Model::new(Units::Prefixes(3000), *effect).study(seed) {
                if of.arm == 1 && other == 0 && of.acknowledged < 10_000 {
                    of.busy = of.busy * slower;
                }
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

fn plan_of_three() -> Plan {
    let text = PLAN.replacen("50%", "25%", 1) + "[[arm]]\ncontroller = \"reno\"\nshare = \"25%\"\n";
    Plan::parse(&text).unwrap()
}

#[test]
fn of_several_arms_the_best_one_is_taken_and_not_the_first_one() {
    let findings = of_three(
        &[
            ("AS1", [0.5, 2.5]),
            ("AS2", [0.5, 2.5]),
            ("AS3", [0.5, 2.5]),
            ("AS4", [0.8, -0.5]),
        ],
        1,
    );
    assert_eq!(findings.decision, Decision::Take("reno".to_owned()));
    let plan = plan_of_three();
    let found = Policy::parse(&policy(&plan, &findings, &Context::default()).unwrap()).unwrap();
    // Where the overall best arm is not the best, the rule has the arm that was neither the first nor taken.
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
    let text = policy(&plan, &findings, &Context::default()).unwrap();
    let found = Policy::parse(&text).unwrap();
    assert_eq!(
        rules(&found),
        [
            ("no part", "cubic"),
            ("bbr for AS1", "bbr"),
            ("rest", "cubic")
        ]
    );
    // The evidence includes the effects on small objects.
    let evidence = &found.rules[1].evidence;
    for size in ["time below 10 kB", "time from 10 to 100 kB"] {
        assert!(evidence.contains(size), "{evidence}");
    }
    assert!(!evidence.contains("worse"), "{evidence}");
    let line = text.lines().find(|line| line.starts_with("# No rule with"));
    let line = line.expect("a line that says so");
    assert!(
        line.contains("AS2") && line.contains("significantly worse"),
        "{line}"
    );
}

#[test]
fn where_one_of_several_arms_harms_small_objects_another_one_has_the_rule() {
    let mut findings = of_three(&[("AS1", [0.9, 0.9]), ("AS2", [0.0, 0.0])], 4);
    findings.decision = Decision::Open;
    let text = policy(&plan_of_three(), &findings, &Context::default()).unwrap();
    assert_eq!(
        rules(&Policy::parse(&text).unwrap()),
        [
            ("no part", "cubic"),
            ("reno for AS1", "reno"),
            ("rest", "cubic")
        ]
    );
    let mut lines = text.lines().filter(|line| line.starts_with("# No rule"));
    let line = lines.next().expect("a line that says so");
    assert!(line.starts_with("# No rule with bbr for AS1: "), "{line}");
    assert_eq!(lines.next(), None);
}

#[test]
fn while_the_study_goes_on_a_rule_takes_what_holds_at_any_time() {
    let many = [("AS1", 0.45), ("AS2", -0.3), ("AS3", 0.0)];
    let mut gathered = gathered_of(3000, &many);
    let plan = Plan::parse(PLAN).unwrap();
    let rules = |findings: &Findings| {
        let mut findings = findings.clone();
        findings.decision = Decision::Open;
        Policy::parse(&policy(&plan, &findings, &Context::default()).unwrap())
            .unwrap()
            .rules
    };
    let over = gathered.findings();
    gathered.reached(crate::verdict::Reach::Running);
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
    let mut effects: Vec<(&str, f64)> = groups.iter().map(|group| (group.as_str(), 3.0)).collect();
    effects.push(("AS100", -0.9));
    let plan = Plan::parse(PLAN).unwrap();
    let mut findings = findings_of(500, &effects);
    findings.decision = Decision::Open;
    let text = policy(&plan, &findings, &Context::default()).unwrap();
    let found = Policy::parse(&text).unwrap();
    let systems = found.rules[2].systems.clone();
    let many = systems.len();
    // Chance leaves some groups out. The others are more than the most rules of a policy.
    assert!(many > rules::MAX_RULES, "{text}");
    assert_eq!(
        rules(&found),
        [
            ("no part", "cubic"),
            ("bbr for 3 networks", "bbr"),
            (&*format!("bbr for {many} ASs"), "bbr"),
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
    // The groups with the smallest p-values have their evidence beside the rule. No line is long.
    assert_eq!(text.matches("# AS").count(), MAX_SHOWN_GROUPS);
    assert!(
        text.contains(&format!("# and {} more\n", many - MAX_SHOWN_GROUPS)),
        "{text}"
    );
    assert!(text.lines().count() < 72, "{text}");
    // A later study finds the groups in the grouped rules.
    let place = |group: &str| RuleScope::of(group).unwrap();
    let beside = Context {
        earlier: Some(&found),
        ..Context::default()
    };
    for (group, is_there) in [
        ("192.0.3.0/24", true),
        ("192.0.4.0/24", false),
        ("AS70", false),
    ] {
        assert_eq!(has(&beside, &place(group), "bbr"), is_there, "{group}");
    }
    for (controller, is_there) in [("bbr", true), ("cubic", false)] {
        assert_eq!(
            has(&beside, &RuleScope::System(systems[0]), controller),
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
    // Connections that took no part keep their controller. Private networks that took part are clients' networks.
    assert_eq!(
        rules(&found)[..2],
        [("no part", "cubic"), ("bbr for 10.1.2.0/24", "bbr")]
    );
    assert_eq!(explored[0], 0.0);
    let some = |share: &f64| (0.005..=0.02).contains(share);
    assert!(explored[1..].iter().all(some), "{explored:?}");
}

#[test]
fn a_policy_of_one_controller_says_that_it_explores_nothing() {
    let plan = Plan::parse(PLAN).unwrap();
    let text =
        |effects: &[(&str, f64)]| policy(&plan, &findings(effects), &Context::default()).unwrap();
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
    assert_eq!(
        policy(&plan, &none, &Context::default()),
        Err(NoPolicy::TooLittle)
    );
    let mut distrusted = findings(&[("AS1", 0.8)]);
    distrusted.decision = Decision::Distrust;
    assert_eq!(
        policy(&plan, &distrusted, &Context::default()),
        Err(NoPolicy::Distrust)
    );
}

#[test]
fn an_arm_that_is_only_to_be_weighed_is_not_put_in_force() {
    let mut findings = findings(&[("AS1", 0.9), ("AS2", 0.0), ("AS3", -0.5)]);
    findings.decision = Decision::Weigh("bbr".to_owned());
    let plan = Plan::parse(PLAN).unwrap();
    let found = Policy::parse(&policy(&plan, &findings, &Context::default()).unwrap()).unwrap();
    assert_eq!(
        rules(&found),
        [
            ("no part", "cubic"),
            ("bbr for AS1", "bbr"),
            ("rest", "cubic")
        ]
    );
}

/// The results of a study of one group, in which the second arm gains this much and retransmits these shares.
fn with_retransmissions(effect: f64, shares: [f64; 2]) -> Gathered {
    let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
    for (number, group) in (1..).zip(["AS1", "AS2"]) {
        for of in Model::new(Units::Prefixes(3000), effect).study(number) {
            let resent = (of.packets as f64 * shares[of.arm]) as u64;
            let groups = vec![group.to_owned()];
            gathered.add(&Observation {
                resent,
                groups,
                ..of
            });
        }
    }
    gathered
}

#[test]
fn where_more_is_retransmitted_than_gained_there_is_no_rule() {
    let plan = Plan::parse(PLAN).unwrap();
    let text = |effect, shares| {
        let mut findings = with_retransmissions(effect, shares).findings();
        findings.decision = Decision::Open;
        policy(&plan, &findings, &Context::default()).unwrap()
    };
    // 90 percentage points for 50 to 70 %, and 8.7 for the same.
    let dear = text(0.5, [0.02, 0.92]);
    assert!(!dear.contains("name = \"bbr for"), "{dear}");
    let line = dear
        .lines()
        .find(|line| line.starts_with("# No rule with bbr for AS1"));
    let line = line.expect("a line that says so");
    assert!(
        line.contains("retransmitted packets 9") && line.contains("significantly worse"),
        "{line}"
    );
    let cheap = text(0.5, [0.028, 0.115]);
    assert!(cheap.contains("name = \"bbr for 2 ASs\""), "{cheap}");
    assert!(cheap.contains("retransmitted packets 11."), "{cheap}");
}

#[test]
fn the_rest_says_why_it_does_not_have_the_faster_arm() {
    let plan = Plan::parse(PLAN).unwrap();
    let findings = with_retransmissions(2.0, [0.028, 0.115]).findings();
    assert_eq!(findings.decision, Decision::Weigh("bbr".to_owned()));
    let beside = Context {
        ended: Some("guard: retransmitted packets of bbr"),
        ..Context::default()
    };
    let found = Policy::parse(&policy(&plan, &findings, &beside).unwrap()).unwrap();
    let rest = found.rules.last().unwrap();
    assert_eq!(rest.controller(), "cubic");
    let start = "cubic stays: bbr is faster, but significantly worse in retransmitted packets (+";
    assert!(rest.evidence.starts_with(start), "{}", rest.evidence);
    let end = "The study ended early: guard: retransmitted packets of bbr. Weigh bbr. ";
    assert!(rest.evidence.contains(end), "{}", rest.evidence);
}

#[test]
fn a_region_has_a_rule_if_its_networks_are_known() {
    let plan = Plan::parse(PLAN).unwrap();
    let effects = [("region far away", 2.0), ("region near", 0.0)];
    let mut findings = findings(&effects);
    findings.decision = Decision::Open;
    let without = policy(&plan, &findings, &Context::default()).unwrap();
    assert!(!without.contains("name = \"bbr for"), "{without}");
    assert!(
        without.contains("# No rule with bbr for region far away"),
        "{without}"
    );
    assert!(without.contains("--region FILE"), "{without}");
    let networks = ["192.0.2.0/24", "2001:db8::/32"].map(|one| one.parse().unwrap());
    let beside = Context {
        regions: BTreeMap::from([("far away".to_owned(), networks.to_vec())]),
        ..Context::default()
    };
    let found = Policy::parse(&policy(&plan, &findings, &beside).unwrap()).unwrap();
    let rule = &found.rules[1];
    assert_eq!(
        (rule.name.as_str(), rule.controller()),
        ("bbr for region far away", "bbr")
    );
    assert_eq!(rule.prefix, networks);
    // A later study that is too small keeps the rule.
    let later = Context {
        earlier: Some(&found),
        ..beside
    };
    assert!(has(
        &later,
        &RuleScope::of("region far away").unwrap(),
        "bbr"
    ));
    assert!(!has(&later, &RuleScope::of("region near").unwrap(), "bbr"));
}

#[test]
fn without_a_rule_for_other_groups_classes_of_rtts_have_rules() {
    let plan = Plan::parse(PLAN).unwrap();
    let text = |effects: &[(&str, f64)]| {
        let mut findings = findings(effects);
        findings.decision = Decision::Open;
        policy(&plan, &findings, &Context::default()).unwrap()
    };
    let (far, near) = (("RTT from 100ms to 300ms", 2.0), ("RTT below 1ms", 0.0));
    let with_rule = text(&[far, near]);
    let found = Policy::parse(&with_rule).unwrap();
    // The unit is a client network.
    let beside = "# The study compared classes of the first handshake's RTT of each unit.";
    assert_eq!(with_rule.matches(beside).count(), 1, "{with_rule}");
    let connections = PLAN.replace("unit = \"prefix\"", "unit = \"connection\"");
    let mut of_connections = findings(&[far, near]);
    of_connections.decision = Decision::Open;
    let connections = Plan::parse(&connections).unwrap();
    let exact = policy(&connections, &of_connections, &Context::default()).unwrap();
    assert!(
        exact.contains("name = \"bbr for RTT") && !exact.contains(beside),
        "{exact}"
    );
    let rule = &found.rules[1];
    assert_eq!(rule.name, "bbr for RTT from 100ms to 300ms");
    let span = Span::new(100_000_000, Some(300_000_000));
    assert_eq!(rule.spans.of(Quantity::Rtt), span);
    let beside = |effect| text(&[far, near, ("AS1", effect)]);
    assert!(beside(0.0).contains("name = \"bbr for RTT"));
    let gaining = beside(2.0);
    assert!(
        gaining.contains("name = \"bbr for AS1") && !gaining.contains("name = \"bbr for RTT"),
        "{gaining}"
    );
    // A region without known networks has no rule.
    let nameless = text(&[far, near, ("region far away", 2.0)]);
    assert!(
        nameless.contains("No rule with bbr for region far away")
            && nameless.contains("name = \"bbr for RTT"),
        "{nameless}"
    );
}

#[test]
fn the_stronger_the_evidence_the_fewer_networks_explore() {
    let told = [0.0, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, f64::INFINITY].map(|gain| share(explored(gain)));
    assert_eq!(
        told,
        ["2%", "2%", "2%", "1.2%", "1%", "0.5%", "0.5%", "0.5%"]
    );
    let plan = Plan::parse(PLAN).unwrap();
    let mut findings = findings(&[("AS1", 9.0), ("AS2", 0.0), ("AS3", 0.0)]);
    findings.decision = Decision::Open;
    let text = policy(&plan, &findings, &Context::default()).unwrap();
    let found = Policy::parse(&text).unwrap();
    assert_eq!(found.rules[1].systems, [1]);
    // The cost is beside the rule, above 1 % if the gain is above 200 %: half a per cent of it.
    let all = super::learned(
        &plan,
        &findings,
        "cubic",
        &Context::default(),
        &mut Vec::new(),
    );
    let sure = all.values().next().unwrap().expect;
    let cost = format!("# Exploring costs {:.1} % of the mean time", sure / 2.0);
    assert!(sure > 2.5 && text.contains(&cost), "{sure}: {text}");
    assert_eq!(found.explored(&found.rules[1]).as_f64(), 0.005);
    assert_eq!(found.explored(found.rules.last().unwrap()).as_f64(), 0.02);
}

#[test]
fn arms_with_the_same_controller_make_no_rule() {
    let text = PLAN
        .replace(
            "controller = \"cubic\"",
            "name = \"a\"\ncontroller = \"cubic\"",
        )
        .replace(
            "controller = \"bbr\"",
            "name = \"b\"\ncontroller = \"cubic\"",
        );
    let plan = Plan::parse(&text).unwrap();
    let mut gathered = Gathered::new(&["a", "b"], &[0.5, 0.5]);
    for of in Model::new(Units::Prefixes(3000), 2.0).study(1) {
        let groups = vec!["AS1".to_owned()];
        gathered.add(&Observation { groups, ..of });
    }
    let found = policy(&plan, &gathered.findings(), &Context::default()).unwrap();
    assert_eq!(
        rules(&Policy::parse(&found).unwrap()),
        [("no part", "cubic"), ("rest", "cubic")]
    );
}
