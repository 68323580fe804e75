//! The built-in claims are valid and hold at a first impression. Judgements follow the rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lab::Cancel;
use proof::claims::faults::Faults;
use proof::claims::{self, Claim, Judgement, Table, Tally, Verdict};
use proof::study::{Length, Shelf};
use record::measure::{Measure, Select, Subject};
use studies::runs::{Batch, Findings, Reason};
use tables::statistics::Spread;

/// The ids of the required claims, from the publications that define the system.
const IDS: [&str; 59] = [
    "operating-point",
    "one-link",
    "steady-state",
    "step-up",
    "step-down",
    "first-second",
    "first-8s",
    "median-rtt",
    "aqm",
    "fair-share",
    "probe-rtt-cost",
    "b4",
    "b4-window",
    "incast",
    "loss-sweep",
    "long-fat",
    "buffer-sweep",
    "syn-patience",
    "many-flows",
    "population",
    "population-corners",
    "video",
    "cellular",
    "ack-aggregation",
    "policer",
    "app-limited",
    "coexistence",
    "recovery",
    "timeout",
    "rack",
    "scheduler",
    "pacing",
    "autosizing",
    "cdn-client",
    "cdn-pop",
    "rtt-unfairness",
    "transitions",
    "rwnd-limited",
    "b4-133",
    "b4-buffer-raised",
    "peak-gain",
    "late-start",
    "route-change",
    "large-yields",
    "synchrony",
    "cubic-scaling",
    "bandwidth-independent",
    "initial-window",
    "tiny-objects",
    "cdn-3mb",
    "cdn-mix",
    "cdn-tail",
    "cdn-retransmits",
    "v3-loss",
    "v3-queue",
    "v3-retransmissions",
    "v3-coexistence",
    "v3-staggered",
    "v3-ecn",
];

/// The judgements of the claims on an engine in virtual time.
fn judged<'c>(shelf: &Shelf, claims: &[&'c Claim], length: Length) -> Vec<Judgement<'c>> {
    let mut names: Vec<&str> = Vec::new();
    let mut batch = Batch::new(lab::EngineKind::Sim);
    for claim in claims {
        if names.last() != Some(&claim.study.as_str()) {
            let runs = claim.runs(shelf, length);
            let runs = runs.unwrap_or_else(|error| panic!("{}: {error}", claim.id));
            runs.add_to(&mut batch).expect("it can be run");
            names.push(&claim.study);
        }
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut judgements = Vec::new();
    batch.run(jobs, &|_| {}, &Cancel::new(), |study, findings| {
        assert!(findings.failed.is_empty(), "{:?}", findings.failed);
        judgements.extend(Judgement::all(claims, names[study], &findings, length));
    });
    judgements
}

#[test]
fn every_claim_has_its_study_on_each_of_its_engines() {
    let shelf = Shelf::built_in("claims");
    let table = Table::open(&shelf).expect("a table");
    for id in IDS {
        assert!(table.claims.iter().any(|claim| claim.id == id), "no {id}");
    }
    all_can_be_run(&shelf, &table);
}

#[test]
fn the_series_on_which_causes_rest_can_be_run() {
    let causes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/causes");
    let shelf = Shelf::Directory(causes);
    let table = Table::open(&shelf).expect("a table");
    all_can_be_run(&shelf, &table);
    let claims = Shelf::built_in("claims");
    let claims = Table::open(&claims).expect("a table").claims;
    let told: Vec<&str> = claims.iter().flat_map(texts).collect();
    let command = "`fullpipe-proof claims --scenarios scenarios/causes ";
    let named = told
        .iter()
        .flat_map(|text| text.split(command).skip(1))
        .filter_map(|rest| rest.split('`').next());
    let named: BTreeSet<&str> = named.collect();
    let known: BTreeSet<&str> = table.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(
        named, known,
        "left: what causes and notes name with {command}; right: what there is"
    );
}

/// The texts of a claim in the table: its note, and why it differs.
fn texts(claim: &Claim) -> impl Iterator<Item = &str> {
    let known = claim.expectations.iter().flat_map(|of| &of.differs);
    let causes = known.map(|known| known.why.as_str());
    claim.note.as_deref().into_iter().chain(causes)
}

