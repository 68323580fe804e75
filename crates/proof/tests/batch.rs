//! Studies: many scenarios on an engine, and their records.

use std::path::PathBuf;

use lab::Cancel;
use proof::study::{Length, Source, Study, Text};
use studies::runs::{Batch, Findings};

const SWEEP: &str = "name = \"loss\"\nrepeats = 2\n[quick]\nduration = \"300ms\"\n\"path.loss\" = [\"1%\"]\n\
                     [axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n[scenario]\nname = \"loss\"\nduration = \"500ms\"\n\
                     path = { rate = \"5mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n\
                     [[scenario.flow]]\ncontroller = \"cubic\"\n";
const ALONE: &str = "name = \"alone\"\nduration = \"400ms\"\npath = { rate = \"5mbit\", rtt = \"20ms\" }\n\
                     [[flow]]\ncontroller = \"bbr1\"\n[quick]\n\"flow.controller\" = \"reno\"\n";

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.to_owned(),
        place: format!("{name}.toml"),
        text: text.to_owned(),
        directory: PathBuf::new(),
    }
}

fn studies(length: Length) -> [Study; 2] {
    [("loss", SWEEP), ("alone", ALONE)]
        .map(|(name, of)| Study::read(&text(name, of), length).expect("a study"))
}

fn batch(studies: &[Study], engine: lab::EngineKind) -> Batch {
    let mut batch = Batch::new(engine);
    for study in studies {
        let plan = study.plan(engine).expect("a plan");
        batch.add(&study.place, plan).expect("a batch");
    }
    batch
}

fn found(studies: &[Study], jobs: usize) -> Vec<Findings> {
    let batch = batch(studies, lab::EngineKind::Sim);
    let mut found: Vec<(usize, Findings)> = Vec::new();
    batch.run(jobs, &|_| {}, &Cancel::new(), |study, findings| {
        found.push((study, findings));
    });
    found.sort_by_key(|(study, _)| *study);
    found.into_iter().map(|(_, findings)| findings).collect()
}

#[test]
fn every_study_has_its_runs_whatever_else_is_run() {
    let studies = studies(Length::Whole);
    let both = found(&studies, 4);
    let [loss, alone] = &both[..] else {
        panic!("two studies: {both:?}")
    };
    assert_eq!(loss.fields, ["path.loss"]);
    let values: Vec<_> = loss
        .runs
        .iter()
        .map(|run| (&*run.values[0], run.repeat))
        .collect();
    assert_eq!(values, [("0%", 0), ("0%", 1), ("1%", 0), ("1%", 1)]);
    assert!(alone.fields.is_empty() && alone.runs.len() == 1);
    assert!(!alone.runs[0].record.flows[0].samples.is_empty());

    let [again] = &found(&studies[..1], 1)[..] else {
        panic!("one study")
    };
    let told = |findings: &Findings| {
        let runs = findings.runs.iter();
        runs.map(|run| (run.record.summary.seed, run.record.flows.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(again), told(loss));
}

#[test]
fn a_first_impression_is_shorter_and_has_fewer_points() {
    let [loss, alone] = &found(&studies(Length::Quick), 2)[..] else {
        panic!("two studies")
    };
    assert!(loss.runs.iter().all(|run| run.values == ["1%"]));
    assert!(
        loss.runs
            .iter()
            .all(|run| run.record.summary.duration_s == 0.3)
    );
    assert_eq!(alone.runs[0].record.summary.flows[0].controller, "reno");
}

#[test]
fn nothing_is_reported_once_it_is_cancelled() {
    let batch = batch(&studies(Length::Whole), lab::EngineKind::Sim);
    let cancel = Cancel::new();
    cancel.cancel();
    batch.run(2, &|_| {}, &cancel, |study, _| panic!("study {study}"));
}

#[test]
fn what_makes_no_sense_is_told_with_its_line() {
    let wrong = |of: &str, from: &str, to: &str, length| {
        let text = text("wrong", &of.replace(from, to));
        let study = match Study::read(&text, length) {
            Ok(study) => study,
            Err(error) => return error.to_string(),
        };
        let mut batch = Batch::new(lab::EngineKind::Quic);
        let added = Source::Study(Box::new(study)).add_to(&mut batch);
        added.expect_err("that makes no sense").to_string()
    };
    for (of, from, to, length, expected) in [
        (
            SWEEP,
            "[\"1%\"]",
            "[\"2%\"]",
            Length::Quick,
            "line 5: quick.path.loss: the axis has no 2%, but 0%, 1%",
        ),
        (
            ALONE,
            "\"flow.controller\" = \"reno\"",
            "duration = [\"1s\"]",
            Length::Quick,
            "line 7: quick.duration: is varied by no axis; give it one value",
        ),
        (
            SWEEP,
            "repeats",
            "engine = \"sim\"\nrepeats",
            Length::Whole,
            "line 2: engine: a study has none",
        ),
        (
            ALONE,
            "controller = \"bbr1\"",
            "controller = \"bbr1\"\nrtt = \"1ms\"",
            Length::Whole,
            "wrong.toml: repeat 0: flow.rtt: engine quic cannot do this",
        ),
    ] {
        let error = wrong(of, from, to, length);
        assert!(error.starts_with(expected), "{error}");
    }
}
