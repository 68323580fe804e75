//! `fullpipe evaluate`: its answers, files and refusals.

use std::fs;

use serde_json::Value;

use crate::support::{fullpipe, refused};

/// A quick evaluation by cheap criteria.
const CHEAP: [&str; 6] = [
    "evaluate",
    "reno",
    "--quick",
    "--quiet",
    "--only",
    "constrained,collapse",
];

fn succeeded(arguments: &[&str]) -> String {
    let output = fullpipe(arguments.iter().copied()).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn an_evaluation_has_rows_a_page_and_scenarios_and_is_compared_with_an_older_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let json = succeeded(&[&CHEAP[..], &["--json"]].concat());
    let evaluation: Value = serde_json::from_str(&json).expect("JSON alone");
    assert_eq!(evaluation["engine"], "sim");
    let rows = evaluation["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["values"].as_array().map(Vec::len), Some(5));
    fs::write(at("older.json"), &json).expect("is written");

    let (older, page, scenarios) = (at("older.json"), at("page.html"), at("scenarios"));
    let files = [
        "--against",
        &older,
        "--report",
        &page,
        "--scenarios",
        &scenarios,
    ];
    let text = succeeded(&[&CHEAP[..], &files].concat());
    assert!(text.starts_with("reno, by 2 criteria"), "{text}");
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("constrained"));
    let worst = directory.path().join("scenarios/constrained.toml");
    let worst = worst.to_str().expect("UTF-8");
    succeeded(&["run", worst, "--quiet"]);

    let whole = [
        "evaluate",
        "reno",
        "--only",
        "collapse",
        "--against",
        &older,
    ];
    refused(whole, 2, &["--against", "4 seeds", "60 seeds", "--quick"]);
    let live = [
        "evaluate",
        "kernel:cubic",
        "--only",
        "collapse",
        "--against",
        &older,
    ];
    refused(live, 2, &["--against", "engine sim", "engine linux"]);
}

#[test]
fn what_cannot_be_evaluated_is_refused_in_a_line() {
    refused(["evaluate", "bbr9"], 2, &["bbr9", "bbr3", "kernel:NAME"]);
    refused(
        ["evaluate", "rust:Mine"],
        2,
        &["rust:Mine", "docs/evaluate.md"],
    );
    let only = ["evaluate", "reno", "--only", "harm-cubi"];
    refused(only, 2, &["--only", "`harm-cubic`"]);
    let others = ["evaluate", "reno", "--set", "bbr3.ecn=linux"];
    refused(others, 2, &["--set bbr3.ecn=linux", "reno."]);
    let kernels = ["evaluate", "kernel:bbr", "--set", "kernel.gain=2"];
    refused(kernels, 2, &["--set kernel.gain=2", "no settings"]);
    let drawn = ["evaluate", "kernel:bbr", "--only", "drawn-goodput"];
    refused(drawn, 2, &["--only", "engine linux"]);
}

#[test]
fn a_controller_that_the_kernel_lacks_is_refused_before_the_runs() {
    let arguments = ["evaluate", "kernel:nosuch", "--only", "data-centre"];
    let output = fullpipe(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), stderr.lines().count()),
        (Some(1), 1),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
    if !stderr.contains("no congestion controller nosuch") {
        skipping::skip!("evaluate kernel:NAME: {stderr}");
    }
}
