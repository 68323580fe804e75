//! `fullpipe study lab`, in the simulator.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::support::{fullpipe, refused};

const CDN: &str = r#"
name = "one"
duration = "20s"
arm = [{ controller = "cubic" }, { controller = "bbr1" }]
traffic = [{ interval = "8s", sizes = "3mb" }]
network = [{ name = "lossy", kind = "clients", as = 64501, lines = 60, path = { rate = "20mbit", rtt = "60ms", buffer = "2bdp", loss = "1%" } }]
"#;

#[test]
fn a_laboratory_s_study_is_a_study_and_its_policy_is_what_is_learned_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("cdn.toml"), CDN).expect("a CDN");
    let document = "Text.\n<!-- cdn: begin -->\n<!-- cdn: end -->\n";
    let page = path("document.md");
    fs::write(&page, document).expect("a document");
    let (file, out) = (path("cdn.toml"), path("out"));
    let run = ["study", "lab", &file, "--out", &out];
    let given = run.into_iter().chain(["--document", &page, "--json"]);
    let output = fullpipe(given).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(
        found["networks"][0]["throughput"][0]["truth"].as_f64() > Some(0.2),
        "{found}"
    );
    let text = fs::read_to_string(&page).expect("a document");
    assert!(
        text.starts_with("Text.") && text.contains("| lossy | clients | "),
        "{text}"
    );
    let study = path("out/study");
    fullpipe(["study", "report", &study])
        .assert()
        .success()
        .stdout(contains("AS64501").and(contains("bbr carries objects over 3 MB faster")));
    let learned = fullpipe(["steer", "learn", &study])
        .output()
        .expect("runs")
        .stdout;
    let policy = fs::read_to_string(path("out/policy.toml")).expect("a policy");
    assert_eq!(String::from_utf8_lossy(&learned), policy);
    let systems = path("out/systems.txt");
    let file_of_policy = path("out/policy.toml");
    fullpipe([
        "steer",
        "why",
        "10.0.7.1",
        &file_of_policy,
        "--as",
        &systems,
    ])
    .assert()
    .success()
    .stdout(contains("bbr"));
    refused(run, 2, &["--out", "there is a study already"]);
    let engine = |name| run.into_iter().chain(["--engine", name]);
    refused(engine("quic"), 2, &["--engine quic", "linux"]);
    let hosts = CDN.replace("lines = 60", "lines = 60, host = { ecn = true }");
    fs::write(path("cdn.toml"), hosts).expect("a CDN");
    refused(engine("linux"), 2, &["cdn.toml", "network[0].host"]);
    fs::write(path("cdn.toml"), CDN.replace("60,", "6,")).expect("a CDN");
    let other = path("other");
    refused(
        ["study", "lab", &file, "--out", &other],
        2,
        &["cdn.toml", "lines", "50"],
    );
    let nofile = fullpipe(["study", "lab", "nofile", "--out", &other]).assert();
    nofile
        .code(2)
        .stderr(contains("nofile").count(1).and(contains("cannot read")));
}

#[test]
fn a_laboratory_s_directory_is_nobody_else_s() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (file, out) = (path("cdn.toml"), path("out"));
    fs::write(&file, CDN).expect("a CDN");
    fs::create_dir(&out).expect("a directory");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&out, open).expect("open to all");
    refused(
        ["study", "lab", &file, "--out", &out],
        2,
        &["--out", "is open to every user"],
    );
    assert_eq!(fs::read_dir(&out).expect("a directory").count(), 0);
}
