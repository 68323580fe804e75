//! `fullpipe-proof cdn`, in the simulator.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::support::{fullpipe as proof, refused};

const CDN: &str = r#"
name = "one"
duration = "20s"
arm = [{ controller = "cubic" }, { controller = "bbr1" }]
traffic = [{ interval = "8s", sizes = "3mb" }]
network = [{ name = "lossy", kind = "clients", as = 64501, lines = 60, path = { rate = "20mbit", rtt = "60ms", buffer = "2bdp", loss = "1%" } }]
"#;

#[test]
fn an_experiment_is_compared_with_the_truth() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("cdn.toml"), CDN).expect("a CDN");
    let document = "Text.\n<!-- cdn: begin -->\n<!-- cdn: end -->\n";
    let page = path("document.md");
    fs::write(&page, document).expect("a document");
    let (file, out) = (path("cdn.toml"), path("out"));
    let run = ["cdn", &file, "--out", &out];
    let given = run.into_iter().chain(["--document", &page, "--json"]);
    let output = proof(given).output().expect("runs");
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
    for name in ["study/study.json", "policy.toml", "systems.txt"] {
        assert!(Path::new(&out).join(name).exists(), "{name}");
    }
    refused(run, 2, &["--out", "there is a study already"]);
    let engine = |name| run.into_iter().chain(["--engine", name]);
    refused(engine("quic"), 2, &["--engine quic", "linux"]);
    let hosts = CDN.replace("lines = 60", "lines = 60, host = { ecn = true }");
    fs::write(path("cdn.toml"), hosts).expect("a CDN");
    refused(engine("linux"), 2, &["cdn.toml", "network[0].host"]);
    let shared = CDN.replace("lines = 60", "lines = 60, over = \"uplink\"")
        + "shared = [{ name = \"uplink\", path = { rate = \"1gbit\" } }]\n";
    fs::write(path("cdn.toml"), shared).expect("a CDN");
    refused(engine("linux"), 2, &["cdn.toml", "network[0].over", "sim"]);
    fs::write(path("cdn.toml"), CDN.replace("60,", "6,")).expect("a CDN");
    let other = path("other");
    refused(
        ["cdn", &file, "--out", &other],
        2,
        &["cdn.toml", "lines", "50"],
    );
    fs::write(path("cdn.toml"), "[[flow]]\ncontroller = \"bbr1\"\n").expect("a scenario");
    refused(
        ["cdn", &file, "--out", &other],
        2,
        &["cdn.toml: is a scenario; use `fullpipe run`"],
    );
    let nofile = proof(["cdn", "nofile", "--out", &other]).assert();
    nofile
        .code(2)
        .stderr(contains("nofile").count(1).and(contains("cannot read")));
}

#[test]
fn the_directory_is_nobody_else_s() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (file, out) = (path("cdn.toml"), path("out"));
    fs::write(&file, CDN).expect("a CDN");
    fs::create_dir(&out).expect("a directory");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&out, open).expect("open to all");
    refused(
        ["cdn", &file, "--out", &out],
        2,
        &["--out", "is open to every user"],
    );
    assert_eq!(fs::read_dir(&out).expect("a directory").count(), 0);
}
