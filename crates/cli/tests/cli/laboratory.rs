//! `fullpipe study report` and `fullpipe steer` on the data of a small CDN whose true effects are known.

use std::path::Path;

use cdn::{Laboratory, Spec};
use lab::{Cancel, EngineKind};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::support::fullpipe;

const CDN: &str = r#"
name = "one"
duration = "20s"
arm = [{ controller = "cubic" }, { controller = "bbr1" }]
traffic = [{ interval = "8s", sizes = "3mb" }]
network = [{ name = "lossy", kind = "clients", as = 64501, lines = 60, path = { rate = "20mbit", rtt = "60ms", buffer = "2bdp", loss = "1%" } }]
"#;

/// Runs the CDN, and writes its study and policy into the directory.
fn run(directory: &Path) {
    let spec = Spec::parse(CDN, Path::new("")).expect("a CDN");
    let laboratory = Laboratory::new(spec, "cdn.toml").expect("it can be run");
    let jobs = studies::runs::jobs(None, EngineKind::Sim);
    let found = laboratory.prove(directory, &mut |batch, done| {
        batch.run(jobs, &|_| (), &Cancel::new(), done);
    });
    found.expect("a study and a policy");
}

#[test]
fn a_laboratory_s_study_is_a_study_and_its_policy_is_what_is_learned_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    run(directory.path());
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (study, policy, systems) = (path("study"), path("policy.toml"), path("systems.txt"));
    fullpipe(["study", "report", &study])
        .assert()
        .success()
        .stdout(contains("AS64501").and(contains("bbr carries objects over 3 MB faster")));
    let learned = fullpipe(["steer", "learn", &study]).output().expect("runs");
    let text = std::fs::read_to_string(&policy).expect("a policy");
    assert_eq!(String::from_utf8_lossy(&learned.stdout), text);
    fullpipe(["steer", "why", "10.0.7.1", &policy, "--as", &systems])
        .assert()
        .success()
        .stdout(contains("bbr"));
}
