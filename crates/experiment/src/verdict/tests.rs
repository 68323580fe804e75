use super::*;
use crate::comparison::{GroupRow, Percentile, Rival};
use crate::effect::Interval;

#[test]
fn numbers_as_people_read_them() {
    assert_eq!(change(0.0793), "+7.9 %");
    assert_eq!(change(-0.5), "−50.0 %");
    assert_eq!(change(-0.0001), "0.0 %");
    assert_eq!(change(8.5), "+850.0 %");
    let interval = Interval {
        low: 9.0,
        high: 3_926.413,
    };
    assert_eq!(range(interval), "10-fold to 3927-fold");
    assert_eq!(probability(0.0432), "0.043");
    assert_eq!(
        joined(["a", "b", "c"].map(str::to_owned).into_iter()),
        "a, b and c"
    );
}

/// A row with intervals of these half widths: for a single look, and at any time.
fn row(measure: Measure, change: f64, [once, always]: [f64; 2]) -> Row {
    let interval = |half: f64| Interval {
        low: change - half,
        high: change + half,
    };
    Row {
        measure,
        effect: Some(Effect {
            change,
            once: interval(once),
            always: interval(always),
            p: 1e-9,
            p_always: 1e-9,
            units: [100, 100],
            connections: [100, 100],
        }),
        strata: 1,
        unadjusted: None,
        p_corrected: Some(1e-9),
    }
}

fn comparison(controller: &str, measures: Vec<Row>) -> Comparison {
    Comparison {
        rival: Rival {
            controller: controller.to_owned(),
            over: "cubic".to_owned(),
            groups: Vec::new(),
            small: Vec::new(),
            resent: Vec::new(),
        },
        measures,
        throughput_p5: None,
        heat: Vec::new(),
    }
}

fn judged(comparisons: &[Comparison], reach: Reach) -> (Decision, String) {
    let arms = [[1_u64; 100]; 2].map(IntoIterator::into_iter);
    let balance = Balance::of(arms.into_iter(), &[0.5, 0.5]);
    of(balance.as_ref(), &[], comparisons, "objects", reach)
}

#[test]
fn what_is_slower_is_stayed_away_from() {
    let slower = |half| vec![row(Measure::Throughput, -0.2, half)];
    let (decision, text) = judged(&[comparison("bbr", slower([0.1, 0.15]))], Reach::Running);
    assert_eq!(decision, Decision::Stay);
    let part = "bbr carries objects over 3 MB slower than cubic: −20.0 %";
    assert!(text.contains(part), "{text}");
    // Before the end, the interval at any time counts.
    let unsure = [comparison("bbr", slower([0.1, 0.3]))];
    assert_eq!(judged(&unsure, Reach::Running).0, Decision::Open);
    assert_eq!(judged(&unsure, Reach::Over).0, Decision::Stay);
}

/// The throughput of a group, with this change and p-value.
fn in_group(group: &str, change: f64, p_corrected: f64) -> GroupRow {
    let of = row(Measure::Throughput, change, [0.01, 0.02]);
    GroupRow {
        group: group.to_owned(),
        measure: Measure::Throughput,
        values: [1.0, 1.0 + change],
        effect: of.effect.unwrap(),
        p_corrected,
        picked: of.effect.unwrap().once,
    }
}

