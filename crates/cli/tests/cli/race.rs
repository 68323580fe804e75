//! `fullpipe race`, on small transfers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, refused};

/// The names in a directory, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The keys of a JSON object.
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn assert_has(value: &Value, expected: &[&str]) {
    let found = keys(value);
    for key in expected {
        assert!(found.contains(key), "no {key} in {found:?}");
    }
}

const QUICK: [&str; 8] = [
    "race", "--bytes", "300kb", "--rate", "20mbit", "--rtt", "10ms", "--json",
];

#[test]
fn the_summary_has_its_fields() {
    let directory = tempfile::tempdir().expect("a directory");
    let (stdout, _) = Running::start(directory.path(), QUICK).finish_with(0);
    assert_eq!(names(directory.path()), [""; 0]);
    let summaries: Value = serde_json::from_str(&stdout).expect("JSON alone");
    let summaries = summaries.as_array().expect("one summary a lane");
    let controllers = summaries
        .iter()
        .map(|lane| lane["flows"][0]["controller"].as_str());
    assert_eq!(
        controllers.collect::<Vec<_>>(),
        [Some("bbr3"), Some("bbr1"), Some("cubic")]
    );
    for lane in summaries {
        assert_has(
            lane,
            &[
                "scenario",
                "engine",
                "seed",
                "duration_s",
                "wall_s",
                "path",
                "flows",
                "fairness",
            ],
        );
        assert_eq!(
            (lane["engine"].as_str(), lane["seed"].as_u64()),
            (Some("quic"), Some(1))
        );
        let path = &lane["path"];
        assert_has(path, &["utilization", "queue_ms", "drops", "random_losses"]);
        assert_eq!(path["rate_bps"], 20_000_000);
        assert_eq!(path["rtprop_ms"], 10.0);
        assert_eq!(path["buffer_bytes"], 200_000);
        assert_has(&path["queue_ms"], &["mean", "p95", "max"]);
        let flow = &lane["flows"][0];
        assert_has(
            flow,
            &[
                "id",
                "start_s",
                "goodput_bps",
                "timeouts",
                "packets_lost",
                "retransmitted_bytes",
            ],
        );
        assert_has(&flow["rtt_ms"], &["min", "p50", "mean", "p95", "max"]);
        assert_eq!(flow["delivered_bytes"], 300_000);
        assert!(flow["sent_bytes"].as_u64() > Some(300_000), "{flow}");
        assert!(flow["completed_s"].as_f64() > Some(0.0), "{flow}");
        assert!(flow["rtt_ms"]["min"].as_f64() >= Some(10.0), "{flow}");
    }
}

#[test]
fn a_file_on_one_bottleneck_ends_with_a_table_and_a_report() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("it's a file");
    fs::write(&file, vec![7; 200_000]).expect("written");
    let race = [
        "race",
        "it's a file",
        "--share",
        "--controllers",
        "reno,reno,bbr1",
        "--rtt",
        "5ms",
    ];
    for _ in 0..2 {
        let (stdout, stderr) = Running::start(directory.path(), race).finish_with(0);
        for part in ["controller", "RTT", "reno #1", "reno #2", "bbr1", "Jain"] {
            assert!(stdout.contains(part), "no {part} in {stdout}");
        }
        assert!(stderr.contains("report: fullpipe-race.html"), "{stderr}");
        assert!(
            !stderr.contains('\u{1b}'),
            "no terminal, so no bars: {stderr}"
        );
    }
    // The second report has replaced the first.
    assert_eq!(
        names(directory.path()),
        ["fullpipe-race.html", "it's a file"]
    );
    let report = fs::read_to_string(directory.path().join("fullpipe-race.html")).expect("a report");
    assert!(report.starts_with("<!doctype html>"), "{}", &report[..100]);
    assert!(report.contains("--controllers reno,reno,bbr1"));
}

#[test]
fn a_transfer_that_was_cut_off_is_not_said_to_be_done() {
    let directory = tempfile::tempdir().expect("a directory");
    let race = [
        "race",
        "--bytes",
        "1gb",
        "--duration",
        "300ms",
        "--rtt",
        "5ms",
    ];
    let (stdout, stderr) = Running::start(directory.path(), race).finish_with(0);
    // Times count from a flow's start, which is late on a busy machine.
    assert!(stdout.contains("> 0."), "{stdout}");
    assert!(
        stderr.contains("bbr1: ") && stderr.contains("cut off after 300 ms"),
        "{stderr}"
    );
    assert!(!stderr.contains("done"), "{stderr}");
}

#[test]
fn ctrl_c_leaves_a_table_and_the_report_that_was_asked_for() {
    const INTERRUPTED: &str = "fullpipe: interrupted; this is what happened until then\n";
    let directory = tempfile::tempdir().expect("a directory");
    let race = ["race", "--duration", "5min", "--rtt", "5ms"];
    let named = [&race[..], &["--report", "r.html"]].concat();
    let said = format!("report: r.html\n{INTERRUPTED}");
    for (race, said, files) in [
        (race.to_vec(), INTERRUPTED, vec![]),
        (named, &said, vec!["r.html"]),
    ] {
        let mut race = Running::start(directory.path(), race);
        race.stderr_line_with("RTprop");
        race.signal(Signal::INT);
        let (stdout, stderr) = race.finish_with(130);
        assert!(
            stdout.contains("bbr1") && stdout.contains("cubic"),
            "{stdout}"
        );
        assert_eq!(stderr, said);
        assert_eq!(names(directory.path()), files);
    }
    let page = fs::read_to_string(directory.path().join("r.html")).expect("a report");
    assert!(page.contains("Ended before its time"));
}

