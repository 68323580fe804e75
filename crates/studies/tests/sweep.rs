//! Sweeps: reading and running. Neither a kill nor the number of threads changes the results.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use lab::Cancel;
use lab::{Engine, EngineError, EngineKind, Progress};
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use record::{
    FlowRecorder, FlowSpan, FlowTotals, PathRecorder, PathTotals, Record, Recorded, RunFacts,
    Summary, TransferRecorder,
};
use report::Origin;
use scenario::Scenario;
use studies::runs::{
    Event, Execution, FILE, Failed, Plan, Store, Work, derive_seed, execute, missing, resume,
};
use studies::sweep::{Flows, Metric, ROWS, Results, Sweep, page, table, write_parquet};
use tables::{Column, Kind, Value};
use units::Duration;

const SCENARIO: &str = "[scenario]\nname = \"x\"\nduration = \"1s\"\n\
                        [scenario.path]\nrate = \"8mbit\"\nrtt = \"40ms\"\nbuffer = \"4bdp\"\n\
                        [[scenario.flow]]\ncontroller = \"bbr1\"\n";

fn sweep(axes: &str) -> Sweep {
    Sweep::parse(&format!("{axes}\n{SCENARIO}"), Path::new("")).unwrap()
}

fn plan(axes: &str) -> Plan {
    sweep(axes).plan("a build").unwrap()
}

/// The error of a sweep with these lines before the scenario.
fn refusal(axes: &str) -> String {
    let sweep = Sweep::parse(&format!("{axes}\n{SCENARIO}"), Path::new(""));
    match sweep.and_then(|sweep| sweep.plan("a build")) {
        Ok(_) => panic!("not refused: {axes}"),
        Err(error) => error.to_string(),
    }
}

/// An engine whose records depend on nothing but scenario and seed.
#[derive(Default)]
struct Fake {
    runs: AtomicUsize,
    /// The run during which the engine cancels the sweep.
    last: Option<(usize, Cancel)>,
    /// The number of first runs in which the machine is late.
    late: usize,
}

impl Engine for Fake {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn check(&self, _: &Scenario) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(
        &self,
        scenario: &Scenario,
        _: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let before = self.runs.fetch_add(1, Ordering::SeqCst);
        if let Some((last, sweep)) = &self.last
            && before >= *last
        {
            sweep.cancel();
        }
        match scenario.path.rtt.as_millis_f64() as u64 {
            13 => return Err(EngineError::System(std::io::Error::other("no luck"))),
            666 => panic!("a mistake"),
            _ => {}
        }
        let end = Duration::from_secs(1);
        let mut path = PathRecorder::new(scenario.path.clone(), Duration::ZERO);
        path.overflows(scenario.seed % 7);
        if self.late > 0 {
            let totals = PathTotals {
                packets: None,
                released_packets: Some(100),
                late_packets: Some(if before < self.late { 50 } else { 0 }),
                ..PathTotals::default()
            };
            path.totals(end, totals);
        }
        let flow = |(id, (spec, start)): (usize, (&scenario::FlowSpec, Duration))| {
            let mut recorder = FlowRecorder::new(Duration::ZERO, 1);
            let payload = units::Bytes::new(scenario.seed % 1_000_000);
            let totals = FlowTotals {
                payload,
                ..FlowTotals::default()
            };
            recorder.totals(end, totals);
            let span = FlowSpan {
                id,
                controller: spec.controller,
                start,
                completed: None,
            };
            recorder.finish(span, end)
        };
        let run = RunFacts {
            network: &scenario.network(),
            engine: "fake",
            end,
            wall: std::time::Duration::from_nanos(before as u64 * 1_000),
            is_partial: cancel.is_cancelled(),
            payload_share: 0.95,
        };
        let recorded = Recorded {
            path: path.finish(end, 0.9),
            next: Vec::new(),
            flows: scenario.each_flow().enumerate().map(flow).collect(),
            transfers: TransferRecorder::new(Duration::ZERO).finish(),
        };
        Ok(Record::new(run, recorded))
    }
}