#[test]
fn where_groups_differ_they_are_named() {
    let open = vec![row(Measure::Throughput, 0.5, [0.6, 0.7])];
    let mut comparison = comparison("bbr", open);
    comparison.rival.groups = vec![
        in_group("region lossy", 4.98, 1e-9),
        in_group("192.0.2.0/24", 9.0, 1e-9),
        in_group("region site", 0.2, 0.001),
        in_group("region clean", 0.01, 0.051),
        in_group("RTT below 1ms", 9.0, 1e-9),
    ];
    let (decision, text) = judged(&[comparison.clone()], Reach::Over);
    assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
    let part = "By region: bbr is faster for lossy (+498.0 %) and site (+20.0 %); no significant difference for clean.";
    assert!(text.contains(part), "{text}");
    // Regions without a difference do not hide other groups.
    let mut alike = comparison.clone();
    for row in &mut alike.rival.groups {
        if row.group.starts_with("region") {
            row.p_corrected = 0.5;
        }
    }
    let systems = [("AS64501", 0.0, 0.9), ("AS64502", 0.4, 1e-4)];
    let systems = systems.map(|(group, change, p)| in_group(group, change, p));
    alike.rival.groups.extend(systems);
    let (decision, text) = judged(&[alike], Reach::Over);
    assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
    let part = "By AS: bbr is faster for AS64502 (+40.0 %); no significant difference for AS64501.";
    assert!(text.contains(part), "{text}");
    // A class of RTTs with a rule is named before regions without one.
    let mut slight = comparison.clone();
    for row in &mut slight.rival.groups {
        if row.group.starts_with("region") {
            row.effect.change = 0.02;
        }
    }
    slight
        .rival
        .groups
        .retain(|row| row.group != "192.0.2.0/24");
    let (decision, text) = judged(&[slight.clone()], Reach::Over);
    assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
    assert!(
        text.contains("By RTT: bbr is faster for RTT below 1ms"),
        "{text}"
    );
    // A difference too small for a rule of `learn` is no reason for an arm.
    slight
        .rival
        .groups
        .retain(|row| row.group.starts_with("region"));
    let (decision, text) = judged(&[slight], Reach::Over);
    assert_eq!(decision, Decision::Open);
    let part = "By region: bbr is faster by less than the 3 % that make a rule for lossy (+2.0 %) and site (+2.0 %); no \
                significant difference for clean.";
    assert!(text.contains(part), "{text}");
    // Equal groups need no words.
    comparison
        .rival
        .groups
        .retain(|row| row.p_corrected > DOUBT);
    let (decision, text) = judged(&[comparison], Reach::Over);
    assert_eq!(decision, Decision::Open);
    assert!(!text.contains("By "), "{text}");
}

#[test]
fn a_group_with_more_harm_than_gain_is_none_to_take_the_arm_for() {
    let open = vec![row(Measure::Throughput, 0.0, [0.1, 0.2])];
    let mut comparison = comparison("bbr", open);
    comparison.rival.groups = vec![
        in_group("AS64501", 0.2, 1e-9),
        in_group("AS64502", 0.2, 1e-9),
        in_group("AS64503", 0.2, 1e-9),
    ];
    let slower = |group, change, p| GroupRow {
        measure: Measure::Time100k,
        ..in_group(group, change, p)
    };
    comparison.rival.small = vec![
        slower("AS64501", 0.3, 1e-9),
        slower("AS64502", 0.1, 1e-9),
        slower("AS64503", 0.3, 0.051),
    ];
    let (decision, text) = judged(&[comparison.clone()], Reach::Over);
    assert_eq!(decision, Decision::TakeForSome("bbr".to_owned()));
    let part = "By AS: bbr is faster for AS64502 (+20.0 %) and AS64503 (+20.0 %) and faster, but with more harm to small \
                objects or in retransmissions, for AS64501 (+20.0 %).";
    assert!(text.contains(part), "{text}");
    // 30 percentage points more of the packets.
    comparison.rival.resent = ["AS64502", "AS64503"]
        .map(|group| GroupRow {
            measure: Measure::Resent,
            values: [0.1, 0.4],
            ..in_group(group, 3.0, 1e-9)
        })
        .to_vec();
    assert_eq!(judged(&[comparison], Reach::Over).0, Decision::Open);
}

#[test]
fn an_arm_that_was_not_in_force_has_no_verdict_and_one_that_was_partly_is_told() {
    let better = [comparison(
        "bbr",
        vec![row(Measure::Throughput, 0.2, [0.1, 0.1])],
    )];
    let arms = [[1_u64; 100]; 2].map(IntoIterator::into_iter);
    let balance = Balance::of(arms.into_iter(), &[0.5, 0.5]);
    let judged = |others: usize| {
        let mut force = [InForce::default(); 2];
        for number in 0..100 {
            force[0].note(true);
            force[1].note(number >= others);
        }
        let force = [("cubic", &force[0]), ("bbr", &force[1])];
        of(balance.as_ref(), &force, &better, "objects", Reach::Over)
    };
    let (decision, text) = judged(100);
    assert_eq!(decision, Decision::Distrust);
    assert!(
        text.contains("100 of 100 connections of bbr had another controller"),
        "{text}"
    );
    let (decision, text) = judged(10);
    assert_eq!(decision, Decision::Take("bbr".to_owned()));
    assert!(
        text.contains("Beware: 10 of 100 connections of bbr"),
        "{text}"
    );
    assert!(!judged(0).1.contains("Beware"));
}