#[test]
fn what_says_that_no_cause_is_established_is_counted_so() {
    let table = Table::open(&Shelf::built_in("claims")).expect("a table");
    for claim in &table.claims {
        for (of, known) in claim
            .expectations
            .iter()
            .flat_map(|of| of.differs.iter().map(move |known| (of, known)))
        {
            let says_so = known.why.contains("No cause is established");
            assert_eq!(
                known.is_unexplained, says_so,
                "{}, {}: {}; say `unexplained = true` and “No cause is established”, or neither",
                claim.id, of.what, known.why
            );
        }
    }
}

#[test]
fn each_claim_has_a_fault_that_breaks_it_or_a_reason_for_which_none_can() {
    let shelf = Shelf::built_in("claims");
    let table = Table::open(&shelf).expect("a table");
    let faults = Faults::open(&shelf, &table.claims).expect("faults");
    for claim in &table.claims {
        let Some((id, why)) = faults.spared(&[claim]).pop() else {
            continue;
        };
        assert!(why.is_some(), "{id} has neither a fault nor a reason");
    }
}

fn all_can_be_run(shelf: &Shelf, table: &Table) {
    for claim in &table.claims {
        for length in [Length::Whole, Length::Quick] {
            let runs = claim.runs(shelf, length);
            let runs = runs.unwrap_or_else(|error| panic!("{}: {error}", claim.id));
            claim
                .check(&runs)
                .and_then(|()| claim.check_windows(&runs, length))
                .unwrap_or_else(|error| panic!("{}: {error}", claim.id));
            for engine in &claim.engines {
                let mut batch = Batch::new(*engine);
                let added = runs.add_to(&mut batch);
                added.unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

#[test]
fn what_holds_still_holds_at_a_first_impression() {
    let shelf = Shelf::built_in("claims");
    let table = Table::open(&shelf).expect("a table");
    let claims = table.choose(&[]).expect("all claims");
    let judgements = judged(&shelf, &claims, Length::Quick);
    let tally = Tally::of(&judgements);
    assert_eq!(tally.fails, 0, "{}", claims::table(&judgements, None));
    // Nearly all expectations are judged, and most hold.
    assert!(
        tally.holds > 120 && tally.differs * 2 < tally.holds,
        "{tally:?}"
    );
}

const STUDY: &str = "name = \"s\"\n[axes]\n\"path.rate\" = [\"2mbit\", \"8mbit\"]\n[scenario]\nname = \"s\"\n\
                     duration = \"2s\"\npath = { rate = \"2mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n\
                     [[scenario.flow]]\ncontroller = \"bbr1\"\n";

#[test]
fn a_machine_that_was_too_late_says_nothing_of_a_claim() {
    let directory = tempfile::tempdir().expect("a directory");
    let table = small(directory.path(), "at_least = \"1mbit\"");
    let claims = table.choose(&[]).expect("all claims");
    let late = Reason::Untrusted {
        warning: "not to be trusted".to_owned(),
        runs: 3,
    };
    let broken = Reason::Failed("no luck".to_owned());
    for (reasons, verdict, said) in [
        (
            vec![late.clone()],
            Verdict::Untrusted,
            "0 fail, 1 not judged",
        ),
        (vec![late, broken], Verdict::Fails, "1 fails"),
    ] {
        let findings = Findings {
            engine: lab::EngineKind::Sim,
            fields: Vec::new(),
            runs: Vec::new(),
            failed: reasons
                .into_iter()
                .map(|why| ("s".to_owned(), why))
                .collect(),
        };
        let judgements = Judgement::all(&claims, "s", &findings, Length::Whole);
        assert_eq!(judgements[0].verdict, verdict);
        let text = claims::table(&judgements, None);
        assert!(text.contains(said), "{text}");
        let json = claims::json(&judgements);
        assert_eq!(json["untrusted"], u64::from(verdict == Verdict::Untrusted));
        let section = claims::section(&judgements, &origin());
        let is_blamed = section.contains("the cause is not found");
        assert_eq!(is_blamed, verdict == Verdict::Fails, "{section}");
    }
}

fn origin() -> claims::Origin {
    claims::Origin {
        command: "fullpipe-proof claims".to_owned(),
        at: "2026-01-01T00:00:00Z".to_owned(),
        versions: vec![(lab::EngineKind::Sim, "fullpipe".to_owned())],
        machine: "1 × processor".to_owned(),
        load: Spread::of([2.0, 0.5]),
        wall: std::time::Duration::from_secs(2),
    }
}

/// A table whose one claim expects `expect` of the study.
fn small(directory: &Path, expect: &str) -> Table {
    let table = format!(
        "[[claim]]\nid = \"s\"\nsource = \"x\"\nsetting = \"x\"\npublished = \"x\"\nengines = [\"sim\"]\n\
         [[claim.expect]]\nwhat = \"goodput\"\nmeasure = \"goodput\"\n{expect}\n"
    );
    fs::write(directory.join("claims.toml"), table).expect("written");
    fs::write(directory.join("s.toml"), STUDY).expect("written");
    Table::open(&Shelf::Directory(directory.to_owned())).expect("a table")
}

#[test]
fn a_band_is_for_every_point_and_a_ratio_between_two() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    for (expect, verdict, points) in [
        (
            "at_least = \"1mbit\"\nat_most = \"8mbit\"",
            Verdict::Holds,
            2,
        ),
        ("at_least = \"3mbit\"", Verdict::Fails, 2),
        (
            "at_least = \"3mbit\"\nat = { \"path.rate\" = \"8mbit\" }",
            Verdict::Holds,
            1,
        ),
        (
            "at_least = \"3mbit\"\n[[claim.expect.differs]]\nwhy = \"the line is slow\"\n\
             at = { \"path.rate\" = \"2mbit\" }\nat_least = \"1.5mbit\"\nat_most = \"2mbit\"",
            Verdict::Differs,
            2,
        ),
        // Points that are not named keep the published band.
        (
            "at_least = \"9mbit\"\n[[claim.expect.differs]]\nwhy = \"the line is slow\"\n\
             at = { \"path.rate\" = \"2mbit\" }\nat_least = \"1.5mbit\"\nat_most = \"2mbit\"",
            Verdict::Fails,
            2,
        ),
        // A named point lies where it is known to lie.
        (
            "at_least = \"3mbit\"\n[[claim.expect.differs]]\nwhy = \"the line is slow\"\n\
             at = { \"path.rate\" = \"2mbit\" }\nat_least = \"0.5mbit\"\nat_most = \"1mbit\"",
            Verdict::Fails,
            2,
        ),
        // A named point that keeps the band does not differ.
        (
            "at_least = \"3mbit\"\n[[claim.expect.differs]]\nwhy = \"the line is slow\"\n\
             at = [{ \"path.rate\" = \"2mbit\" }, { \"path.rate\" = \"8mbit\" }]\n\
             at_least = \"1.5mbit\"\nat_most = \"8mbit\"",
            Verdict::Fails,
            2,
        ),
        (
            "at_least = 3\nat_most = 5\nover = { \"path.rate\" = \"2mbit\" }",
            Verdict::Holds,
            1,
        ),
        (
            "at_least = 3\nat_most = 5\nover = { \"path.rate\" = \"2mbit\" }\nby = []",
            Verdict::Holds,
            1,
        ),
        (
            "at_least = \"3mbit\"\nby = [\"path.rate\"]",
            Verdict::Fails,
            2,
        ),
        ("at_least = \"1mbit\"\nflows = \"cubic\"", Verdict::Fails, 2),
        ("at_most = \"9mbit\"\nflows = \"cubic\"", Verdict::Fails, 2),
        // A cause does not explain a missing measurement.
        (
            "at_most = \"9mbit\"\nflows = \"cubic\"\n[[claim.expect.differs]]\nwhy = \"known\"\n\
             at_least = \"1mbit\"\nat_most = \"20mbit\"",
            Verdict::Fails,
            2,
        ),
        (
            "at_most = \"9mbit\"\nflows = \"cubic\"\nat = { \"path.rate\" = \"2mbit\" }\n\
             [[claim.expect.differs]]\nwhy = \"known\"\nat_least = \"1mbit\"\nat_most = \"20mbit\"",
            Verdict::Fails,
            1,
        ),
        // No point is compared only with itself.
        (
            "at_least = 1\nat = { \"path.rate\" = \"2mbit\" }\nover = { \"path.rate\" = \"2mbit\" }",
            Verdict::Fails,
            0,
        ),
    ] {
        let table = small(directory.path(), expect);
        let claims = table.choose(&[]).expect("all claims");
        let judgements = judged(&shelf, &claims, Length::Whole);
        let [one] = &judgements[..] else {
            panic!("one judgement: {judgements:?}")
        };
        assert_eq!(
            (one.verdict, one.values.len()),
            (verdict, points),
            "{expect}"
        );
        assert_eq!(one.seeds.len(), points);
        let differs = one.differs().next().is_some();
        assert!(differs || verdict != Verdict::Differs, "{expect}");
    }
}

#[test]
fn what_differs_for_no_established_cause_is_counted_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    let expect = "at_least = \"3mbit\"\n[[claim.expect.differs]]\nat = { \"path.rate\" = \"2mbit\" }\n\
                  at_least = \"1mbit\"\nat_most = \"2mbit\"\nwhy = \"No cause is established.\"\nunexplained = ";
    for (is_unexplained, text) in [
        (
            true,
            "0 differ for a known reason, 1 differs for none that is established, 0 fail",
        ),
        (false, "0 hold, 1 differs for a known reason, 0 fail"),
    ] {
        let table = small(directory.path(), &format!("{expect}{is_unexplained}"));
        let claims = table.choose(&[]).expect("all claims");
        let judgements = judged(&shelf, &claims, Length::Whole);
        let told = claims::table(&judgements, None);
        assert!(told.contains(text), "{told}");
        let json = claims::json(&judgements);
        assert_eq!(json["unexplained"], u64::from(is_unexplained));
        assert_eq!(json["differs"], 1);
        let of_row = &json["claims"][0]["judgements"][0];
        assert_eq!(of_row["unexplained"], is_unexplained);
        let verdicts: Vec<_> = (0..2)
            .map(|point| &of_row["points"][point]["verdict"])
            .collect();
        assert_eq!(verdicts, ["differs", "holds"]);
    }
}

/// The verdict on an expectation of a study, both given as text.
fn verdict(study: &str, expect: &str) -> Verdict {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    small(directory.path(), "at_least = \"1bit\"");
    let table = fs::read_to_string(directory.path().join("claims.toml")).expect("there");
    let (head, _) = table.split_once("measure").expect("a measure");
    let table = format!("{head}{expect}\n");
    fs::write(directory.path().join("claims.toml"), table).expect("written");
    fs::write(directory.path().join("s.toml"), study).expect("written");
    let table = Table::open(&shelf).unwrap_or_else(|error| panic!("{expect}: {error}"));
    let claims = table.choose(&[]).expect("all claims");
    let judgements = judged(&shelf, &claims, Length::Whole);
    judgements[0].verdict
}

#[test]
fn only_what_could_have_happened_never_happens() {
    let study = |controllers: [&str; 2], duration: &str| {
        let [one, two] = controllers;
        format!(
            "name = \"s\"\nduration = \"{duration}\"\npath = {{ rate = \"4mbit\", rtt = \"20ms\", buffer = \"1bdp\" }}\n\
             [[flow]]\ncontroller = \"{one}\"\n[[flow]]\ncontroller = \"{two}\"\nstart = \"1s\"\n"
        )
    };
    // A BBR flow leaves a small share to Reno in a short buffer.
    let uneven = study(["bbr1", "reno"], "15s");
    let never = "[[claim.expect.differs]]\nwhy = \"known\"\nnever = true\n";
    let row = |measure: &str, rest: &str| format!("measure = \"{measure}\"\n{rest}\n{never}");
    for (measure, rest, wanted) in [
        ("convergence", "at_most = \"12s\"", Verdict::Differs),
        ("jain_converged", "at_least = 0.95", Verdict::Differs),
        // The run is too short for the published time.
        ("convergence", "at_most = \"30s\"", Verdict::Fails),
        // The rate does not change.
        ("follow", "at_most = \"2s\"", Verdict::Fails),
        ("cycle_growth", "at_least = 1.2", Verdict::Fails),
    ] {
        assert_eq!(
            verdict(&uneven, &row(measure, rest)),
            wanted,
            "{measure} {rest}"
        );
    }
    // CUBIC has no BtlBw, and BBR had no time to adapt it.
    let changed = |controller: &str, at: &str| {
        format!(
            "name = \"s\"\nduration = \"15s\"\npath = {{ rate = \"4mbit\", rtt = \"20ms\", buffer = \"1bdp\", \
             change = [{{ at = \"{at}\", rate = \"8mbit\" }}] }}\n[[flow]]\ncontroller = \"{controller}\"\n"
        )
    };
    for (measure, band) in [
        ("follow", "at_most = \"2s\""),
        ("cycle_growth", "at_least = 1.2"),
    ] {
        for (at, wanted) in [("5s", Verdict::Differs), ("14900ms", Verdict::Fails)] {
            let found = verdict(&changed("cubic", at), &row(measure, band));
            assert_eq!(found, wanted, "{measure}, {at}");
        }
    }
    // One flow at 40 ms has a round-trip time longer than its four packets take. The run lasts half a minute, and a
    // minute is needed.
    let alone = |duration: &str| {
        format!(
            "name = \"s\"\nduration = \"{duration}\"\npath = {{ rate = \"4mbit\", rtt = \"40ms\", buffer = \"1bdp\" }}\n\
             [[flow]]\ncontroller = \"bbr1\"\n"
        )
    };
    let least = row("four_packets_reached", "at_most = \"60s\"");
    assert_eq!(verdict(&alone("90s"), &least), Verdict::Differs);
    assert_eq!(verdict(&alone("30s"), &least), Verdict::Fails);
    let cut = study(["bbr1", "reno"], "9s");
    let row = row("jain_converged", "at_least = 0.95");
    assert_eq!(verdict(&cut, &row), Verdict::Fails);
}

#[test]
fn a_ratio_needs_every_base() {
    // There is no run without loss at 8 Mbit/s.
    let study = "name = \"s\"\n[[together]]\n\"path.rate\" = [\"2mbit\", \"2mbit\", \"8mbit\"]\n\
                 \"path.loss\" = [\"1%\", \"0%\", \"1%\"]\n[scenario]\nname = \"s\"\nduration = \"2s\"\n\
                 path = { rate = \"2mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n\
                 [[scenario.flow]]\ncontroller = \"bbr1\"\n";
    let row = "measure = \"goodput\"\nat_least = 0.1\nover = { \"path.loss\" = \"0%\" }\nby = []\n";
    assert_eq!(verdict(study, row), Verdict::Fails);
    let both = study
        .replace(", \"8mbit\"]", "]")
        .replace("\"0%\", \"1%\"]", "\"0%\"]");
    assert_eq!(verdict(&both, row), Verdict::Holds);
}

#[test]
fn a_count_of_nothing_is_no_zero() {
    let study = |loss: &str| {
        format!(
            "name = \"s\"\nduration = \"5s\"\n\
             path = {{ rate = \"4mbit\", rtt = \"20ms\", buffer = \"4bdp\", loss = \"{loss}\" }}\n\
             [[flow]]\ncontroller = \"bbr1\"\n"
        )
    };
    for (measure, most) in [
        ("overflows", "10000"),
        ("app_limited_rise", "10000"),
        ("probe_rtt_count", "10000"),
        ("queue_max", "100%"),
        ("drops", "10000"),
    ] {
        let row = format!("measure = \"{measure}\"\nat_most = \"{most}\"");
        assert_eq!(verdict(&study("0%"), &row), Verdict::Holds, "{measure}");
        assert_eq!(verdict(&study("100%"), &row), Verdict::Fails, "{measure}");
    }
    let part = "measure = \"overflows\"\nat_most = 0\nto = \"1ns\"";
    assert_eq!(verdict(&study("0%"), part), Verdict::Fails);
    let opens = "measure = \"failed_opens\"\nat_most = 1000";
    assert_eq!(verdict(&study("0%"), opens), Verdict::Holds);
    // No attempt ends within five seconds.
    assert_eq!(verdict(&study("100%"), opens), Verdict::Fails);
}

#[test]
fn a_flow_that_never_came_to_be_is_noticed() {
    let study = |rtt: &str| {
        format!(
            "name = \"s\"\nduration = \"5s\"\npath = {{ rate = \"4mbit\", rtt = \"20ms\", buffer = \"4bdp\" }}\n\
             [[flow]]\ncontroller = \"bbr1\"\n[[flow]]\ncontroller = \"bbr1\"\nrtt = \"{rtt}\"\n"
        )
    };
    for row in [
        "measure = \"rtt_p50\"\nat_most = \"9s\"",
        "measure = \"failed_opens\"\nat_most = 0",
    ] {
        assert_eq!(verdict(&study("30ms"), row), Verdict::Holds, "{row}");
        assert_eq!(verdict(&study("60s"), row), Verdict::Fails, "{row}");
    }
}

#[test]
fn a_run_that_is_missing_or_shows_nothing_fails_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let table = small(directory.path(), "at_least = \"1mbit\"");
    let claims = table.choose(&[]).expect("all claims");
    let shelf = Shelf::Directory(directory.path().to_owned());
    let mut batch = Batch::new(lab::EngineKind::Sim);
    let runs = claims[0].runs(&shelf, Length::Whole).expect("a study");
    runs.add_to(&mut batch).expect("it can be run");
    let mut found = Vec::new();
    batch.run(1, &|_| {}, &Cancel::new(), |_, findings| {
        found.push(findings)
    });
    let whole = found.pop().expect("findings");
    let verdict =
        |findings: &Findings| Judgement::all(&claims, "s", findings, Length::Whole)[0].verdict;
    assert_eq!(verdict(&whole), Verdict::Holds);
    let mut crashed = whole.clone();
    crashed
        .failed
        .push(("s".to_owned(), Reason::Failed("no luck".to_owned())));
    assert_eq!(verdict(&crashed), Verdict::Fails);
    // A second run of the first point, in which nothing was delivered.
    let mut silent = whole;
    let mut again = silent.runs[0].clone();
    again.repeat = 1;
    again.record.summary.flows[0].delivered_bytes = 0;
    silent.runs.push(again);
    assert_eq!(verdict(&silent), Verdict::Fails);
}

#[test]
fn a_window_beyond_the_study_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    let error = |window: &str, length: Length| {
        let table = format!(
            "[[claim]]\nid = \"s\"\nsource = \"x\"\nsetting = \"x\"\npublished = \"x\"\nengines = [\"sim\"]\n\
             [[claim.expect]]\nwhat = \"x\"\nmeasure = \"rtt_p50\"\nat_most = \"9s\"\n{window}\n"
        );
        fs::write(directory.path().join("claims.toml"), table).expect("written");
        let study = format!("{STUDY}[quick]\nduration = \"1s\"\n");
        fs::write(directory.path().join("s.toml"), study).expect("written");
        let table = Table::open(&shelf).expect("a table");
        let claim = &table.claims[0];
        let runs = claim.runs(&shelf, length).expect("a study");
        let checked = claim.check_windows(&runs, length);
        checked.err().map(|error| error.to_string())
    };
    for (window, whole, quick) in [
        ("from = \"100s\"", Some("from"), Some("from")),
        ("from = \"1s\"", None, Some("from")),
        ("to = \"2500ms\"", Some("to"), Some("to")),
        ("from = \"1s\"\nto = \"2s\"\nquick = false", None, None),
    ] {
        for (length, field) in [(Length::Whole, whole), (Length::Quick, quick)] {
            let told = error(window, length);
            let wanted = field.map(|field| format!("expect[0].{field}: is beyond the study"));
            match wanted {
                Some(wanted) => {
                    let told = told.unwrap_or_default();
                    assert!(told.starts_with(&wanted), "{window}: {told}");
                }
                None => assert_eq!(told, None, "{window}"),
            }
        }
    }
}

