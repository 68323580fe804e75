//! `fullpipe sweep`, on small grids.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, TEST_TIMEOUT, refused};

const SWEEP: &str = "repeats = 4\n\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n\
                     flow.controller = [\"bbr1\", \"cubic\"]\n\n\
                     [scenario]\nname = \"small\"\nduration = \"5s\"\n[scenario.path]\nrate = \"20mbit\"\n\
                     rtt = \"20ms\"\nbuffer = \"2bdp\"\n[[scenario.flow]]\ncontroller = \"bbr1\"\ncount = 2\n";
const RUNS: usize = 16;

fn directory(sweep: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("small.toml"), sweep).expect("written");
    directory
}

/// The results as JSON, after a sweep that succeeded.
fn sweep(directory: &Path, options: &[&str]) -> Value {
    let arguments = ["sweep", "small.toml", "--json"].iter().chain(options);
    let (stdout, _) = Running::start(directory, arguments.copied()).finish_with(0);
    serde_json::from_str(&stdout).expect("JSON alone")
}

fn done(directory: &Path) -> usize {
    let lines = fs::read_to_string(directory.join("small/runs.jsonl")).unwrap_or_default();
    lines.matches('\n').count()
}

#[test]
fn a_kill_costs_nothing_but_the_runs_under_way() {
    let (whole, killed) = (directory(SWEEP), directory(SWEEP));
    let expected = sweep(whole.path(), &["--jobs", "2"]);
    assert_eq!(expected["points"].as_array().map(Vec::len), Some(4));
    assert_eq!(expected["points"][3]["runs"], 4);

    let run = Running::start(killed.path(), ["sweep", "small.toml", "--jobs", "1"]);
    let start = Instant::now();
    while done(killed.path()) < 3 {
        assert!(start.elapsed() < TEST_TIMEOUT, "no results");
        thread::sleep(Duration::from_millis(1));
    }
    run.signal(Signal::KILL);
    let (status, ..) = run.finish();
    assert_eq!(status.code(), None, "killed, not ended");
    let before = done(killed.path());
    assert!((3..RUNS).contains(&before), "{before}");
    assert!(!killed.path().join("small/sweep.parquet").exists());

    assert_eq!(sweep(killed.path(), &["--jobs", "1"]), expected);
    assert_eq!(done(killed.path()), RUNS, "nothing was run twice");
    let table = |directory: &Path| fs::read(directory.join("small/sweep.parquet")).expect("there");
    assert!(table(killed.path()) == table(whole.path()), "to the bit");
}

#[test]
fn damaged_results_are_told_and_run_again() {
    let directory = directory(&SWEEP.replace("repeats = 4", "repeats = 1"));
    let at = |name: &str| directory.path().join(name);
    let expected = sweep(directory.path(), &[]);
    let table = || fs::read(at("small/sweep.parquet")).expect("there");
    let before = table();
    let file = at("small/runs.jsonl");
    let text = fs::read_to_string(&file).expect("there");
    let lines: Vec<&str> = text.lines().collect();
    // A valid key without a value, and another digit: both would still be JSON.
    let (head, rest) = lines[0].split_once("\"summary\":").expect("a summary");
    let (_, check) = rest.split_once(",\"check\"").expect("a checksum");
    let nothing = format!("{head}\"summary\":null,\"check\"{check}");
    let digit = lines[1].replacen("\"utilization\":0.", "\"utilization\":0.1", 1);
    assert_ne!(digit, lines[1]);
    let changed = [nothing.as_str(), digit.as_str(), lines[2], lines[3], ""].join("\n");
    fs::write(&file, changed).expect("written");

    let run = || Running::start(directory.path(), ["sweep", "small.toml", "--json"]).finish();
    let (status, stdout, stderr) = run();
    assert_eq!(status.code(), Some(0), "{stderr}");
    let told = "small/runs.jsonl: 2 lines are damaged and left out; their runs are done again\n";
    assert!(stderr.contains(told), "{stderr}");
    assert!(stderr.contains("2 of them done"), "{stderr}");
    assert_eq!(
        serde_json::from_str::<Value>(&stdout).expect("JSON"),
        expected
    );
    assert!(table() == before, "to the bit");
    let (_, _, stderr) = run();
    assert!(
        stderr.contains("4 of them done") && !stderr.contains("damaged"),
        "{stderr}"
    );
}

