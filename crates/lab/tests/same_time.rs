//! Shares and sums of flows that do not live equally long: no sum is more than the path allows.

use lab::Cancel;
use lab::{Engine, Sim};
use proptest::prelude::*;
use record::Record;
use scenario::Scenario;

fn run(text: &str) -> Record {
    let scenario: Scenario = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    Sim::new().run(&scenario, &|_| {}, &Cancel::new()).unwrap()
}

fn controller() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("bbr1"), Just("cubic"), Just("reno")]
}

prop_compose! {
    fn group()(
        controller in controller(), count in 1u64..4, start in 0u64..3_000, stagger in 0u64..900,
        kilobytes in prop::option::weighted(0.5, 10u64..4_000), mss in prop::option::weighted(0.2, 600u64..1_449),
    ) -> String {
        let mut text = format!(
            "[[flow]]\ncontroller = '{controller}'\ncount = {count}\nstart = '{start}ms'\nstagger = '{stagger}ms'\n"
        );
        if let Some(kilobytes) = kilobytes {
            text += &format!("bytes = '{kilobytes}kb'\n");
        }
        if let Some(mss) = mss {
            text += &format!("host = {{ mss = {mss} }}\n");
        }
        text
    }
}

prop_compose! {
    fn path()(
        kilobits in 1_000u64..50_000, millis in 1u64..150, tenths in 3u64..80, queue in 0usize..3,
        loss in prop_oneof![Just("0%"), Just("0.1%"), Just("1%"), Just("5%")], policed in prop::option::weighted(0.2, 1u64..100),
    ) -> String {
        let bdp = kilobits * millis / 8;
        let buffer = (bdp * tenths / 10).max(4_000);
        let queue = ["droptail", "codel", "fq_codel"][queue];
        let mut text = format!(
            "[path]\nrate = '{kilobits}kbit'\nrtt = '{millis}ms'\nbuffer = '{buffer}b'\nqueue = '{queue}'\nloss = '{loss}'\n"
        );
        if let Some(percent) = policed {
            let rate = kilobits * percent / 100 + 100;
            text += &format!("policer = {{ rate = '{rate}kbit', burst = '30kb' }}\n");
        }
        text
    }
}

prop_compose! {
    fn scenario()(
        path in path(), groups in prop::collection::vec(group(), 1..4), seconds in 6u64..9,
        warmup in prop_oneof![3 => Just(0u64), 1 => 0u64..3_000], seed in 0u64..1 << 40,
    ) -> String {
        let head = format!(
            "name = 'sampled'\nduration = '{seconds}s'\nwarmup = '{warmup}ms'\nseed = {seed}\n"
        );
        head + &path + &groups.concat()
    }
}

/// The sum over the flows' own lives, which may exceed the path's limit.
fn over_own_lives(record: &Record) -> f64 {
    let flows = record.summary.flows.iter();
    flows.map(|flow| flow.limit_share.unwrap_or(0.0)).sum()
}

/// The time in which flows lived after the warmup, in seconds.
fn span(record: &Record) -> f64 {
    let summary = &record.summary;
    let starts = summary.flows.iter().map(|flow| flow.start_s);
    let ends = summary
        .flows
        .iter()
        .map(|flow| flow.completed_s.unwrap_or(summary.duration_s));
    let warmup = record.scenario.warmup.as_secs_f64();
    ends.fold(0.0, f64::max) - starts.fold(f64::MAX, f64::min).max(warmup)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_sum_is_more_than_the_path_allows(text in scenario()) {
        let record = run(&text);
        let summary = &record.summary;
        let all = &summary.together;
        let own = summary.flows.iter().map(|flow| flow.limit_share);
        prop_assert!(own.flatten().all(|share| share <= 1.0), "{:?} of {text}", summary.flows);
        // No flow lived on after the warmup: there is no time, and no share of it.
        prop_assert_eq!(all.limit_share.is_none(), span(&record) <= 0.0, "{}", text);
        let share = all.limit_share.unwrap_or(0.0);
        prop_assert!(share <= 1.0, "{share} of {text}");
        let sum: f64 = summary.controllers.iter().filter_map(|one| one.together.limit_share).sum();
        prop_assert!((sum - share).abs() < 1e-4, "{sum} and {share} of {text}");
        // The reported goodput is that of the delivered bytes.
        let delivered: u64 = summary.flows.iter().map(|flow| flow.delivered_bytes).sum();
        let said = all.goodput_bps as f64 / 8.0 * span(&record);
        // A rate is a whole number of bytes per second.
        prop_assert!((said - delivered as f64).abs() < 1.0 + span(&record).max(0.0), "{said} and {delivered} of {text}");
        let flows: u64 = summary.controllers.iter().map(|one| one.flows).sum();
        prop_assert_eq!(flows, summary.flows.len() as u64);
    }
}