#[test]
fn a_window_of_runs_without_duration_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    small(directory.path(), "at_least = \"1bit\"");
    let study = "name = \"s\"\npath = { rate = \"4mbit\", rtt = \"20ms\" }\n[[flow]]\ncontroller = \"bbr1\"\nbytes = \"1mb\"\n";
    fs::write(directory.path().join("s.toml"), study).expect("written");
    for (window, wanted) in [
        (
            "from = \"100ms\"",
            Some("expect[0].from: is a time of runs that end when all is transferred"),
        ),
        (
            "to = \"1s\"",
            Some("expect[0].to: is a time of runs that end when all is transferred"),
        ),
        ("", None),
    ] {
        let table = format!(
            "[[claim]]\nid = \"s\"\nsource = \"x\"\nsetting = \"x\"\npublished = \"x\"\nengines = [\"sim\"]\n\
             [[claim.expect]]\nwhat = \"x\"\nmeasure = \"rtt_p50\"\nat_most = \"9s\"\n{window}\n"
        );
        fs::write(directory.path().join("claims.toml"), table).expect("written");
        let table = Table::open(&shelf).expect("a table");
        let claim = &table.claims[0];
        let runs = claim.runs(&shelf, Length::Whole).expect("a study");
        let told = claim.check_windows(&runs, Length::Whole).err();
        let told = told.map(|error| error.to_string()).unwrap_or_default();
        match wanted {
            Some(wanted) => {
                assert!(told.starts_with(wanted), "{window}: {told}");
                assert!(told.ends_with("give the study a duration"), "{told}");
            }
            None => assert_eq!(told, ""),
        }
    }
}

