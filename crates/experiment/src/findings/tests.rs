use super::*;
use crate::assignment::{Key, Shares};
use crate::effect::Interval;
use crate::simulated::{Model, Units};

#[test]
fn intervals_of_several_arms_are_right_all_together() {
    let names = ["cubic", "bbr", "reno", "vegas"];
    let (mut once, mut always, mut careless) = (0, 0, 0);
    for seed in 0..200 {
        let mut gathered = Gathered::new(&names, &[0.25; 4]);
        for of in Model::new(Units::Connections(2000), 0.0).study(seed) {
            let arm = (of.unit >> 62) as usize;
            gathered.add(&Observation { arm, ..of });
        }
        let measure = Measure::Throughput;
        let tally = gathered.measured.tally(measure).unwrap();
        let of_one = |arm| Effect::of(tally, arm, measure.kind()).unwrap();
        let of_all = |arm| gathered.effect(arm, measure).unwrap();
        let missed = |interval: &dyn Fn(usize) -> Interval| {
            u32::from((1..4).any(|arm| !interval(arm).has(0.0)))
        };
        once += missed(&|arm| of_all(arm).once);
        always += missed(&|arm| of_all(arm).always);
        careless += missed(&|arm| of_one(arm).once);
        for arm in 1..4 {
            let [all, one] = [of_all(arm), of_one(arm)].map(|of| of.always);
            assert!(all.low < one.low && all.high > one.high, "{all:?}, {one:?}");
        }
    }
    // 5 % of 200 and two standard deviations. Without the correction for several arms, more would miss.
    assert!(once <= 16 && careless > 16, "{once}, {careless}");
    assert!(always <= once, "{always}, {once}");
}

#[test]
fn of_several_arms_the_verdict_takes_the_one_that_is_better_by_most() {
    for (effects, best, others) in [
        ([0.5, 1.5], "reno", ["cubic", "bbr"]),
        ([1.5, 0.5], "bbr", ["cubic", "reno"]),
    ] {
        let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
        for ((seed, other), effect) in [(1, 1), (2, 2)].into_iter().zip(effects) {
            for of in Model::new(Units::Prefixes(1500), effect).study(seed) {
                let arm = if of.arm == 1 { other } else { 0 };
                gathered.add(&Observation { arm, ..of });
            }
        }
        let findings = gathered.findings();
        // Both arms are better than the first.
        for comparison in &findings.comparisons {
            let effect = comparison.measures[0].effect.unwrap();
            assert!(effect.once.low > 0.0, "{effect:?}");
        }
        assert_eq!(findings.decision, Decision::Take(best.to_owned()));
        let over = findings.against(best);
        let over: Vec<&str> = over.map(|rival| rival.controller.as_str()).collect();
        assert_eq!(over, others);
    }
}

/// For each group, the throughput of each arm in thousandths of a rate, with little random variation.
fn hardly_by_chance<const ARMS: usize>(groups: &[[u64; ARMS]]) -> Gathered {
    let names = &["cubic", "bbr", "reno"][..ARMS];
    let mut gathered = Gathered::new(names, &[1.0 / ARMS as f64; ARMS]);
    for (group, throughput) in (1..).zip(groups) {
        for (unit, arm) in (0..60 * ARMS as u64).zip((0..ARMS).cycle()) {
            let of_unit = 1000 + unit / ARMS as u64 % 7 * 5;
            gathered.add(&Observation {
                scope: crate::observation::Scope::Connection,
                unit: unit + 1000 * group,
                arm,
                acknowledged: 4_000 * throughput[arm],
                busy: units::Duration::from_millis(of_unit),
                packets: 3000,
                resent: 0,
                rtt: None,
                groups: vec![format!("AS{group}")],
            });
        }
    }
    gathered
}

/// The difference of two arms in the throughput of a group.
fn in_group(gathered: &Gathered, group: &str, arms: [usize; 2]) -> Difference {
    let tallies = &gathered.groups[group];
    Difference::of(&tallies[0], arms, Measure::Throughput.kind()).unwrap()
}

