//! `fullpipe run`, on short scenarios.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, fullpipe, refused};

const SCENARIO: &str = "name = \"two\"\nduration = \"2s\"\nseed = 7\n\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                        buffer = \"2bdp\"\nloss = \"1%\"\n\n[[flow]]\ncontroller = \"bbr1\"\n\n[[flow]]\n\
                        controller = \"cubic\"\nstart = \"500ms\"\n";

/// A directory with the scenario in it, and the scenario's name.
fn scenario() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("two.toml");
    fs::write(&file, SCENARIO).expect("written");
    let file = file.to_str().expect("a name").to_owned();
    (directory, file)
}

/// The summary that the command prints with these arguments.
fn summary<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Value {
    let arguments = ["run", "--json", "--quiet"].into_iter().chain(arguments);
    let output = fullpipe(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "");
    let mut summary: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert!(summary["wall_s"].take().is_number());
    summary
}

#[test]
fn one_object_for_a_run_the_same_each_time() {
    let (_directory, file) = scenario();
    let first = summary([file.as_str()]);
    assert_eq!(first["scenario"], "two");
    assert_eq!(first["engine"], "sim");
    assert_eq!(first["seed"], 7);
    assert_eq!(first["duration_s"], 2.0);
    assert_eq!(first["partial"], false);
    assert_eq!(first["flows"][1]["controller"], "cubic");
    assert_eq!(first["flows"][1]["start_s"], 0.5);
    assert!(first["fairness"]["jain"].is_number());
    assert_eq!(summary([file.as_str(), "--engine", "sim"]), first);
    let other = summary([file.as_str(), "--seed", "8"]);
    assert_eq!(other["seed"], 8);
    assert_ne!(other["flows"], first["flows"]);
}

#[test]
fn fields_are_replaced() {
    let (_directory, file) = scenario();
    let overrides = [
        "--set",
        "path.loss=0",
        "--set",
        "flow.0.controller=reno",
        "--set",
        "flow.start=0s",
        "--set",
        "seed=9",
    ];
    let summary = summary([file.as_str()].into_iter().chain(overrides));
    assert_eq!(summary["path"]["random_losses"], 0);
    assert_eq!(summary["flows"][0]["controller"], "reno");
    assert_eq!(summary["flows"][1]["start_s"], 0.0);
    assert_eq!(summary["seed"], 9);
}

#[test]
fn a_scenario_can_come_through_a_pipe() {
    let output = fullpipe(["run", "-"])
        .write_stdin(SCENARIO)
        .output()
        .expect("runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for part in ["controller", "bbr1", "cubic", "Jain"] {
        assert!(stdout.contains(part), "no {part} in {stdout}");
    }
    assert!(stderr.starts_with("two: 10.0 Mbit/s"), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "no terminal, so no bars");
    let wrong = fullpipe(["run", "-"])
        .write_stdin(SCENARIO.replace("rtt", "rrt"))
        .output()
        .expect("runs");
    assert_eq!(
        String::from_utf8_lossy(&wrong.stderr),
        "fullpipe: stdin: line 7: path.rrt: unknown key; did you mean `path.rtt`?\n"
    );
}

#[test]
fn what_makes_no_sense_is_answered_with_its_place() {
    let (directory, file) = scenario();
    let wrong = directory.path().join("wrong.toml");
    fs::write(&wrong, SCENARIO.replace("loss", "lsos")).expect("written");
    let wrong = wrong.to_str().expect("a name");
    refused(
        ["run", wrong],
        2,
        &["wrong.toml: line 9: path.lsos: unknown key; did you mean `path.loss`?"],
    );
    let file = file.as_str();
    for (options, parts) in [
        (
            ["--set", "path.lsos=2%"],
            &["--set path.lsos=2%: unknown key; did you mean `path.loss=2%`?"][..],
        ),
        (
            ["--set", "flow.2.start=1s"],
            &["--set flow.2.start=1s: there is no flow.2"],
        ),
        (["--set", "path.loss"], &["--set", "path.loss=2%"]),
        (
            ["--set", "path.buffer=1b"],
            &["--set path.buffer=1b: 1b is smaller than one packet"],
        ),
        (["--engine", "ns3"], &["--engine", "known: sim, quic"]),
        (["--seed", "one"], &["--seed", "one"]),
        (["--out", file], &[file, "is not a directory"]),
        (["--out", "."], &["--out: . is not a name"]),
        (["--out", "/proc/out"], &["--out: cannot write /proc/out"]),
    ] {
        refused(["run", file].into_iter().chain(options), 2, parts);
    }
    let large = directory.path().join("large.toml");
    fs::write(&large, " ".repeat((16 << 20) + 1)).expect("written");
    let large = large.to_str().expect("a name");
    refused(["run", large], 2, &["large.toml: is larger than 16 MiB"]);
    refused(["sweep", large], 2, &["large.toml: is larger than 16 MiB"]);
    refused(["run", "no-such.toml"], 2, &["cannot read no-such.toml"]);
    refused(["run"], 2, &["<SCENARIO>", "fullpipe run --help"]);
}

