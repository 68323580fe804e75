//! A small CDN in the simulator: a study of it finds the truth, and its policy beats each single controller.

use std::path::{Path, PathBuf};

use cdn::found::{Estimate, MAX_SHORTFALL};
use cdn::{Found, Kind, Laboratory, Line, LineDraw, STUDY, Spec};
use experiment::Measure;
use lab::Cancel;

/// Two small networks.
const TEXT: &str = r#"
name = "two"
duration = "20s"
[[arm]]
controller = "cubic"
[[arm]]
controller = "bbr1"
[[traffic]]
interval = "5s"
sizes = "8kb"
[[traffic]]
interval = "8s"
sizes = "3mb"
[[network]]
name = "lossy"
kind = "clients"
as = 64501
lines = 60
path = { rate = { median = "20mbit", sigma = 0.3 }, rtt = "60ms", buffer = "2bdp", loss = "1%" }
[[network]]
name = "inside"
kind = "intra-site"
as = 64502
lines = 50
path = { rtt = "200us" }
host = { nic = "10gbit" }
background = [{ controller = "cubic", bytes = "1mb" }]
"#;

fn spec(text: &str) -> Spec {
    Spec::parse(text, Path::new("")).unwrap_or_else(|error| panic!("{error}"))
}

fn prove(spec: Spec, directory: &Path) -> Found {
    let laboratory = Laboratory::new(spec, "cdn.toml").expect("it can be run");
    let jobs = studies::runs::jobs(None, lab::EngineKind::Sim);
    let found = laboratory.prove(directory, &mut |batch, done| {
        batch.run(jobs, &|_| (), &Cancel::new(), done);
    });
    found.expect("a policy")
}

fn whole_cdn() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/cdn.toml")
}

/// At least this share of all intervals contains the truth.
fn covered<'f>(all: impl Iterator<Item = &'f Estimate>, least: f64) {
    let covered = |told: &Estimate| told.covered.map(|of| u32::try_from(of).expect("few"));
    let [has, of] = all
        .map(covered)
        .fold([0, 0], |[has, of], told| [has + told[0], of + told[1]]);
    assert!(
        f64::from(has) >= least * f64::from(of) && of > 0,
        "{has} of {of}"
    );
}

#[test]
fn a_study_finds_the_truth_and_its_policy_beats_each_controller() {
    let spec = Spec::load(&whole_cdn()).unwrap_or_else(|error| panic!("{error}"));
    let directory = tempfile::tempdir().expect("a directory");
    let found = prove(spec, directory.path());
    eprintln!("{}", cdn::tables::text(&found, None));
    assert!(found.connections >= 10_000, "{}", found.connections);
    let policy = found.policy_place();

    for network in &found.networks {
        // The throughput of large objects, in each kind of network.
        let of_best = network.of_best(policy).expect("large objects");
        assert!(of_best >= -MAX_SHORTFALL, "{}: {of_best}", network.name);
        // Small objects, against CUBIC. With BBR they wait in the queue of a large object on the same line.
        let small = network.changes[policy][1].expect("small objects");
        let bound = if network.name == "long and lossy" {
            0.1
        } else {
            0.02
        };
        assert!(small <= bound, "{}: {small}", network.name);
        if network.kind == Kind::Inside.name() {
            let over_cubic = |choice: usize| network.changes[choice][0].expect("large objects");
            assert!(over_cubic(policy) >= -0.03, "{}", over_cubic(policy));
            // The cost of BBR everywhere in such a network: not the published half, see the claim cdn-intra.
            assert!((-0.1..=-0.04).contains(&over_cubic(1)), "{}", over_cubic(1));
        }
    }
    for choice in &found.choices[..policy] {
        assert!(
            found.choices[policy].changes[0] > choice.changes[0],
            "{}: {choice:?}",
            found.choices[policy].name
        );
    }
    let small = found.choices[policy].changes[1].expect("small objects");
    assert!(small <= 0.02, "{small}");
    // Only the lines with deep buffers have background traffic, which leaves much of their rate.
    for network in &found.networks {
        let has = network.name == "deep buffer";
        let of = &network.background;
        assert_eq!(of.iter().all(Option::is_some), has, "{of:?}");
        assert!(of.iter().flatten().all(|of| of.abs() < 0.02), "{of:?}");
    }
    // The same for each later draw of lines, which the study has not seen.
    assert_eq!(found.draws.len(), 3);
    for draw in &found.draws {
        let (_, of_best) = draw.worst.as_ref().expect("large objects");
        assert!(*of_best >= -MAX_SHORTFALL, "{draw:?}");
        assert!(draw.changes[0] > Some(0.0), "{draw:?}");
    }

    // The intervals have their coverage over all networks and draws together: 95 %.
    let networks = || found.networks.iter();
    covered(networks().flat_map(|of| &of.throughput), 0.92);
    covered(networks().flat_map(|of| &of.small), 0.92);
    assert_eq!(found.redraws.policies, found.redraws.studies);

    // The recorded data are a study like any other.
    let read = rollout::study::read(
        &[directory.path().join(STUDY)],
        Vec::new(),
        &mut rollout::study::Lookup::default(),
    )
    .expect("a study");
    let findings = read.gathered.findings();
    assert_eq!(findings.verdict, found.verdict);
    let row = found
        .measures
        .iter()
        .find(|told| told.measure == Measure::Throughput);
    assert_eq!(
        read.gathered.effect(1, Measure::Throughput),
        row.expect("told").told
    );
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let found = || {
        let directory = tempfile::tempdir().expect("a directory");
        prove(spec(TEXT), directory.path())
    };
    assert_eq!(found(), found());
}