#[test]
fn of_two_better_arms_the_one_with_the_greater_certain_gain_is_taken() {
    let all = [("bbr", 0.5, [0.2, 0.45]), ("reno", 0.4, [0.15, 0.2])];
    let all = all
        .map(|(name, change, half)| comparison(name, vec![row(Measure::Throughput, change, half)]));
    let taken = |reach| judged(&all, reach).0;
    assert_eq!(taken(Reach::Over), Decision::Take("bbr".to_owned()));
    assert_eq!(taken(Reach::Running), Decision::Take("reno".to_owned()));
}

#[test]
fn what_is_significant_only_before_the_correction_is_not_told() {
    let throughput = row(Measure::Throughput, 0.2, [0.1, 0.1]);
    let slow = row(Measure::Rtt, 0.3, [0.1, 0.1]);
    let each = |p| {
        let p_corrected = Some(p);
        let rows = vec![
            throughput.clone(),
            Row {
                p_corrected,
                ..slow.clone()
            },
        ];
        judged(&[comparison("bbr", rows)], Reach::Over)
    };
    let (decision, text) = each(0.051);
    assert_eq!(decision, Decision::Take("bbr".to_owned()));
    assert!(!text.contains("worse in"), "{text}");
    let (decision, text) = each(0.049);
    assert_eq!(decision, Decision::Weigh("bbr".to_owned()));
    assert!(text.contains("bbr is worse in RTT (+30.0 %)."), "{text}");
}

#[test]
fn what_is_better_in_one_thing_is_not_also_better() {
    let rtt = row(Measure::Rtt, -0.3, [0.1, 0.1]);
    for (change, told) in [
        (-0.2, "bbr is better in RTT (−30.0 %)."),
        (0.2, "bbr is also better in RTT (−30.0 %)."),
    ] {
        let throughput = row(Measure::Throughput, change, [0.1, 0.1]);
        let (_, text) = judged(
            &[comparison("bbr", vec![throughput, rtt.clone()])],
            Reach::Over,
        );
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn the_slowest_twentieth_is_told_when_the_study_is_over() {
    let once = Interval {
        low: 0.1,
        high: 0.5,
    };
    let change = 0.3;
    let all = [Comparison {
        throughput_p5: Some(Percentile { change, once }),
        ..comparison("bbr", vec![row(Measure::Throughput, 0.2, [0.1, 0.1])])
    }];
    // Its interval is for a single look.
    for (reach, is_told) in [
        (Reach::Over, true),
        (Reach::Running, false),
        (Reach::EndedEarly, false),
    ] {
        let (_, text) = judged(&all, reach);
        assert_eq!(text.contains("+30.0 % in the slowest"), is_told, "{text}");
    }
}

#[test]
fn arms_with_other_shares_of_large_objects_are_warned_of() {
    let beware = |p| {
        let large = row(Measure::Large, -0.2, [0.1, 0.1]);
        let p_corrected = Some(p);
        let rows = vec![
            row(Measure::Throughput, 0.2, [0.1, 0.1]),
            Row {
                p_corrected,
                ..large
            },
        ];
        let text = judged(&[comparison("bbr", rows)], Reach::Over).1;
        text.contains("Beware: the share of objects over 3 MB differs (−20.0 %)")
    };
    assert!(beware(0.049) && !beware(0.051));
}

#[test]
fn what_is_sure_and_shown_as_nothing_is_not_told() {
    let row = |measure, change| row(measure, change, [1e-6, 1e-6]);
    let rows = [
        row(Measure::Time10k, -0.000_4),
        row(Measure::Time100k, -0.000_6),
        row(Measure::Rtt, 0.000_4),
    ];
    assert_eq!(told(&rows, true), ["time from 10 to 100 kB (−0.1 %)"]);
    assert!(told(&rows, false).is_empty());
}

#[test]
fn without_data_there_is_no_verdict() {
    let (decision, text) = of(None, &[], &[], "objects", Reach::Over);
    assert_eq!(decision, Decision::TooLittle);
    assert!(
        !text.contains("yet") && text.contains("check in the plan"),
        "{text}"
    );
}

#[test]
fn shares_that_are_not_as_planned_end_the_story() {
    for (counts, each, part) in [
        ([5000, 4000], [1, 1], "5000 and 4000 units"),
        ([300, 300], [10, 7], "3000 and 2100 connections"),
    ] {
        let arms = counts.iter().zip(each);
        let arms = arms.map(|(&count, each)| std::iter::repeat_n(each, count));
        let balance = Balance::of(arms, &[0.5, 0.5]);
        let (decision, text) = of(balance.as_ref(), &[], &[], "objects", Reach::Over);
        assert_eq!(decision, Decision::Distrust);
        assert!(
            text.contains(part) && text.contains("below 0.001"),
            "{text}"
        );
    }
}