#[test]
fn a_document_and_json_tell_what_was_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    let table = small(
        directory.path(),
        "at_least = \"3mbit\"\n[[claim.expect.differs]]\nwhy = \"the line is slow\"\n\
         at = { \"path.rate\" = \"2mbit\" }\nat_least = \"1.5mbit\"\nat_most = \"2mbit\"",
    );
    let claims = table.choose(&[]).expect("all claims");
    let judgements = judged(&shelf, &claims, Length::Whole);
    let origin = origin();
    let section = claims::section(&judgements, &origin);
    for said in [
        "### s",
        "| goodput | ≥ 3.00 Mbit/s |",
        "**differs**",
        "the line is slow",
    ] {
        assert!(section.contains(said), "{said} is not in\n{section}");
    }
    // The machine's load matters only to results in real time, which have their own section.
    assert!(!section.contains("load average"), "{section}");
    let origin = claims::Origin {
        versions: vec![(lab::EngineKind::Linux, "Linux".to_owned())],
        ..origin
    };
    let section = claims::section(&judgements, &origin);
    assert!(section.contains("load average 0.5 to 2.0"), "{section}");
    let marks = [&[lab::EngineKind::Sim][..], lab::EngineKind::ALL].map(claims::marks);
    assert_ne!(marks[0], marks[1]);
    let json = claims::json(&judgements);
    assert_eq!(json["differs"], 1);
    let judged = &json["claims"][0]["judgements"][0];
    assert_eq!(judged["points"][0]["point"][0], "2mbit");
    assert!(
        judged["points"][0]["value"]
            .as_f64()
            .is_some_and(|bps| bps > 1e6)
    );
}

