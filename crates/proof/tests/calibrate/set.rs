//! The built-in set, and invalid sets.

use std::collections::HashSet;
use std::path::Path;

use lab::EngineKind;
use proof::calibrate::{Calibration, Choice, Pair, Set};
use scenario::Scenario;

use crate::support::{of_sim, scenarios, sets, small};

/// The levels of constant paths with one bulk flow: rate, RTprop, buffer, loss.
const LEVELS: [&[&str]; 4] = [
    &["1mbit", "10mbit", "100mbit", "500mbit"],
    &["5ms", "40ms", "200ms"],
    &["0.5bdp", "2bdp", "10bdp"],
    &["0%", "0.1%", "1%", "5%"],
];

#[test]
fn every_level_meets_every_level_of_every_other_factor() {
    let all = of_sim(&sets(), &[], 1);
    let plain = |name: &&str| name.split('-').count() == 5;
    let names: Vec<&str> = scenarios(&all)
        .map(|(name, _)| name)
        .filter(plain)
        .collect();
    for controller in ["bbr1", "cubic"] {
        let mut pairs = HashSet::new();
        let mut alone = HashSet::new();
        for name in &names {
            let levels: Vec<&str> = name.split('-').collect();
            let Some((_, levels)) = levels.split_first().filter(|(of, _)| **of == controller)
            else {
                continue;
            };
            for (factor, level) in levels.iter().enumerate() {
                alone.insert((factor, *level));
                for (other, with) in levels.iter().enumerate().skip(factor + 1) {
                    pairs.insert((factor, *level, other, *with));
                }
            }
            // Only one factor differs from the base.
            let base = ["10mbit", "40ms", "2bdp", "0%"];
            let differing = (0..4).filter(|factor| levels[*factor] != base[*factor]);
            if let [factor] = differing.collect::<Vec<_>>()[..] {
                alone.insert((factor + 4, levels[factor]));
            }
        }
        for (factor, levels) in LEVELS.iter().enumerate() {
            for level in *levels {
                assert!(alone.contains(&(factor, *level)), "{controller} {level}");
                let is_base = ["10mbit", "40ms", "2bdp", "0%"].contains(level);
                assert!(
                    is_base || alone.contains(&(factor + 4, *level)),
                    "{level} alone"
                );
                for (other, others) in LEVELS.iter().enumerate().skip(factor + 1) {
                    for with in *others {
                        let pair = (factor, *level, other, *with);
                        assert!(pairs.contains(&pair), "{controller}: {level} with {with}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_special_cases_are_there_for_both_controllers() {
    let all = of_sim(&sets(), &[], 1);
    let names: HashSet<&str> = scenarios(&all).map(|(name, _)| name).collect();
    for case in [
        "step-up",
        "step-down",
        "transfers",
        "policer",
        "send-buffer",
    ] {
        for controller in ["bbr1", "cubic"] {
            let name = format!("{controller}-{case}");
            assert!(names.contains(name.as_str()), "{name}");
        }
    }
    for name in ["bbr1+bbr1-2bdp", "cubic+cubic-2bdp", "bbr1+cubic-2bdp"] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn runs_are_long_enough_to_settle_and_short_enough_to_wait_for() {
    let all = of_sim(&sets(), &[], 1);
    let seconds = |scenario: &Scenario| scenario.duration.map(|one| one.as_secs_f64()).unwrap();
    for (name, scenario) in scenarios(&all) {
        let (duration, rtprop) = (seconds(scenario), scenario.path.rtt.as_secs_f64());
        assert!(duration >= 15.0 && duration >= 100.0 * rtprop, "{name}");
    }
    let total: f64 = scenarios(&all).map(|(_, scenario)| seconds(scenario)).sum();
    assert!(total * 3.0 <= 100.0 * 60.0, "{total} s, three times");
    let choice = Choice {
        is_quick: true,
        ..Choice::default()
    };
    let quick = Calibration::new(
        &sets(),
        &choice,
        &Pair::of_engines([EngineKind::Sim, EngineKind::Quic]),
        1,
    )
    .unwrap();
    let total: f64 = scenarios(&quick)
        .map(|(_, scenario)| seconds(scenario))
        .sum();
    assert!((60.0..=240.0).contains(&total), "{total} s");
}

#[test]
fn cases_that_an_engine_cannot_run_are_skipped_with_a_reason() {
    let engines = [EngineKind::Quic, EngineKind::Sim];
    let all = Calibration::new(&sets(), &Choice::default(), &Pair::of_engines(engines), 1).unwrap();
    for case in &all.cases {
        let is_special = case.name.contains("send-buffer") || case.name.contains("transfers");
        assert_eq!(case.skipped.is_some(), is_special, "{}", case.name);
    }
    let reason = all.cases.iter().find_map(|case| case.skipped.as_deref());
    assert!(reason.unwrap().contains("engine quic cannot do this"));
    let runs: usize = all.sides.iter().map(|side| side.plan.runs.len()).sum();
    assert_eq!(runs, 2 * (all.cases.len() - 4));
    let bbr3 = Pair::bbr3_in_kernel();
    let [simulated, kernels] = Calibration::new(&sets(), &Choice::default(), &bbr3, 2)
        .unwrap()
        .sides
        .map(|side| side.repeats);
    assert_eq!((simulated, kernels), (10, 2));
}

#[test]
fn both_sides_run_the_same_seeds_each_case_once_first() {
    let calibration = of_sim(&[small("")], &[], 2);
    let [first, second] = &calibration.sides;
    let seeds = |side: &proof::calibrate::Side| -> Vec<u64> {
        side.plan.runs.iter().map(|run| run.scenario.seed).collect()
    };
    assert_eq!(seeds(first), seeds(second));
    let order: Vec<(usize, u64)> = first
        .plan
        .runs
        .iter()
        .map(|run| (run.point, run.repeat))
        .collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1)]);
    let keys: HashSet<&str> = calibration
        .sides
        .iter()
        .flat_map(|side| side.plan.runs.iter().map(|run| run.key.as_str()))
        .collect();
    assert_eq!(
        keys.len(),
        8,
        "an engine beside itself runs everything twice"
    );
}

#[test]
fn what_chance_decides_is_run_more_often_but_once_for_a_first_impression() {
    let sets = [small("chance = [\"bbr1-*\"]\nquick = [\"*\"]")];
    let of_case = |calibration: &Calibration| {
        let [first, second] = calibration.sides.each_ref().map(|side| {
            let of = |point| side.plan.runs.iter().filter(move |run| run.point == point);
            [0, 1].map(|point| of(point).count())
        });
        assert_eq!(first, second);
        first
    };
    let all = of_sim(&sets, &[], 2);
    assert_eq!(of_case(&all), [6, 2]);
    assert_eq!(all.real_time_s(), 3.0 * 8.0);
    assert!(all.exception().contains("3 times as many"));
    let choice = Choice {
        is_quick: true,
        ..Choice::default()
    };
    let pair = Pair::of_engines([EngineKind::Sim, EngineKind::Sim]);
    let quick = Calibration::new(&sets, &choice, &pair, 1).unwrap();
    assert_eq!(of_case(&quick), [1, 1]);
    assert_eq!(quick.exception(), "");
}

#[test]
fn sets_that_make_no_sense_are_refused_in_one_line() {
    const TEXT: &str = "name = \"x\"\ncase = \"{flow.controller}-x\"\nquick = [\"*\"]\n\
                        [[explained]]\ncase = \"*\"\nbecause = \"of this\"\n\
                        [axes]\n\"flow.controller\" = [\"bbr1\"]\n\
                        [scenario]\nname = \"x\"\nduration = \"1s\"\n[[scenario.flow]]\ncontroller = \"bbr1\"\n";
    Set::parse(TEXT, Path::new("")).unwrap();
    for (from, to, wrong) in [
        (
            "quick",
            "qick",
            "line 3: qick: unknown key; did you mean `quick`?",
        ),
        (
            "quick = [",
            "engine = [",
            "line 3: engine: a set has none; it is up to the command",
        ),
        (
            "case = \"{flow.controller}-x\"\n",
            "",
            "case: is missing; name the points",
        ),
        (
            "{flow.controller}",
            "{path.rate}",
            "line 2: case: {path.rate}-x has {path.rate}, which is not a field",
        ),
        (
            "controller}",
            "controller",
            "line 2: case: {flow.controller-x has a brace that is not closed",
        ),
        (
            "because",
            "becuase",
            "line 6: explained.becuase: unknown key; did you mean `explained.because`?",
        ),
        (
            "because = \"of this\"",
            "quantity = \"jain\"\nbecause = \"y\"",
            "line 6: explained.quantity: \"jain\": unknown quantity with a tolerance",
        ),
        (
            "because = \"of this\"",
            "",
            "line 5: explained.because: is missing",
        ),
        (
            "[[explained]]",
            "[explained]",
            "line 4: explained: is a list; write [[explained]]",
        ),
        (
            "[axes]",
            "[axis]",
            "line 7: axis: unknown key; did you mean `axes`?",
        ),
    ] {
        let error = Set::parse(&TEXT.replacen(from, to, 1), Path::new("")).unwrap_err();
        assert!(error.to_string().starts_with(wrong), "{to}: {error}");
    }
    let twice = Set::parse(&TEXT.replace("{flow.controller}-x", "x"), Path::new(""));
    let twice = [twice.unwrap(), Set::parse(TEXT, Path::new("")).unwrap()];
    let [first, _] = &twice;
    let same = [first.clone(), first.clone()];
    let error = Calibration::new(
        &same,
        &Choice::default(),
        &Pair::of_engines([EngineKind::Sim, EngineKind::Quic]),
        1,
    );
    let (place, error) = error.unwrap_err();
    assert_eq!(
        (place, error.to_string().as_str()),
        (1, "case: there are two cases x")
    );
    Calibration::new(
        &twice,
        &Choice::default(),
        &Pair::of_engines([EngineKind::Sim, EngineKind::Quic]),
        1,
    )
    .unwrap();
}