/// Two transfers one after the other, each of which has the path to itself.
const IN_TURN: &str = "name = 'in turn'\n[path]\nrate = '10mbit'\nrtt = '10ms'\nbuffer = '2bdp'\n\
                       [[flow]]\ncontroller = 'cubic'\nbytes = '5mb'\n\
                       [[flow]]\ncontroller = 'bbr1'\nbytes = '5mb'\nstart = '5s'\n";

#[test]
fn flows_in_turn_have_the_path_once() {
    let record = run(IN_TURN);
    // Each has nearly all of it while it lives.
    assert!(over_own_lives(&record) > 1.7, "{}", over_own_lives(&record));
    let all = record.summary.together.limit_share.unwrap();
    assert!((0.8..1.0).contains(&all), "{all}");
    for one in &record.summary.controllers {
        let share = one.together.limit_share.unwrap();
        assert!((0.4..0.5).contains(&share), "{one:?}");
    }
    let names = record.summary.controllers.iter();
    let names: Vec<_> = names.map(|one| one.controller.as_str()).collect();
    assert_eq!(names, ["cubic", "bbr1"]);
}

#[test]
fn a_share_is_of_the_rate_while_the_flow_lives() {
    // The second flow lives only while the rate is a tenth.
    let record = run(
        "name = 'slower'\nduration = '20s'\n[path]\nrate = '10mbit'\nrtt = '10ms'\nbuffer = '50kb'\n\
         [[path.change]]\nat = '10s'\nrate = '1mbit'\n\
         [[flow]]\ncontroller = 'cubic'\nbytes = '5mb'\n[[flow]]\ncontroller = 'cubic'\nstart = '10s'\n",
    );
    let shares: Vec<f64> = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.limit_share.unwrap())
        .collect();
    assert!(
        shares.iter().all(|share| (0.85..1.0).contains(share)),
        "{shares:?}"
    );
}

#[test]
fn ways_without_a_common_bottleneck_add_up_and_others_have_no_share() {
    let path = "duration = '5s'\n[path]\nrate = '5mbit'\nrtt = '10ms'\nbuffer = '50kb'\n";
    let back = run(&format!(
        "name = 'back'\n{path}uplink = {{ rate = '5mbit', buffer = '50kb' }}\n\
         [[flow]]\ncontroller = 'cubic'\n[[flow]]\ncontroller = 'cubic'\nreverse = true\n"
    ));
    let share = back.summary.together.limit_share.unwrap();
    assert!((0.8..1.0).contains(&share), "{share}");
    let chain = run(&format!(
        "name = 'chain'\n{path}[[path.next]]\nrate = '5mbit'\nrtt = '10ms'\nbuffer = '50kb'\n\
         [[flow]]\ncontroller = 'bbr1'\n[[flow]]\ncontroller = 'cubic'\nhops = '0'\n[[flow]]\ncontroller = 'reno'\nhops = '1'\n"
    ));
    assert_eq!(chain.summary.together.limit_share, None);
    let shares = chain
        .summary
        .controllers
        .iter()
        .map(|one| one.together.limit_share);
    assert!(shares.flatten().all(|share| share < 1.0));
}

#[test]
fn equal_transfers_that_end_apart_are_told_by_the_time_in_which_all_live() {
    let record = run(
        "name = 'race'\n[path]\nrate = '20mbit'\nrtt = '40ms'\nbuffer = '2bdp'\nloss = '1%'\n\
         [[flow]]\ncontroller = 'bbr1'\nbytes = '8mb'\n[[flow]]\ncontroller = 'cubic'\nbytes = '8mb'\n\
         [[flow]]\ncontroller = 'reno'\nbytes = '8mb'\n",
    );
    // Over the whole time, all of them have equal shares, whatever they did to each other.
    let whole = |one: &record::OfController| one.together.goodput_bps;
    let shares: Vec<u64> = record.summary.controllers.iter().map(whole).collect();
    assert!(shares.iter().all(|share| *share == shares[0]), "{shares:?}");
    let lived = record.while_all_live().unwrap();
    let first = record.flows.iter().filter_map(|flow| flow.completed).min();
    assert!(lived.to <= first.unwrap(), "{lived:?}");
    let goodputs: Vec<u64> = lived
        .goodputs
        .iter()
        .map(|rate| rate.bits_per_sec())
        .collect();
    assert!(
        goodputs[0] > 2 * goodputs[1].max(goodputs[2]),
        "{goodputs:?}"
    );
    assert!(goodputs.iter().sum::<u64>() <= record.summary.path.limit_bps.unwrap());
    let text = report::table(&[record], None);
    assert!(text.contains("\nwhile all flows lived, 0 to "), "{text}");
    assert!(!text.contains("over the same time"), "{text}");
    // No flows lived at the same time, so there is nothing to compare.
    let text = report::table(&[run(IN_TURN)], None);
    assert!(!text.contains("all flows"), "{text}");
}