#[test]
fn a_directory_holds_everything_and_only_a_record_is_replaced() {
    let (directory, file) = scenario();
    let out = directory.path().join("out");
    let out = out.to_str().expect("a name");
    for _ in 0..2 {
        let also = ["--qlog", "1", "--grid", "10ms"];
        let printed = summary([file.as_str(), "--out", out].into_iter().chain(also));
        let text = fs::read(Path::new(out).join("summary.json")).expect("there");
        let mut written: Value = serde_json::from_slice(&text).expect("JSON");
        written["wall_s"].take();
        assert_eq!(written, printed);
        for file in report::FILES
            .into_iter()
            .chain(["flow-1.sqlog", "grid.parquet"])
        {
            let size = Path::new(out).join(file).metadata().expect(file).len();
            assert!(size > 100, "{file}");
        }
        let page = fs::read_to_string(Path::new(out).join("report.html")).expect("a page");
        assert!(
            page.contains("--set") || page.contains("fullpipe run"),
            "{page}"
        );
    }
    fs::write(Path::new(out).join("notes"), "mine").expect("written");
    refused(["run", &file, "--out", out], 2, &[out, "notes"]);
    refused(
        ["run", &file, "--out", "no/such/place"],
        2,
        &["no/such/place", "no directory"],
    );
    refused(["run", &file, "--qlog", "1"], 2, &["--out"]);
    refused(["run", &file, "--grid", "10ms"], 2, &["--out"]);
    for (step, parts) in [
        ("0ms", &["--grid 0s", "such as 10ms"][..]),
        ("10", &["--grid"]),
        // Two flows of two seconds, forty million times a second.
        (
            "25ns",
            &["--grid 25ns", "160000002 rows, more than 100000000"],
        ),
    ] {
        refused(["run", &file, "--grid", step, "--out", "x"], 2, parts);
    }
    refused(
        ["run", &file, "--qlog", "2", "--out", "x"],
        2,
        &["--qlog 2", "flows 0 to 1"],
    );
}

#[test]
fn ctrl_c_leaves_what_there_is_by_then() {
    let (directory, file) = scenario();
    let arguments = [
        "run",
        &file,
        "--engine",
        "quic",
        "--set",
        "duration=5min",
        "--out",
        "out",
    ];
    let mut run = Running::start(directory.path(), arguments);
    run.stderr_line_with("two: ");
    std::thread::sleep(std::time::Duration::from_millis(500));
    run.signal(Signal::INT);
    let (stdout, stderr) = run.finish_with(130);
    assert!(stdout.contains("bbr1"), "{stdout}");
    assert!(
        stderr.ends_with("fullpipe: interrupted; this is what happened until then\n"),
        "{stderr}"
    );
    let page = fs::read_to_string(directory.path().join("out/report.html")).expect("a page");
    assert!(page.contains("Ended before its time"));
    let text = fs::read(directory.path().join("out/summary.json")).expect("there");
    let summary: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(summary["partial"], true);
}

#[test]
fn the_kernels_own_tcp_runs_it_or_one_line_says_what_is_missing() {
    let (_directory, file) = scenario();
    let arguments = [
        "run",
        "--engine",
        "linux",
        "--json",
        "--quiet",
        file.as_str(),
    ];
    let output = fullpipe(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(0) {
        skipping::skip!("run --engine linux: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(output.stdout.is_empty());
        return;
    }
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(summary["engine"], "linux");
    assert!(
        summary["flows"][0]["delivered_bytes"].as_u64() > Some(0),
        "{summary}"
    );
    assert!(summary["flows"][1]["busy_s"].is_number(), "{summary}");
}

#[test]
fn a_kernels_controller_is_for_engine_linux_alone() {
    let (_directory, file) = scenario();
    for engine in ["sim", "quic"] {
        let run = ["run", "--engine", engine, file.as_str()];
        let set = ["--set", "flow.1.controller=kernel:bbr"];
        let parts = ["flow[1].controller: kernel:bbr", "engine linux"];
        refused(run.into_iter().chain(set), 2, &parts);
    }
    let race = ["race", "--controllers", "kernel:bbr"];
    refused(race, 2, &["--controllers", "bbr1, cubic, reno"]);
}

#[test]
fn a_file_that_may_not_grow_is_told() {
    let (directory, file) = scenario();
    let out = directory.path().join("out");
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 1; exec \"$@\"", "sh"])
        .args([env!("CARGO_BIN_EXE_fullpipe"), "run", &file, "--out"])
        .arg(&out)
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    assert!(!out.exists());
}

#[test]
fn results_without_a_place_are_refused_before_the_run_and_leave_nothing() {
    let (directory, file) = scenario();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let [out, inside, taken] = ["out", "out/packets", "taken"].map(at);
    let long = at(&"x".repeat(250));
    fs::create_dir_all(at("taken/receiver.pcapng")).expect("room");
    for (options, part) in [
        (
            &["--out", &*out, "--pcap", &out][..],
            "is also the place of --out",
        ),
        (
            &["--out", &out, "--pcap", &inside],
            "is in the directory of --out",
        ),
        (&["--out", &long], "the name is too long: it has 250 bytes"),
        (&["--pcap", &taken], "receiver.pcapng: is a directory"),
    ] {
        let all = ["run", &file].into_iter().chain(options.iter().copied());
        refused(all, 2, &[part]);
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 1; exec \"$@\"", "sh"])
        .args([
            env!("CARGO_BIN_EXE_fullpipe"),
            "run",
            &file,
            "--pcap",
            &at("no/packets"),
        ])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_named = ["sender", "receiver"].map(|end| {
        let said = format!(
            "cannot write the capture: {}: File too large",
            at(&format!("no/packets/{end}.pcapng"))
        );
        stderr.contains(&said)
    });
    assert!(is_named.contains(&true), "{stderr}");
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
}