const AXES: &str = "repeats = 3\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\nflow.controller = [\"bbr1\", \"cubic\"]\n\
                    \"path.rate\" = { from = \"1mbit\", to = \"100mbit\", steps = 3, scale = \"log\" }";

/// Executes the missing runs.
fn run<'p>(
    plan: &'p Plan,
    store: &mut Store<Summary>,
    fake: &Fake,
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
) -> Vec<Failed<'p>> {
    let execution = Execution {
        engine: fake,
        jobs,
        repeats: None,
        watch,
        cancel,
    };
    let missing = missing(plan, store);
    resume(&missing, store, &execution, |_, record| record.summary).unwrap()
}

#[test]
fn a_run_that_is_not_to_be_trusted_is_repeated_and_then_given_up() {
    let plan = plan("[axes]\n\"path.loss\" = [\"0%\"]");
    let runs: Vec<_> = plan.runs.iter().collect();
    assert_eq!(runs.len(), 1);
    // The number of late runs, the number of runs done, and whether there is a record.
    for (late, repeats, done, counts) in [
        (2, Some(2), 3, true),
        (9, Some(2), 3, false),
        (9, None, 1, true),
    ] {
        let fake = Fake {
            late,
            ..Fake::default()
        };
        let (cancel, again) = (Cancel::new(), AtomicUsize::new(0));
        let execution = Execution {
            repeats,
            watch: &|event| {
                let is_again = matches!(event, Event::Repeated(0));
                again.fetch_add(usize::from(is_again), Ordering::SeqCst);
            },
            ..Execution::unwatched(&fake, 1, &cancel)
        };
        let mut trusted = Vec::new();
        let failed = execute(&runs, &execution, |_, outcome| {
            trusted.extend(outcome.map(|record| record.summary.validity.is_trusted));
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(fake.runs.into_inner(), done);
        assert_eq!(again.into_inner(), done - 1);
        assert_eq!(trusted.len(), usize::from(counts));
        assert_eq!(failed.len(), usize::from(!counts));
        if let Some(one) = failed.first() {
            assert!(one.reason.is_untrusted());
            let said = one.reason.to_string();
            assert!(
                said.starts_with("not to be trusted, because ")
                    && said.ends_with(", as in each of 3 runs"),
                "{said}"
            );
        }
    }
}

/// The table of the sweep, run by this many threads and resumed as often as needed if each time ends after `each` runs.
fn outcome(plan: &Plan, jobs: usize, each: usize) -> (Vec<u8>, usize) {
    let directory = tempfile::tempdir().unwrap();
    let mut ran = 0;
    loop {
        let mut store = Store::open(directory.path()).unwrap();
        let cancel = Cancel::new();
        let fake = Fake {
            runs: AtomicUsize::new(0),
            last: Some((each, cancel.clone())),
            late: 0,
        };
        let failed = run(plan, &mut store, &fake, jobs, &|_| {}, &cancel);
        assert!(failed.is_empty(), "{failed:?}");
        ran += 1;
        if missing(plan, &store).is_empty() {
            let mut table = Vec::new();
            write_parquet(&mut table, plan, &store, "").unwrap();
            return (table, ran);
        }
        assert!(cancel.is_cancelled());
        // The remainder after a kill in the middle of a line.
        drop(store);
        let file = directory.path().join(FILE);
        let mut torn = fs::read(&file).unwrap();
        torn.extend_from_slice(b"{\"key\":\"0123");
        fs::write(&file, torn).unwrap();
    }
}

#[test]
fn neither_ends_nor_threads_change_the_results() {
    let plan = plan(AXES);
    assert_eq!(plan.runs.len(), 2 * 2 * 3 * 3);
    let (whole, ran) = outcome(&plan, 1, usize::MAX);
    assert_eq!(ran, 1);
    assert_eq!(outcome(&plan, 4, usize::MAX), (whole.clone(), 1));
    let (pieces, ran) = outcome(&plan, 1, 5);
    assert_eq!((pieces, ran), (whole.clone(), 8));
    let (pieces, ran) = outcome(&plan, 3, 7);
    assert_eq!(pieces, whole);
    assert!(ran > 1);
}

#[test]
fn what_is_done_is_not_done_again_unless_it_would_be_different() {
    let directory = tempfile::tempdir().unwrap();
    let runs = |plan: &Plan| {
        let mut store = Store::open(directory.path()).unwrap();
        let fake = Fake::default();
        run(plan, &mut store, &fake, 2, &|_| {}, &Cancel::new());
        fake.runs.into_inner()
    };
    let axis = "[axes]\n\"path.loss\" = [\"0%\", \"1%\"]";
    assert_eq!(runs(&plan(axis)), 2);
    assert_eq!(runs(&plan(axis)), 0);
    assert_eq!(
        runs(&plan("[axes]\n\"path.loss\" = [\"1%\", \"2%\", \"0%\"]")),
        1
    );
    assert_eq!(runs(&plan(&format!("repeats = 2\n{axis}"))), 2);
    let mut longer = sweep(axis);
    longer.set("duration", "2s").unwrap();
    assert_eq!(runs(&longer.plan("a build").unwrap()), 2);
    assert_eq!(runs(&sweep(axis).plan("another build").unwrap()), 2);
    assert_eq!(runs(&plan(axis)), 0);
}

#[test]
fn a_changed_trace_is_another_path() {
    for place in [
        "trace = \"t\"\n",
        "uplink = { trace = \"t\" }\n",
        "[[scenario.path.next]]\ntrace = \"t\"\n",
        "[[scenario.path.next]]\nuplink = { trace = \"t\" }\n",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let text = format!(
            "[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n[scenario]\nname = \"x\"\nduration = \"1s\"\n\
             [scenario.path]\n{place}[[scenario.flow]]\ncontroller = \"bbr1\"\n"
        );
        let keys = |trace: &str| {
            fs::write(directory.path().join("t"), trace).unwrap();
            let sweep = Sweep::parse(&text, directory.path()).unwrap();
            let plan = sweep.plan("a build").unwrap();
            plan.runs.into_iter().map(|run| run.key).collect::<Vec<_>>()
        };
        let before = keys("1\n2\n");
        assert_eq!(keys("1\n2\n"), before);
        let after = keys("1\n3\n");
        assert!(before.iter().all(|key| !after.contains(key)), "{place}");
    }
}

#[test]
fn a_failure_costs_its_own_run_alone() {
    let plan = plan("[axes]\n\"path.rtt\" = [\"12ms\", \"13ms\", \"666ms\", \"14ms\"]");
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let ended = AtomicUsize::new(0);
    let watch = |event| {
        if let Event::Ended(_) = event {
            ended.fetch_add(1, Ordering::SeqCst);
        }
    };
    let fake = Fake::default();
    let failed = run(&plan, &mut store, &fake, 2, &watch, &Cancel::new());
    let reasons: Vec<(usize, String)> = failed
        .iter()
        .map(|failed| (failed.run.point, failed.reason.to_string()))
        .collect();
    let because = |at, why: &str| (at, why.to_owned());
    assert_eq!(
        reasons,
        [
            because(1, "cannot start: no luck"),
            because(2, "the engine panicked, which is a mistake in Fullpipe")
        ]
    );
    let left = missing(&plan, &store);
    assert_eq!(left.iter().map(|run| run.point).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(ended.into_inner(), 4);
    let results = Results::new(&plan, lab::EngineKind::Quic, &store);
    assert_eq!(results.groups.len(), 2);
    let json = results.json(&failed);
    assert_eq!(json["failed"][1]["run"], "path.rtt=666ms repeat 0");
}

/// The values of the column in these rows, as text.
fn cells(column: &Column<'_, usize>, rows: usize) -> Vec<String> {
    let of = |row: usize| match column.value(&row) {
        Some(Value::Whole(value)) => value.to_string(),
        Some(Value::Real(value)) => format!("{value:?}"),
        Some(Value::Text(value)) => value.into_owned(),
        None if column.kind() == Kind::List => "a list".to_owned(),
        None => String::new(),
    };
    (0..rows).map(of).collect()
}

#[test]
fn columns_name_axes_and_units() {
    let plan = plan(
        "[axes]\n\"path.loss\" = [\"0\", \"1%\"]\nflow.controller = [\"bbr1\", \"cubic\"]\n\
                     [[together]]\n\"path.rate\" = [\"1mbit\", \"10mbit\"]\n\"path.rtt\" = [\"100ms\", \"1s\"]",
    );
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    run(
        &plan,
        &mut store,
        &Fake::default(),
        2,
        &|_| {},
        &Cancel::new(),
    );
    let flows = Flows::new(&plan, &store);
    let columns = flows.columns();
    let column = |name: &str| {
        let found = columns.iter().find(|column| column.name == name);
        found.map(|column| cells(column, flows.count()))
    };
    let row = |texts: &str| Some(texts.split(' ').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(
        column("axis_path_loss"),
        row("0.0 0.0 0.0 0.0 0.01 0.01 0.01 0.01")
    );
    let rates = "1e6 1e7 1e6 1e7 1e6 1e7 1e6 1e7"
        .replace("1e6", "1000000.0")
        .replace("1e7", "10000000.0");
    assert_eq!(column("axis_path_rate_bps"), row(&rates));
    let rtts = "100.0 1000.0 100.0 1000.0 100.0 1000.0 100.0 1000.0";
    assert_eq!(column("axis_path_rtt_ms"), row(rtts));
    let names = row("bbr1 bbr1 cubic cubic bbr1 bbr1 cubic cubic");
    assert_eq!(column("axis_flow_controller"), names);
    assert_eq!(column("flow_controller"), names);
    assert_eq!(column("point"), row("0 1 2 3 4 5 6 7"));
    assert!(column("path_queue_p95_ms").is_some());
    assert!(column("fairness_jain").is_some());
    assert_eq!(column("wall_s"), None);
    let unique: HashSet<&str> = columns.iter().map(|column| &*column.name).collect();
    assert_eq!(unique.len(), columns.len());
}

/// A summary has lists of objects: completions, further bottlenecks. They are not JSON in text columns.
#[test]
fn lists_in_summaries_are_lists_of_structs() {
    let plan = plan("[axes]\n\"path.loss\" = [\"0%\", \"1%\"]");
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    for (run, count) in plan.runs.iter().zip([2, 0]) {
        let item =
            |number| serde_json::json!({ "controller": "bbr1", "count": number, "p50_ms": 1.5 });
        let completions: Vec<_> = (0..count).map(item).collect();
        let summary =
            serde_json::json!({ "completions": completions, "flows": [{ "id": 0 }, { "id": 1 }] });
        let summary: Summary = serde_json::from_value(summary).unwrap();
        store.put(&run.key, "a run", &summary).unwrap();
    }
    let flows = Flows::new(&plan, &store);
    let columns = flows.columns();
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    // No run has an item in these lists.
    assert_eq!((place("next"), place("controllers")), (None, None));
    assert!(place("path_queue_p95_ms") < place("completions"));
    assert!(place("completions") < place("fairness_jain_per_s_min"));
    assert!(place("fairness_jain_per_s_min") < place("flow_rtt_p50_ms"));
    let mut table = Vec::new();
    write_parquet(&mut table, &plan, &store, "").unwrap();
    let file = SerializedFileReader::new(Bytes::from(table)).unwrap();
    let rows = file.get_row_iter(None).unwrap();
    let rows: Vec<String> = rows.map(|row| row.unwrap().to_string()).collect();
    let item = |count| {
        format!(
            "{{controller: \"bbr1\", over_bytes: null, up_to_bytes: null, count: {count}, unfinished: 0"
        )
    };
    assert_eq!(rows.len(), 4);
    for row in &rows[..2] {
        assert!(row.contains(&format!("completions: [{}", item(0))), "{row}");
        assert!(row.contains(&item(1)), "{row}");
    }
    assert!(rows[2].contains("completions: []"), "{}", rows[2]);
}

#[test]
fn the_table_leaves_out_what_says_nothing() {
    let plan = plan(
        "repeats = 3\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\nflow.controller = [\"bbr1\", \"cubic\"]",
    );
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    run(
        &plan,
        &mut store,
        &Fake::default(),
        1,
        &|_| {},
        &Cancel::new(),
    );
    let results = Results::new(&plan, lab::EngineKind::Quic, &store);
    let text = table(&results, None);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(
        !text.contains("flow.controller") && !text.contains("Jain"),
        "{text}"
    );
    let spread = results.groups[0].metric(Metric::GOODPUT).unwrap();
    assert!(spread.min < spread.median && spread.median < spread.max);
}

/// The first hop is not the whole path, and a network has no path at all.
#[test]
fn the_page_describes_every_hop_and_every_link() {
    let hop = "rate = \"9mbit\"\nrtt = \"70ms\"\n";
    let chain = format!("{SCENARIO}[[scenario.path.next]]\n{hop}");
    let network = "[scenario]\nname = \"x\"\nduration = \"1s\"\n[[scenario.flow]]\ncontroller = \"bbr1\"\nfrom = \"a\"\nto = \"b\"\n\
                   [[scenario.link]]\nname = \"core\"\nfrom = \"a\"\nto = \"b\"\n";
    let network = format!("{network}{hop}");
    for (scenario, described) in [
        (
            &chain,
            "8.00 Mbit/s, RTprop 40 ms, buffer 4 BDP (160 kB); then 9.00 Mbit/s, RTprop 70 ms",
        ),
        (&network, "core from a to b: 9.00 Mbit/s, RTprop 70 ms"),
    ] {
        let text = format!("[axes]\nflow.controller = [\"bbr1\", \"cubic\"]\n{scenario}");
        let sweep = Sweep::parse(&text, Path::new("")).unwrap();
        let plan = sweep.plan("a build").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let results = Results::new(&plan, EngineKind::Sim, &store);
        let origin = Origin {
            command: "fullpipe sweep".to_string(),
            generated: std::time::SystemTime::UNIX_EPOCH,
        };
        let page = page(&sweep, &results, &text, &origin);
        let told = format!("At the first point: {described}");
        assert!(page.contains(&told), "{page}");
    }
}

#[test]
fn scenarios_can_be_in_a_file_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let base = SCENARIO
        .replace("scenario.", "")
        .replace("[scenario]\n", "");
    fs::write(directory.path().join("base.toml"), &base).unwrap();
    let text = "scenario = \"base.toml\"\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n";
    let read = || Sweep::parse(text, directory.path()).and_then(|sweep| sweep.plan(""));
    assert_eq!(read().unwrap().name, "x");
    fs::write(
        directory.path().join("base.toml"),
        base.replace("rtt", "rrt"),
    )
    .unwrap();
    let error = read().unwrap_err().to_string();
    assert!(
        error.contains("base.toml: line 5: path.rrt: unknown key"),
        "{error}"
    );
    fs::remove_file(directory.path().join("base.toml")).unwrap();
    let error = read().unwrap_err().to_string();
    assert!(
        error.starts_with("line 1: scenario: cannot read "),
        "{error}"
    );
}

#[test]
fn sweeps_that_make_no_sense_say_where_and_why() {
    let one = "[axes]\n\"path.loss\" = [\"0%\", \"1%\"]";
    for (text, answer) in [
        ("", "axes: nothing varies; give [axes] a field"),
        ("[axes]", "axes: nothing varies"),
        (
            "repeets = 2",
            "line 1: repeets: unknown key; did you mean `repeats`?",
        ),
        (
            "repeats = 0\n[axes]",
            "line 1: repeats: 0 repeats are too few",
        ),
        (
            "engine = \"ns3\"",
            "line 1: engine: \"ns3\": unknown engine; known: ",
        ),
        (
            "[axes]\n\"path.loss\" = []",
            "line 2: axes.path.loss: has no values",
        ),
        (
            "[axes]\n\"path.loss\" = \"1%\"",
            "line 2: axes.path.loss: is one value; write a list such as [\"1%\"]",
        ),
        (
            "[axes]\n\"path.loss\" = [\"1%\", \"1%\"]",
            "line 2: axes.path.loss: has 1% twice",
        ),
        (
            "[axes]\n\"path.loss\" = [\"1%\", \"101%\"]",
            "line 2: path.loss=101%: path.loss: 101% is more than 100%",
        ),
        (
            "[axes]\n\"path.lsos\" = [\"1%\"]",
            "line 2: path.lsos=1%: path.lsos: unknown key; did you mean `path.loss`?",
        ),
        (
            "[axes]\n\"flow.1.start\" = [\"1s\"]",
            "line 2: flow.1.start: there is no flow.1",
        ),
        (
            "[axes]\n\"path..loss\" = [\"1s\"]",
            "line 2: path..loss: is not a field",
        ),
        (
            "[axes]\npath.loss = [\"1%\"]\n\"path.loss\" = [\"1%\"]",
            "line 3: path.loss: is varied twice",
        ),
        (
            "[axes]\n\"flow.start\" = [\"0s\"]\n\"flow.0.start\" = [\"0s\"]",
            "line 3: flow.0.start: is varied by flow.start too",
        ),
        (
            "[axes]\n\"path.rate\" = { from = \"1mbit\", to = \"2mbit\" }",
            "line 2: axes.path.rate.steps: is missing",
        ),
        (
            "[axes]\n\"path.rate\" = { from = \"1mbit\", to = \"2mbit\", steps = 1 }",
            "line 2: axes.path.rate.steps: 1 steps are out of range",
        ),
        (
            "[axes]\n\"path.rate\" = { from = \"1mbit\", to = \"2s\", steps = 3 }",
            "line 2: axes.path.rate: there are no values between 1mbit and 2s",
        ),
        (
            "[axes]\n\"path.loss\" = { from = \"0%\", to = \"2%\", steps = 3, scale = \"log\" }",
            "line 2: axes.path.loss: a range on a log scale cannot touch zero",
        ),
        (
            "[axes]\n\"path.loss\" = { from = \"0%\", to = \"2%\", step = 3 }",
            "line 2: axes.path.loss.step: unknown key; did you mean `axes.path.loss.steps`?",
        ),
        (
            "[axes]\n\"flow.count\" = { from = 1, to = 3, steps = 9 }",
            "line 2: axes.flow.count: has 1 twice",
        ),
        (
            "[[together]]\n\"path.rtt\" = [\"1ms\", \"2ms\"]\n\"path.rate\" = [\"1mbit\"]",
            "line 3: together.path.rate: has 1 values, but path.rtt has 2",
        ),
        (
            "together = 1",
            "line 1: together: 1 is not a list; write [1], or [[together]] for tables",
        ),
        (
            "[axes]\n\"path.rate\" = [\"8mbit\", \"1kbit\"]",
            "at path.rate=1kbit: line 9: path.buffer: 4bdp at 1kbit and 40ms is 20b",
        ),
        (
            &format!("{one}\n[plot]\ny = \"speed\""),
            "line 4: plot.y: \"speed\": unknown metric; known: goodput_share",
        ),
        (
            &format!("{one}\n[plot]\nx = \"path.rtt\""),
            "line 4: plot.x: path.rtt is not a field of an axis",
        ),
        (
            "repeats = 1000000\n[axes]\n\"path.loss\" = [\"0%\"]",
            "these axes and repeats are more than 100000 runs",
        ),
        (
            "repeats = 18446744073709551615\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]",
            "these axes",
        ),
        ("repeats = [", "line "),
    ] {
        let found = refusal(text);
        assert!(found.starts_with(answer), "{text}\n{found}\n{answer}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
    let missing = Sweep::parse(one, Path::new("")).unwrap_err().to_string();
    assert!(missing.starts_with("scenario: is missing; "), "{missing}");
    let broken = format!("{one}\n{}", SCENARIO.replace("rtt", "rrt"));
    let broken = Sweep::parse(&broken, Path::new("")).unwrap();
    let error = broken.plan("").unwrap_err().to_string();
    assert!(
        error.starts_with("line 8: path.rrt: unknown key"),
        "{error}"
    );
}

#[test]
fn what_an_axis_varies_cannot_be_replaced() {
    let mut sweep = sweep("[axes]\n\"path.loss\" = [\"0%\", \"1%\"]");
    let error = sweep.set("path.loss", "2%").unwrap_err().to_string();
    assert_eq!(error, "path.loss: is varied by the axis path.loss");
    sweep.set("path", "rate=1mbit").unwrap_err();
    sweep.set("path.rate", "10mbit").unwrap();
    let plan = sweep.plan("").unwrap();
    let rates = plan
        .points
        .iter()
        .map(|point| point.scenario.path.data.rate);
    assert!(
        rates
            .flatten()
            .all(|rate| rate.bits_per_sec() == 10_000_000)
    );
}

#[test]
fn work_is_told_from_none_to_all() {
    let plan = plan(AXES);
    let mut work = Work::new(lab::EngineKind::Quic, &plan.all());
    assert_eq!(work.share(), 0.0);
    let mut before = 0.0;
    for place in 0..plan.runs.len() {
        work.note(&Event::Ended(place));
        work.note(&Event::Ended(place));
        assert!(work.share() > before);
        before = work.share();
    }
    assert!((before - 1.0).abs() < 1e-9);
}

/// The seed of each run, by the values of its point.
fn seeds(plan: &Plan) -> BTreeMap<(Vec<(String, String)>, u64), u64> {
    let runs = plan.runs.iter().map(|run| {
        let fields = plan.fields.iter().cloned();
        let values = plan.points[run.point].values.iter().cloned();
        let mut values: Vec<_> = fields.zip(values).collect();
        values.sort();
        ((values, run.repeat), run.scenario.seed)
    });
    runs.collect()
}

#[test]
fn pairs_have_the_same_seed() {
    let seeds = seeds(&plan(
        "repeats = 2\npaired = [\"flow.controller\"]\n\
         [axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n\"flow.controller\" = [\"bbr1\", \"cubic\"]\n",
    ));
    assert_eq!(seeds.len(), 8);
    let of = |controller: &str| {
        let is_of = |values: &[(String, String)]| values.iter().any(|(_, one)| one == controller);
        let of = seeds.iter().filter(|((values, _), _)| is_of(values));
        of.map(|(_, seed)| *seed).collect::<HashSet<u64>>()
    };
    assert_eq!(of("bbr1"), of("cubic"));
    assert_eq!(of("bbr1").len(), 4);
    assert_eq!(
        refusal("paired = [\"path.los\"]\n[axes]\n\"path.loss\" = [\"0%\"]\n"),
        "line 1: paired: path.los is not a field of an axis"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A run's seed and key do not depend on the other runs, nor on the order.
    #[test]
    fn runs_do_not_depend_on_each_other(
        losses in prop::collection::hash_set(0u32..100, 1..5),
        more in prop::collection::hash_set(0u32..100, 0..3),
        rates in prop::collection::hash_set(1u32..100, 1..4),
        repeats in 1u64..4,
        is_turned in any::<bool>(),
    ) {
        let list = |name: &str, values: &HashSet<u32>, unit: &str| {
            let values = values.iter().map(|value| format!("\"{value}{unit}\""));
            format!("\"{name}\" = [{}]\n", values.collect::<Vec<_>>().join(", "))
        };
        let losses_and_more = &losses | &more;
        let (loss, rate) = (list("path.loss", &losses, "%"), list("path.rate", &rates, "mbit"));
        let one = plan(&format!("repeats = {repeats}\n[axes]\n{loss}{rate}"));
        prop_assert_eq!(one.runs.len(), losses.len() * rates.len() * repeats as usize);
        let (first, second) = (list("path.loss", &losses_and_more, "%"), &rate);
        let axes = if is_turned { format!("{second}{first}") } else { format!("{first}{second}") };
        let other = plan(&format!("repeats = {}\n[axes]\n{axes}", repeats + 1));
        let (one_seeds, other_seeds) = (seeds(&one), seeds(&other));
        for (run, seed) in &one_seeds {
            prop_assert_eq!(other_seeds.get(run), Some(seed));
        }
        prop_assert_eq!(other_seeds.values().collect::<HashSet<_>>().len(), other.runs.len());
        let keys: HashSet<&str> = other.runs.iter().map(|run| run.key.as_str()).collect();
        prop_assert_eq!(keys.len(), other.runs.len());
        prop_assert!(one.runs.iter().all(|run| keys.contains(run.key.as_str())));
    }

    /// Any sweep is read, or refused in one line.
    #[test]
    fn any_text_is_answered(
        axis in "(path\\.(loss|rate|nope)|flow(\\.[0-9])?\\.(start|controller)|seed|[a-z.\"]{0,8})",
        value in "\\[?(\"?[0-9]{0,3}(%|mbit|ms|bdp)?\"?,? ?){0,3}\\]?|\\{ from = 1, to = 9, steps = [0-9]{1,4} \\}",
    ) {
        let text = format!("[axes]\n\"{axis}\" = {value}\n{SCENARIO}");
        let plan = Sweep::parse(&text, Path::new("")).and_then(|sweep| sweep.plan(""));
        if let Err(error) = plan {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
    }

    #[test]
    fn seeds_are_exact_in_floating_point(base in any::<u64>(), repeat in any::<u64>()) {
        let seed = derive_seed(base, &[("path.loss", "1%")], repeat);
        prop_assert_eq!(seed as f64 as u64, seed);
    }
}

/// The TOML blocks of a Markdown text.
fn examples(text: &str) -> Vec<&str> {
    let parts = text.split("```toml\n").skip(1);
    parts.filter_map(|part| part.split("```").next()).collect()
}

#[test]
fn the_documents_examples_are_sweeps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/sweep.md")).unwrap();
    let examples = examples(&text);
    assert_eq!(examples.len(), 2);
    for example in examples {
        let sweep = Sweep::parse(example, &root.join("scenarios/sweeps")).expect(example);
        sweep.plan("").expect(example);
    }
    for metric in Metric::ALL {
        assert!(
            text.contains(&format!("`{metric}`")),
            "{metric} is not told"
        );
    }
}

#[test]
fn the_sweeps_that_come_along_make_sense() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sweeps");
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let sweep = Sweep::parse(&text, &directory).expect(&text);
        sweep.plan("").expect(&text);
        count += 1;
    }
    assert!(count >= 2);
}

#[test]
fn a_large_sweep_has_a_table_of_the_first_rows() {
    let axes = "[axes]\n\"path.loss\" = { from = \"0.1%\", to = \"5%\", steps = 40 }\n\
                \"path.rate\" = [\"8mbit\", \"9mbit\", \"10mbit\"]";
    let plan = plan(axes);
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let failed = run(
        &plan,
        &mut store,
        &Fake::default(),
        2,
        &|_| {},
        &Cancel::new(),
    );
    assert!(failed.is_empty(), "{failed:?}");
    let results = Results::new(&plan, lab::EngineKind::Sim, &store);
    assert_eq!(results.groups.len(), 120);
    let text = table(&results, None);
    // The headings, the rows, and the number of others.
    assert_eq!(text.lines().count(), 1 + ROWS + 1);
    assert!(
        text.ends_with("… and 20 more rows; the page has all of them\n"),
        "{text}"
    );
    let places: Vec<usize> = results.groups.iter().map(|group| group.point).collect();
    assert_eq!(places, (0..120).collect::<Vec<_>>());
}

#[test]
fn every_metric_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweep.md");
    let documentation = fs::read_to_string(path).unwrap();
    for metric in Metric::ALL {
        let row = format!("| `{metric}` | {} |", metric.measure().about);
        assert!(documentation.contains(&row), "{row}");
    }
}
