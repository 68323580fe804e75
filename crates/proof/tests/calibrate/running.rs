//! Runs in virtual time: their observations, and the choice of runs to repeat.

use std::cell::RefCell;
use std::collections::HashSet;

use lab::Cancel;
use lab::{Engine, EngineKind, Sim};
use proof::calibrate::{
    Calibration, Choice, Kept, Made, Observation, Pair, Quantity, compare, write_parquet,
};
use record::Record;
use scenario::Scenario;
use studies::runs::{Execution, Run, Store, resume};

use crate::support::{of_sim, sets, small};

fn made(build: &str, version: &str) -> Made {
    Made {
        build: build.to_string(),
        version: version.to_string(),
        at: "2026-11-21T00:00:00Z".to_string(),
        load: None,
    }
}

/// Executes the missing runs on both sides, and returns their names.
fn run(
    calibration: &Calibration,
    store: &mut Store<Kept>,
    now: &Made,
    cancel: &Cancel,
) -> Vec<String> {
    let done = RefCell::new(Vec::new());
    for side in &calibration.sides {
        let missing = side.missing(store, now, false);
        let engine = side.contender.engine.engine();
        let kept = |run: &Run, record: Record| {
            assert_eq!(*run.scenario, record.scenario);
            done.borrow_mut().push(run.name.clone());
            Kept {
                made: now.clone(),
                observation: Observation::of(&record),
            }
        };
        let execution = Execution::unwatched(engine.as_ref(), 2, cancel);
        let failed = resume(&missing, store, &execution, kept).unwrap();
        assert!(failed.is_empty(), "{failed:?}");
    }
    done.into_inner()
}

#[test]
fn the_quick_cases_agree_with_themselves_exactly() {
    let choice = Choice {
        is_quick: true,
        ..Choice::default()
    };
    let calibration = Calibration::new(
        &sets(),
        &choice,
        &Pair::of_engines([EngineKind::Sim, EngineKind::Sim]),
        1,
    )
    .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let done = run(&calibration, &mut store, &made("a", "1"), &Cancel::new());
    assert_eq!(done.len(), 2 * calibration.cases.len());
    for (place, case) in calibration.cases.iter().enumerate() {
        let [first, second] = calibration.observations(place, &store);
        let comparison = compare(case, [&first, &second]);
        assert_eq!(comparison.runs, [1, 1], "{}", case.name);
        for one in &comparison.differences {
            assert_eq!(
                one.difference,
                Some(0.0),
                "{} {:?}",
                case.name,
                one.quantity
            );
            assert_eq!(one.sides[0], one.sides[1]);
        }
        for quantity in [Quantity::GOODPUT, Quantity::RTT, Quantity::STARTUP_TIME] {
            let one = comparison.get(quantity).unwrap().sides[0].unwrap();
            assert!(one.median > 0.0, "{} {quantity:?}", case.name);
        }
        let curves = &first[0].curves;
        for curve in [&curves.throughput, &curves.rtt, &curves.queue] {
            let known = curve.iter().flatten().count();
            assert!(known > 200, "{}: {known} points", case.name);
        }
        assert_eq!(first[0].curves, second[0].curves);
    }
}

#[test]
fn what_is_done_is_not_run_again_unless_something_has_changed() {
    let calibration = of_sim(&[small("")], &[], 2);
    let part = of_sim(&[small("")], &["cubic-*"], 1);
    let directory = tempfile::tempdir().unwrap();
    let now = made("a", "1");
    let open = || Store::open(directory.path()).unwrap();
    // Cancelled before it began, then after a part; then the rest.
    let cancelled = Cancel::new();
    cancelled.cancel();
    assert!(run(&calibration, &mut open(), &now, &cancelled).is_empty());
    let first = run(&part, &mut open(), &now, &Cancel::new());
    assert_eq!(first, ["case=cubic-small repeat 0"; 2]);
    let rest = run(&calibration, &mut open(), &now, &Cancel::new());
    assert_eq!(rest.len(), 6);
    assert!(rest.iter().all(|name| !first.contains(name)), "{rest:?}");
    assert!(run(&calibration, &mut open(), &now, &Cancel::new()).is_empty());

    let [side, _] = &calibration.sides;
    let store = open();
    let missing = |now: &Made, reuse| side.missing(&store, now, reuse).len();
    assert_eq!((missing(&now, false), missing(&now, true)), (0, 0));
    let other_build = made("b", "1");
    assert_eq!(
        (missing(&other_build, false), missing(&other_build, true)),
        (4, 0)
    );
    let other_kernel = made("a", "2");
    assert_eq!(
        (missing(&other_kernel, false), missing(&other_kernel, true)),
        (4, 4)
    );
    assert_eq!(
        side.origin(&store).as_deref(),
        Some("sim: 1, 2026-11-21T00:00:00Z to 2026-11-21T00:00:00Z.")
    );
    let mut table = Vec::new();
    write_parquet(&mut table, &calibration, &store).unwrap();
    assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
}