#[test]
fn a_claim_about_a_field_that_does_not_vary_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    for (at, reason) in [
        (
            "\"path.rates\" = \"2mbit\"",
            "expect[0].at.path.rates: the study varies no such field; did you mean `path.rate`?",
        ),
        (
            "\"path.rate\" = \"3mbit\"",
            "expect[0].at.path.rate: the study has no 3mbit, but 2mbit, 8mbit",
        ),
    ] {
        let table = small(
            directory.path(),
            &format!("at_least = \"1bit\"\nat = {{ {at} }}"),
        );
        let runs = table.claims[0].runs(&shelf, Length::Whole);
        let error = table.claims[0]
            .check(&runs.expect("a study"))
            .expect_err("wrong")
            .to_string();
        assert_eq!(error, reason);
    }
}

#[test]
fn a_value_that_the_simulator_does_not_run_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = "at_least = \"1bit\"\nat = { \"path.rate\" = [\"2mbit\", \"8mbit\"] }";
    let table = small(directory.path(), at);
    let shelf = Shelf::Directory(directory.path().to_owned());
    let check = || {
        let runs = table.claims[0].runs(&shelf, Length::Whole)?;
        Ok::<_, proof::study::SourceError>(table.claims[0].check_windows(&runs, Length::Whole))
    };
    check().expect("a study").expect("all points");
    let less = format!("{STUDY}[sim]\n\"path.rate\" = [\"8mbit\"]\n");
    fs::write(directory.path().join("s.toml"), less).expect("written");
    let error = check().expect("a study").expect_err("a point is missing");
    assert_eq!(
        error.to_string(),
        "expect[0].at.path.rate: the simulator runs no 2mbit"
    );
    let none = format!("{STUDY}[sim]\nrepeats = 0\n");
    fs::write(directory.path().join("s.toml"), none).expect("written");
    let refused = table.claims[0].runs(&shelf, Length::Whole).map(|_| ());
    let told = match refused {
        Err(error) => error.to_string(),
        Ok(()) => {
            let runs = table.claims[0].runs(&shelf, Length::Whole).expect("read");
            runs.plan(lab::EngineKind::Sim)
                .map(|_| ())
                .expect_err("no runs")
                .to_string()
        }
    };
    assert!(told.contains("0 repeats are too few"), "{told}");
}