#[test]
fn intervals_are_wider_where_fewer_groups_are_worth_a_rule() {
    // All groups but the fourth differ significantly. The second is worse, and the third gains too little.
    let gathered = hardly_by_chance(&[[1000, 1200], [1000, 800], [1000, 1020], [1000, 1000]]);
    let findings = gathered.findings();
    let rows = &findings.comparisons[0].rival.groups;
    let sure = rows.iter().filter(|row| row.p_corrected < DOUBT).count();
    assert_eq!((sure, rows.len()), (3, 4));
    let row = rows.iter().find(|row| row.group == "AS1").unwrap();
    let known = in_group(&gathered, "AS1", [0, 1]);
    assert_eq!(row.picked, known.interval(true, DOUBT / 4.0));
}

#[test]
fn against_the_arm_that_is_taken_all_pairs_of_arms_count() {
    let gathered = hardly_by_chance(&[[1000, 1200, 1203]]);
    let findings = gathered.findings();
    assert_eq!(findings.decision, Decision::Take("reno".to_owned()));
    let bbr = |of: &str| findings.against(of).find(|one| one.controller == "bbr");
    for (over, place, tables) in [("cubic", 0, 2.0), ("reno", 2, 3.0)] {
        let row = &bbr(over).unwrap().groups[0];
        let known = in_group(&gathered, "AS1", [place, 1]);
        assert_eq!(row.effect, known.effect(DOUBT / tables));
        assert_eq!(row.p_corrected, row.effect.p * tables);
    }
}

#[test]
fn what_is_not_there_is_in_the_verdict() {
    let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
    assert_eq!(gathered.findings().lacking, None);
    gathered.lacks("Half of it is gone.".to_owned());
    let findings = gathered.findings();
    assert!(
        findings.verdict.starts_with("Too little data. There is ")
            && findings.verdict.ends_with(" Half of it is gone.")
    );
    assert_eq!(findings.lacking.as_deref(), Some("Half of it is gone."));
}

#[test]
fn times_of_small_objects_are_told_by_group() {
    let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
    for mut of in Model::new(Units::Prefixes(2000), 0.0).study(1) {
        let groups = vec![format!("AS{}", of.unit % 2)];
        if of.unit % 2 == 1 && of.arm == 1 && of.acknowledged < 10_000 {
            of.busy = of.busy * 2;
        }
        gathered.add(&Observation { groups, ..of });
    }
    let findings = gathered.findings();
    let small = &findings.comparisons[0].rival.small;
    assert_eq!(small.len(), 2 * 4, "{small:?}");
    let sure = small.iter().filter(|row| row.p_corrected < DOUBT);
    let sure: Vec<(&str, Measure)> = sure.map(|row| (&*row.group, row.measure)).collect();
    assert_eq!(sure, [("AS1", Measure::Time10k)]);
    assert!((small[0].effect.change - 1.0).abs() < 0.5, "{small:?}");
}

#[test]
fn a_study_that_goes_on_is_judged_by_what_holds_at_any_time() {
    let mut judged = 0;
    for seed in 0..40 {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
        let study = Model::new(Units::Prefixes(500), 0.25).study(seed);
        study.iter().for_each(|of| gathered.add(of));
        let effect = gathered.effect(1, Measure::Throughput).unwrap();
        // Significant for a single look at the end, but not at any time.
        if effect.once.low <= 0.0 || effect.always.low > 0.0 {
            continue;
        }
        judged += 1;
        let over = gathered.findings();
        gathered.reached(Reach::EndedEarly);
        let ended = gathered.findings();
        gathered.reached(Reach::Running);
        let on = gathered.findings();
        assert!(matches!(
            over.decision,
            Decision::Take(_) | Decision::Weigh(_)
        ));
        assert_eq!(on.decision, Decision::Open);
        assert!(on.verdict.contains("still running") && !over.verdict.contains("still running"));
        assert!(ended.verdict.contains("ended early") && !ended.verdict.contains("still running"));
        assert_eq!(
            (ended.decision, ended.comparisons),
            (on.decision.clone(), on.comparisons.clone())
        );
        let p = |of: &Findings| of.comparisons[0].measures[0].p_corrected.unwrap();
        assert!(p(&on) > p(&over));
    }
    assert!(judged > 5, "{judged}");
}