#[test]
fn the_same_calibration_gives_the_same_table() {
    let calibration = of_sim(&[small("")], &[], 1);
    let table = |at: &str, load: f64| {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path()).unwrap();
        let made = Made {
            at: at.to_owned(),
            load: Some(load),
            ..made("a", "1")
        };
        run(&calibration, &mut store, &made, &Cancel::new());
        let mut table = Vec::new();
        write_parquet(&mut table, &calibration, &store).unwrap();
        table
    };
    // On another day, on a busier machine.
    let first = table("2026-11-21T00:00:00Z", 0.1);
    assert!(first == table("2027-01-01T12:00:00Z", 7.0), "to the byte");
}

#[test]
fn repeats_have_seeds_of_their_own() {
    let calibration = of_sim(&[small("")], &["bbr1-*"], 3);
    let [side, _] = &calibration.sides;
    let seeds: HashSet<u64> = side.plan.runs.iter().map(|run| run.scenario.seed).collect();
    assert_eq!(seeds.len(), 3);
}

fn observed(text: &str) -> (Record, Observation) {
    let scenario: Scenario = text.parse().unwrap();
    let record = Sim::new().run(&scenario, &|_| {}, &Cancel::new()).unwrap();
    let observation = Observation::of(&record);
    (record, observation)
}

const BULK: &str = "name = \"x\"\nduration = \"8s\"\nwarmup = \"2s\"\n[path]\nrate = \"8mbit\"\nrtt = \"40ms\"\n\
                    buffer = \"4bdp\"\n[[flow]]\ncontroller = \"cubic\"\n";

#[test]
fn what_is_kept_is_what_the_record_says() {
    let (record, seen) = observed(BULK);
    // The smoothed RTT follows the RTT, which hardly moves within a round trip here.
    let rtt = &record.summary.flows[0].rtt_ms;
    let srtt = seen.srtt_p50_ms.unwrap();
    assert!((srtt / rtt.p50.unwrap() - 1.0).abs() < 0.05, "{srtt}");
    assert!(seen.srtt_p95_ms.unwrap() <= rtt.max.unwrap());
    assert!((0.05..2.0).contains(&seen.startup_exit_s.unwrap()));
    assert_eq!(seen.transfers, None);
    // The area under the throughput curve equals the bytes delivered.
    let curves = &seen.curves;
    assert_eq!(curves.step_s, 0.05);
    assert_eq!(curves.throughput.len(), 160);
    let megabits: f64 = curves.throughput.iter().flatten().sum::<f64>() * curves.step_s;
    let delivered = record.flows[0].throughput.bytes().iter().sum::<u64>() as f64 * 8.0 / 1e6;
    assert!(
        (megabits / delivered - 1.0).abs() < 0.02,
        "{megabits} of {delivered}"
    );
    // The summary leaves out the warmup, two seconds of steps.
    let later = curves.queue.iter().skip(40).flatten();
    let queue = later.fold(0.0, |max: f64, value| max.max(*value));
    let most = record.summary.path.queue_ms.max.unwrap();
    assert!(queue <= most && queue > most / 2.0, "{queue} of {most}");
    // Values are written in millionths, and read back.
    let text = serde_json::to_string(&seen).unwrap();
    let again: Observation = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}

#[test]
fn transfers_over_many_connections_have_times_and_throughput() {
    let app = "app = { kind = \"poisson\", load = \"4mbit\", sizes = [\"10kb\", \"100kb\"] }\n";
    let (record, seen) = observed(&format!("{BULK}{app}"));
    let times = seen.transfers.unwrap();
    assert!(
        times.p50_ms >= 80.0 && times.p50_ms < times.p95_ms,
        "{times:?}"
    );
    let curves = &seen.curves;
    let megabits: f64 = curves.throughput.iter().flatten().sum::<f64>() * curves.step_s;
    let delivered = record.flows[0].throughput.bytes().iter().sum::<u64>() as f64 * 8.0 / 1e6;
    assert!(
        (megabits / delivered - 1.0).abs() < 0.01,
        "{megabits} of {delivered}"
    );
    assert_eq!(Quantity::TRANSFER_P50.of(&seen), Some(times.p50_ms));
    assert_eq!(Quantity::FIRST_GROUP.of(&seen), None, "there is one group");
}
