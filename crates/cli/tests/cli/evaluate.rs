//! `fullpipe evaluate`: its answers, files and refusals.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, fullpipe, refused};

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

/// The cheapest of all evaluations.
const ONE: [&str; 6] = [
    "evaluate",
    "reno",
    "--quick",
    "--quiet",
    "--only",
    "constrained",
];

#[test]
fn what_is_run_and_what_is_tolerated_is_said() {
    let text = succeeded(&ONE);
    let said = "reno, by 1 criterion of RFC 9743 over 4 seeds on engine sim: ";
    assert!(text.starts_with(said), "{text}");
    let headings = text.lines().find(|line| line.starts_with("RFC"));
    let headings = headings.expect("a table");
    assert!(
        headings.contains("tolerated") && headings.contains("floor"),
        "{text}"
    );
}

/// Whoever kills it leaves no directory behind, and another evaluation may make the same directory meanwhile.
#[test]
fn the_directory_of_scenarios_is_made_after_the_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = [
        "evaluate",
        "cubic",
        "--quick",
        "--scenarios",
        "new/scenarios",
    ];
    let mut running = Running::start(directory.path(), arguments);
    running.stderr_line_with("runs of cubic");
    running.signal(Signal::KILL);
    running.finish();
    let left = fs::read_dir(directory.path()).expect("there");
    assert_eq!(left.count(), 0);
    let below = directory.path().join("file");
    fs::write(&below, "").expect("is written");
    let below = below.join("scenarios").display().to_string();
    let arguments = [&ONE[..], &["--scenarios", &below]].concat();
    refused(arguments, 2, &["--scenarios", "file/scenarios"]);
}

#[test]
fn an_older_evaluation_that_cannot_be_compared_is_refused_before_the_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let older = directory.path().join("older.json");
    let older = older.to_str().expect("UTF-8");
    let json = succeeded(&[&ONE[..], &["--json"]].concat());
    let mut evaluation: Value = serde_json::from_str(&json).expect("JSON");
    evaluation["rows"][0]["values"] = Value::Array(Vec::new());
    fs::write(older, evaluation.to_string()).expect("is written");
    let arguments = [&ONE[..], &["--against", older]].concat();
    refused(
        arguments,
        2,
        &["--against", "older.json", "row constrained has no values"],
    );
}

#[test]
fn an_output_that_fails_takes_no_other_along() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let (page, scenarios) = (at("page.html"), at("scenarios"));
    let full = File::options().write(true).open("/dev/full");
    let mut command = std::process::Command::new(crate::PROGRAM);
    command.args(ONE).arg("--report").arg(&page);
    command.arg("--scenarios").arg(&scenarios);
    command.stdout(full.expect("opens"));
    let output = command.output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write to stdout"), "{stderr}");
    assert!(page.exists() && scenarios.join("constrained.toml").exists());
}

#[test]
fn only_a_scenario_that_evaluate_wrote_is_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let (file, notes) = (at("constrained.toml"), at("notes"));
    let arguments = [
        &ONE[..],
        &["--scenarios", directory.path().to_str().expect("UTF-8")],
    ]
    .concat();
    let refusal = || {
        refused(
            arguments.clone(),
            2,
            &["--scenarios", "constrained.toml", "remove it"],
        );
    };
    fs::write(&file, "name = \"mine\"\n").expect("is written");
    refusal();
    fs::write(&notes, "my notes").expect("is written");
    fs::remove_file(&file).expect("is removed");
    symlink(&notes, &file).expect("is linked");
    refusal();
    assert_eq!(fs::read_to_string(&notes).expect("is there"), "my notes");
    fs::remove_file(&file).expect("is removed");
    for _ in 0..2 {
        succeeded(&arguments);
    }
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
    let others = ["evaluate", "cubic", "--set", "bbr3.ecn=linux"];
    refused(others, 2, &["--set bbr3.ecn=linux", "cubic."]);
    let none = ["evaluate", "reno", "--set", "reno.x=1"];
    refused(none, 2, &["--set reno.x=1: reno has no settings"]);
    let unknown = ["evaluate", "bbr3", "--set", "bbr3.x=1"];
    refused(unknown, 2, &["--set bbr3.x=1", "unknown key", "ecn"]);
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