#[test]
fn what_is_done_is_shown_again_without_running() {
    let directory = directory(&SWEEP.replace("repeats = 4", "repeats = 1"));
    let (_, stdout, stderr) = Running::start(directory.path(), ["sweep", "small.toml"]).finish();
    for part in ["path.loss", "controller", "cubic", "of limit", "Jain"] {
        assert!(stdout.contains(part), "no {part} in {stdout}");
    }
    assert!(
        stderr.starts_with("small: 4 points on engine sim; results in small"),
        "{stderr}"
    );
    let (status, again, stderr) =
        Running::start(directory.path(), ["sweep", "small.toml", "--plot", "jain"]).finish();
    assert_eq!((status.code(), again), (Some(0), stdout), "{stderr}");
    assert!(stderr.contains("4 of them done"), "{stderr}");
    let page = fs::read_to_string(directory.path().join("small/sweep.html")).expect("a page");
    assert!(page.contains("\"y\":\"jain\""));
    // A changed field makes other runs.
    let (_, _, stderr) = Running::start(
        directory.path(),
        ["sweep", "small.toml", "--set", "duration=1s"],
    )
    .finish();
    assert!(!stderr.contains("done"), "{stderr}");
}

#[test]
fn a_failed_run_is_named_and_the_others_are_done() {
    // A path on which the handshake succeeds, and then nothing arrives.
    let text = "[axes]\n\"path.loss\" = [\"0%\", { kind = \"gilbert\", p = \"10%\", r = \"0%\" }]\n[scenario]\nname = \"small\"\n[scenario.path]\n\
                rate = \"20mbit\"\nrtt = \"20ms\"\n[[scenario.flow]]\ncontroller = \"bbr1\"\nbytes = \"100kb\"\n";
    let directory = directory(text);
    let (status, stdout, stderr) =
        Running::start(directory.path(), ["sweep", "small.toml"]).finish();
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("0%"), "{stdout}");
    assert!(
        stderr.contains("failed: path.loss=kind=gilbert,p=10%,r=0% repeat 0: "),
        "{stderr}"
    );
    assert!(
        stderr.ends_with("fullpipe: 1 of 2 runs failed; repeat the command to try again\n"),
        "{stderr}"
    );
    let page = fs::read_to_string(directory.path().join("small/sweep.html")).expect("a page");
    assert!(page.contains("1 of 2 runs failed"));
}

#[test]
fn ctrl_c_says_how_to_go_on() {
    let directory = directory(&SWEEP.replace("\"5s\"", "\"5min\""));
    let mut run = Running::start(directory.path(), ["sweep", "small.toml", "--jobs", "1"]);
    run.stderr_line_with("results in small");
    run.signal(Signal::INT);
    let (status, stdout, stderr) = run.finish();
    assert_eq!(
        (status.code(), stdout.as_str()),
        (Some(130), ""),
        "{stderr}"
    );
    assert!(
        stderr.contains("fullpipe: interrupted; ")
            && stderr.contains("repeat the command to continue"),
        "{stderr}"
    );
}

#[test]
fn sweeps_that_make_no_sense_are_refused_before_anything_runs() {
    for (from, to, parts) in [
        (
            "\"1%\"",
            "\"101%\"",
            &["small.toml: line 4: path.loss=101%: ", "more than 100%"][..],
        ),
        (
            "path.loss",
            "path.lsos",
            &["line 4: path.lsos=0%: ", "did you mean `path.loss`?"],
        ),
        (
            "\"cubic\"",
            "\"cubix\"",
            &["line 5: flow.controller=cubix: ", "known: bbr1"],
        ),
        (
            "repeats",
            "repeat",
            &["line 1: repeat: unknown key; did you mean `repeats`?"],
        ),
        ("20mbit", "20mbits", &["line 11: path.rate: \"20mbits\""]),
        (
            "[axes]",
            "[axis]",
            &["line 3: axis: unknown key; did you mean `axes`?"],
        ),
    ] {
        let directory = directory(&SWEEP.replace(from, to));
        let file = directory.path().join("small.toml");
        let out = directory.path().join("out");
        let (file, out) = (
            file.to_str().expect("a name"),
            out.to_str().expect("a name"),
        );
        refused(["sweep", file, "--out", out], 2, parts);
        assert!(!Path::new(out).exists());
    }
    let directory = directory(SWEEP);
    let file = directory.path().join("small.toml");
    let file = file.to_str().expect("a name");
    for (options, code, parts) in [
        (
            ["--set", "path.loss=1%"],
            2,
            &["--set path.loss=1%: is varied by the axis path.loss"][..],
        ),
        (
            ["--set", "path.buffer=1b"],
            2,
            &["--set path.buffer=1b: 1b is smaller"],
        ),
        (["--jobs", "0"], 2, &["--jobs"]),
        (["--plot", "speed"], 2, &["--plot", "goodput_share"]),
        (["--out", file], 2, &["--out", file]),
        (["--out", "/"], 2, &["has files of other runs", "--out"]),
    ] {
        refused(["sweep", file].into_iter().chain(options), code, parts);
    }
}