#[test]
fn values_of_the_measures_are_corrected_for_measures_and_arms() {
    let mut gathered = Gathered::new(&["cubic", "bbr", "reno"], &[0.5, 0.25, 0.25]);
    for of in Model::new(Units::Connections(3000), 0.0).study(3) {
        let arm = [0, 0, 1, 2][(of.unit >> 62) as usize];
        // RTTs of the second arm are a little longer.
        let rtt = of
            .rtt
            .map(|rtt| rtt * if arm == 1 { 114 } else { 100 } / 100);
        gathered.add(&Observation { arm, rtt, ..of });
    }
    for reach in [Reach::Over, Reach::Running] {
        gathered.reached(reach);
        let findings = gathered.findings();
        let rows = &findings.comparisons[0].measures;
        let known: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|row| Some((row.effect?.p(reach == Reach::Over), row.p_corrected?)))
            .collect();
        // Connections without objects do not show whether an object was cut short.
        assert_eq!(known.len(), Measure::ALL.len() - 1);
        let least = known
            .iter()
            .copied()
            .reduce(|one, other| if one.0 < other.0 { one } else { other });
        let (p, p_corrected) = least.unwrap();
        // For eight measures, and two arms.
        let all = p * 8.0 * 2.0;
        assert!(
            all < 1.0 && (p_corrected / all - 1.0).abs() < 1e-9,
            "{known:?}"
        );
    }
}

#[test]
fn a_connection_is_in_the_class_of_its_share_of_retransmissions() {
    let mut gathered = Gathered::new(&["cubic"], &[1.0]);
    let of = Model::new(Units::Connections(1), 0.0).study(1).remove(0);
    // None; up to 1 %; up to 5 %; more.
    for resent in [0, 0, 0, 0, 1, 10, 11, 50, 51, 1000] {
        gathered.add(&Observation {
            arm: 0,
            packets: 1000,
            resent,
            ..of.clone()
        });
    }
    assert_eq!(
        gathered.findings().arms[0].resent_classes,
        [0.4, 0.2, 0.2, 0.2]
    );
}

#[test]
fn a_full_arm_does_not_decide_the_strata() {
    // Twelve networks, half of them ten times slower, and one controller in both arms. The first arm has more units in
    // networks than it may have sums, and the second one far fewer.
    let change = |seed: u64| {
        let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.9, 0.1]);
        let (key, shares) = (Key::of_seed("full"), Shares::of(&[0.9, 0.1]));
        for number in 0..200_000 {
            let unit = key.draw([0, number, 0, seed]);
            let network = key.draw([1, number, 0, seed]) % 12;
            let busy = if network % 2 == 0 { 1000 } else { 10_000 };
            gathered.add(&Observation {
                scope: Scope::Connection,
                unit,
                arm: shares.arm(unit),
                acknowledged: 4_000_000,
                busy: units::Duration::from_millis(busy),
                packets: 3000,
                resent: 0,
                rtt: None,
                groups: vec![format!("AS{}", 64_500 + network)],
            });
        }
        let findings = gathered.findings();
        let row = &findings.comparisons[0].measures[0];
        let effect = row.effect.unwrap();
        assert!(effect.always.has(0.0), "{effect:?}");
        assert_eq!((row.strata, row.unadjusted), (1, row.effect));
        let part =
            "too many units to compare the arms within groups of clients in throughput over 3 MB";
        assert!(findings.verdict.contains(part), "{}", findings.verdict);
        effect.change
    };
    let changes: Vec<f64> = (0..5).map(change).collect();
    // One has a standard error of 0.9 %.
    let mean = changes.iter().sum::<f64>() / 5.0;
    assert!(mean.abs() < 0.012, "{changes:?}");
}