#[test]
fn a_claim_whose_study_is_not_there_is_named_by_its_place() {
    let directory = tempfile::tempdir().expect("a directory");
    let claim = |id: &str, own: &str| {
        format!(
            "[[claim]]\nid = \"{id}\"\nsource = \"x\"\nsetting = \"x\"\npublished = \"x\"\nengines = [\"sim\"]\n{own}\n\
             [[claim.expect]]\nwhat = \"goodput\"\nmeasure = \"goodput\"\nat_least = \"1bit\"\n"
        )
    };
    // Claims about a population have no study, but a file.
    let of_population = claim("p", "population = { members = 2, quick = 1 }");
    let table = of_population + &claim("s", "study = \"nowhere\"");
    fs::write(directory.path().join("claims.toml"), table).expect("written");
    let error = Table::open(&Shelf::Directory(directory.path().to_owned())).unwrap_err();
    assert!(error.to_string().contains("claim[1].study"), "{error}");
}

#[test]
fn a_copy_of_the_claims_alone_has_the_population_of_the_program() {
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/claims");
    let shelf = Shelf::Directory(copy);
    let table = Table::open(&shelf).expect("a table");
    for claim in &table.claims {
        claim.runs(&shelf, Length::Quick).expect(&claim.id);
    }
}

#[test]
fn every_measure_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/claims.md");
    let documentation = fs::read_to_string(path).expect("docs/claims.md");
    for measure in Measure::all() {
        let row = format!("| `{}` | {} |", measure.name, measure.about);
        assert!(documentation.contains(&row), "{row}");
    }
}

#[test]
fn a_measure_of_the_whole_run_has_no_value_in_a_part_of_it_and_the_others_follow_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let shelf = Shelf::Directory(directory.path().to_owned());
    let table = small(directory.path(), "at_least = \"1bit\"");
    let runs = table.claims[0]
        .runs(&shelf, Length::Whole)
        .expect("a study");
    let mut batch = Batch::new(lab::EngineKind::Sim);
    runs.add_to(&mut batch).expect("it can be run");
    batch.run(1, &|_| {}, &Cancel::new(), |_, findings| {
        let record = &findings.runs[0].record;
        let part = Select {
            to: Some(units::Duration::from_nanos(1)),
            ..Select::default()
        };
        let of = |measure: &Measure, select: &Select| measure.of(&Subject::new(record, select));
        for measure in Measure::all() {
            let (whole, part) = (of(measure, &Select::default()), of(measure, &part));
            if measure.is_windowed {
                // Nothing happens within the first nanosecond.
                let is_none = part.is_none() || part == Some(0.0);
                assert!(is_none, "{}: {part:?} of {whole:?}", measure.name);
            } else {
                assert_eq!(part, None, "{}", measure.name);
            }
        }
    });
}