#[test]
fn nothing_but_a_report_is_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let notes = directory.path().join("notes.html");
    fs::write(&notes, "<p>mine</p>").expect("written");
    let notes = notes.to_str().expect("a name");
    refused(
        ["race", "--report", notes],
        2,
        &["--report", notes, "no Fullpipe report"],
    );
    assert_eq!(fs::read_to_string(notes).expect("there"), "<p>mine</p>");
    let slash = directory.path().join("new.html/");
    refused(
        ["race", "--report", slash.to_str().expect("a name")],
        2,
        &["--report", "new.html/: names a directory"],
    );
    let link = directory.path().join("link.html");
    symlink("gone.html", &link).expect("linked");
    refused(
        ["race", "--report", link.to_str().expect("a name")],
        2,
        &[
            "--report",
            "link.html: leads to ",
            "gone.html, which does not exist",
        ],
    );
    let nowhere = directory.path().join("none/race.html");
    refused(
        ["race", "--report", nowhere.to_str().expect("a name")],
        2,
        &["--report", "no directory"],
    );
}

#[test]
fn notes_that_appear_during_the_race_stay() {
    let directory = tempfile::tempdir().expect("a directory");
    let race = ["race", "--duration", "2s", "--rtt", "5ms"];
    let mut race = Running::start(directory.path(), race);
    race.stderr_line_with("RTprop");
    let notes = directory.path().join("fullpipe-race.html");
    fs::write(&notes, "mine").expect("written");
    let (_, stderr) = race.finish_with(0);
    assert!(
        stderr.contains(
            "report: fullpipe-race-2.html instead (--report fullpipe-race.html: exists and is no"
        ),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(&notes).expect("there"), "mine");
    assert_eq!(
        names(directory.path()),
        ["fullpipe-race-2.html", "fullpipe-race.html"]
    );
}

#[test]
fn a_path_of_which_any_part_is_given_loses_nothing_unasked() {
    let directory = tempfile::tempdir().expect("a directory");
    let race = |options: &[&str]| {
        let race = ["race", "--bytes", "20kb", "--json"];
        let arguments = race.iter().chain(options).copied();
        let (status, stdout, stderr) = Running::start(directory.path(), arguments).finish();
        assert_eq!(status.code(), Some(0), "{stdout}");
        stderr.lines().next().expect("what is raced").to_owned()
    };
    let whole = "20 kB over 20.0 Mbit/s, RTprop 40 ms, buffer 8 BDP (800 kB)";
    assert_eq!(race(&[]), format!("{whole}, loss 1 %"));
    assert_eq!(race(&["--rtt", "40ms"]), whole);
    assert_eq!(race(&["--queue", "codel"]), format!("{whole}, queue codel"));
    let exit = race(&["--loss", "0.5%", "--loss-at", "exit"]);
    assert_eq!(exit, format!("{whole}, loss 0.5 % behind the bottleneck"));
}

#[test]
fn a_path_that_makes_no_sense_is_named_by_its_options() {
    let digits = "9".repeat(100_000);
    for (options, parts) in [
        (
            &["--rtt", "0ms"][..],
            &["--buffer: the default of 8bdp"][..],
        ),
        (
            &["--loss", "100%"],
            &["--loss: at a share of 100% nothing arrives"],
        ),
        (
            &["--loss", "1"],
            &["--loss: 1 could be all or one in a hundred; write 100% or 1%"],
        ),
        (&["--rate", &digits], &["--rate: ", "9…\": expected a rate"]),
        (
            &["--queue", "kind=fq_codel,flows=4000000000"],
            &["--queue: flows: 4000000000 is not a possible number"],
        ),
    ] {
        refused(
            ["race"].into_iter().chain(options.iter().copied()),
            2,
            parts,
        );
    }
}

#[test]
fn impossible_races_are_refused() {
    let json = ["race", "--json"];
    for (options, code, parts) in [
        (["--controllers", "bbr9"], 2, ["bbr9", "bbr1, cubic, reno"]),
        (
            ["--controllers", ""],
            2,
            ["--controllers", "bbr1, cubic, reno"],
        ),
        (["--rate", "0"], 2, ["--rate", "20mbit"]),
        (["--loss", "101%"], 2, ["--loss", "100%"]),
        (["--buffer", "1b"], 2, ["--buffer", "packet"]),
        (["--loss-at", "exit"], 2, ["--loss-at", "without loss"]),
        (["--rate", "99999999tbit"], 2, ["--rate", "too large"]),
        (["--report", "/proc/r.html"], 2, ["--report", "/proc"]),
        (["--report", "/dev/null"], 2, ["--report", "is not a file"]),
        (["--report", "-"], 2, ["--report -", "to stdout"]),
        (["--duration", "0"], 2, ["--duration", "30s"]),
        (["--bytes", "0"], 2, ["--bytes", "8mib"]),
        (["--bytes", "five"], 2, ["--bytes", "8mib"]),
        (
            ["--trace", "no-such.trace"],
            2,
            ["--trace", "no-such.trace"],
        ),
        (["--seed", "one"], 2, ["--seed", "one"]),
        (
            ["no-such-file", "--share"],
            2,
            ["no-such-file", "cannot read"],
        ),
    ] {
        refused(json.into_iter().chain(options), code, &parts);
    }
}