#[test]
fn lines_are_the_same_for_each_arm_and_none_of_them_judges_the_policy() {
    let spec = spec(TEXT);
    let [study, fresh, other] = [LineDraw::Study, LineDraw::Fresh(0), LineDraw::Fresh(1)]
        .map(|when| spec.lines(when).unwrap());
    let line = &study[0];
    assert_eq!(line.client.to_string(), "10.0.0.1");
    let [cubic, bbr] = [0, 1].map(|arm| line.scenario(&spec.arms[arm]));
    assert_eq!((&cubic.path, cubic.seed), (&bbr.path, bbr.seed));
    let starts = |of: &scenario::Scenario| -> Vec<_> {
        of.flows
            .iter()
            .map(|flow| (flow.start, flow.bytes))
            .collect()
    };
    assert_eq!(starts(&cubic), starts(&bbr));
    assert_eq!(cubic.flows.len(), line.visits.len());
    let last = study.last().unwrap();
    // The background traffic comes last, and has its own controller.
    let background = last.scenario(&spec.arms[1]).flows.pop().unwrap();
    assert_eq!(background.controller.name(), "cubic");
    // The policy is judged over other lines with other paths.
    let of_client = |lines: &[Line]| {
        let found = lines.iter().find(|other| other.client == line.client);
        found.unwrap().clone()
    };
    let [fresh, other] = [of_client(&fresh), of_client(&other)];
    for (one, other) in [(line, &fresh), (line, &other), (&fresh, &other)] {
        assert_ne!(one.path(), other.path());
        assert_ne!(one.visits, other.visits);
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    for (from, to, field) in [
        ("lines = 60", "lines = 6", "network[0].lines"),
        ("as = 64502", "as = 64501", "network[1].as"),
        ("name = \"inside\"", "name = \"lossy\"", "network[1].name"),
        ("kind = \"clients\"", "kind = \"client\"", "network[0].kind"),
        (
            "controller = \"bbr1\"",
            "controller = \"cubic\"",
            "arm[1].controller",
        ),
        (
            "controller = \"bbr1\"",
            "controller = \"bbr1\"\nbytes = \"1mb\"",
            "arm[1]",
        ),
        (
            "interval = \"8s\"",
            "intervals = \"8s\"",
            "traffic[1].intervals",
        ),
        (
            "interval = \"8s\"",
            "interval = \"8s\"\nconnections = \"kept\"",
            "network[0].traffic[1].connections",
        ),
        ("loss = \"1%\"", "lots = \"1%\"", "path.lots"),
        (
            "controller = \"cubic\", bytes",
            "controller = \"cubic\", byte",
            "network[1].background[0].byte:",
        ),
        (
            "controller = \"cubic\", bytes",
            "controller = \"cubik\", bytes",
            "network[1].background[0].controller:",
        ),
        (
            "host = { nic = \"10gbit\" }",
            "hosts = {}",
            "network[1].hosts",
        ),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT);
        let read = Spec::parse(&text, Path::new(""));
        let error = read
            .and_then(|spec| spec.lines(LineDraw::Study))
            .unwrap_err()
            .to_string();
        assert!(error.contains(field), "{to}: {error}");
    }
}

#[test]
fn more_objects_than_there_is_memory_for_are_refused() {
    let refused = |traffic: &str, more: &str| {
        let text = format!(
            "name = 'c'\nduration = '20s'\narm = [{{ controller = 'cubic' }}, {{ controller = 'bbr1' }}]\n\
             traffic = [{{ interval = '{traffic}', sizes = '8kb' }}]\n\
             [[shared]]\nname = 'u'\npath = {{ rate = '1gbit' }}\n\
             [[network]]\nname = 'n'\nkind = 'clients'\nas = 64501\nlines = 250\nover = 'u'\n\
             path = {{ rate = '10mbit', rtt = '10ms' }}\n{more}\n"
        );
        let spec = Spec::parse(&text, Path::new("")).expect("a CDN");
        spec.lines(LineDraw::Study)
            .map_err(|error| error.to_string())
    };
    refused("1s", "").expect("few objects");
    // None of these lines has more than 10,000. Each object is in 13 runs.
    let error = refused("20ms", "").expect_err("many objects");
    assert!(
        error.contains("traffic: more than 2500000 objects and flows"),
        "{error}"
    );
    let flows = "{ controller = 'cubic' }, ".repeat(800);
    let error = refused("1s", &format!("background = [{flows}]")).expect_err("many flows");
    assert!(
        error.contains("more than 2500000 objects and flows"),
        "{error}"
    );
    let error = refused("1s", "swing = { every = '10ms', sigma = 0.3 }").expect_err("many changes");
    assert!(
        error.contains("swing.every: more than 4000000 changes"),
        "{error}"
    );
}
