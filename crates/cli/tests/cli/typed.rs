//! Typed input: it is understood, or answered with one helpful line.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{fullpipe, refused};

const SCENARIO: &str = "name = \"typed\"\nduration = \"1s\"\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\nbuffer = \"2bdp\"\n\
                        [[flow]]\ncontroller = \"bbr1\"\n";
const SWEEP: &str =
    "scenario = \"typed.toml\"\n[axes]\n\"path.loss\" = { from = 0, to = 5, steps = 6 }\n";

/// A directory with a scenario and a sweep, and the names of both.
fn files() -> (tempfile::TempDir, String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let [scenario, sweep] =
        [("typed.toml", SCENARIO), ("sweep.toml", SWEEP)].map(|(name, text)| {
            let file = directory.path().join(name);
            fs::write(&file, text).expect("written");
            file.display().to_string()
        });
    (directory, scenario, sweep)
}

#[test]
fn what_fullpipe_prints_can_be_typed() {
    let (_directory, file, _) = files();
    let usual = ["run", "--json", "--quiet", &file];
    let path = |options: &[&str]| {
        let output = fullpipe(usual.into_iter().chain(options.iter().copied())).output();
        let output = output.expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {stderr}");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (
            summary["path"].clone(),
            summary["flows"][0]["controller"].clone(),
        )
    };
    let typed = [
        "--set",
        "path.rate=20.0 Mbit/s",
        "--set",
        "path.rtt=40.0 ms",
        "--set",
        "path.buffer=4BDP",
        "--set",
        "path.loss=1 %",
        "--set",
        "path.queue=CoDel",
        "--set",
        "flow.controller=BBR3",
        "--engine",
        "SIM",
    ];
    let plain = [
        "--set",
        "path.rate=20mbit",
        "--set",
        "path.rtt=40ms",
        "--set",
        "path.buffer=4bdp",
        "--set",
        "path.loss=1%",
        "--set",
        "path.queue=codel",
        "--set",
        "flow.controller=bbr3",
    ];
    assert_eq!(path(&typed), path(&plain));
    assert_eq!(
        path(&["--set", "path.rate=2.5MB/s"]).0["rate_bps"],
        20_000_000
    );
}

#[test]
fn what_is_meant_is_told() {
    let (_directory, scenario, sweep) = files();
    for (arguments, parts) in [
        (
            &["run", &scenario, "--set", "loss=2%"][..],
            &["--set loss=2%: ", "did you mean `path.loss=2%`?"][..],
        ),
        (
            &["run", &scenario, "--set", "path.bandwidth=2mbit"],
            &[
                "--set path.bandwidth=2mbit: ",
                "did you mean `path.rate=2mbit`?",
            ],
        ),
        (
            &["run", &scenario, "--set", "flow.contoller=cubic"],
            &["did you mean `flow.controller=cubic`?"],
        ),
        (
            &["sweep", &sweep, "--set", "path.rate=10..20mbit"],
            &[
                "give the sweep's [axes] \"path.rate\" = { from = \"10mbit\", to = \"20mbit\", steps = 5 }",
            ],
        ),
        (
            &["run", &scenario, "--set", "path.rate=20Mbps"],
            &["bits or bytes", "20Mbit/s", "2.5MB/s"],
        ),
        (
            &["run", &scenario, "--set", "path.loss=3"],
            &["3 is more than 100%; write 3%"],
        ),
        (
            &["run", &sweep],
            &["sweep.toml: is a sweep; use `fullpipe sweep`"],
        ),
        (
            &["sweep", &scenario],
            &["typed.toml: is a scenario; use `fullpipe run`"],
        ),
        (
            &["probe", &scenario],
            &["is a scenario; use `fullpipe run`"],
        ),
        (
            &["study", &scenario, "--out", "/no/such"],
            &["is a scenario; use `fullpipe run`"],
        ),
        (
            &["steer", &scenario],
            &["is a scenario; use `fullpipe run`"],
        ),
        // The message must not name 1, the first value of an invalid range.
        (
            &["sweep", &sweep, "--out", "/no/such"],
            &[
                "line 3: path.loss=5: ",
                "5 is more than 100%; write 5% if percent are meant",
            ],
        ),
        (
            &[
                "advise", "--rate", "1mbit", "--rtt", "40ms", "--loss", "0..5",
            ],
            &["--loss: in 0..5, 5 is more than 100%; write 5%"],
        ),
        (
            &["run", &scenario, "--loss", "2%"],
            &[
                "unexpected argument '--loss' found; a field of the scenario is set with --set path.loss=VALUE (see",
            ],
        ),
        (
            &["run", &scenario, "--bandwidth=2mbit"],
            &["--set path.rate=VALUE"],
        ),
        (
            &["run", &scenario, "--duration", "2s"],
            &["--set duration=VALUE"],
        ),
        (
            &["run", &scenario, "--set", "path.loss", "2%"],
            &["--set takes one word: path.loss=2%"],
        ),
        (&["run", &scenario, "--seed", "1..5"], &["repeats = 5"]),
        (
            &["run", scenario.trim_end_matches(".toml")],
            &["typed: No such file", "; did you mean `", "typed.toml`?"],
        ),
        (
            &[
                "advise",
                "--rate",
                "1mbit",
                "--rtt",
                "40ms",
                "--controllers",
                "bbr1",
                "cubic",
            ],
            &["several values are one word: --controllers bbr1,cubic"],
        ),
        (
            &["race", "--controllers", "bbr1 cubic"],
            &["several values are joined by commas: --controllers bbr1,cubic"],
        ),
        (
            &["advise", "--rate", "10mbit,20mbit", "--rtt", "20ms"],
            &["--rate: 10mbit,20mbit are several values; give their range: 10mbit..20mbit"],
        ),
        (
            &["race", "--bandwidth", "10mbit"],
            &["'--bandwidth' found; did you mean `--rate`? (see"],
        ),
        (
            &["emulate", "--delay", "20ms"],
            &["'--delay' found; did you mean `--rtt`? (see"],
        ),
        (
            &["advise", "--latency", "20ms"],
            &["'--latency' found; did you mean `--rtt`? (see"],
        ),
        (
            &["shell", "--bw=1mbit"],
            &["'--bw' found; did you mean `--rate`? (see"],
        ),
        (
            &["race", "--ratte", "1mbit"],
            &["'--ratte' found; ", "--rate"],
        ),
        (
            &["race", "--controllers", "bbr1", "cubic"],
            &["there is no file cubic; several controllers are one word: --controllers bbr1,cubic"],
        ),
        (
            &["race", "--rate", "10..20mbit"],
            &["--rate: 10..20mbit is a range, which only `fullpipe advise` takes; give one value"],
        ),
        (
            &["doctor", "--all"],
            &["unexpected argument '--all' found (see"],
        ),
        (&["watch", "prot=1"], &["prot=1", "did you mean `port`?"]),
        (&["race", "--controllers", "BBR4"], &["did you mean `bbr"]),
    ] {
        refused(arguments.iter().copied(), 2, parts);
    }
}

#[test]
fn several_values_are_told_as_the_sweep_that_they_are() {
    let (directory, ..) = files();
    let path = directory.path();
    for (sets, points) in [
        (&["path.rate=10..20Mbit/s"][..], 5),
        (&["path.loss=0,1%, 2 %", "duration=2s"], 3),
        (
            &["flow.controller=[bbr1,'cubic']", "path.buffer=1..4bdp"],
            10,
        ),
    ] {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments = ["run", "typed.toml"].into_iter().chain(sets);
        let output = fullpipe(arguments).current_dir(path).output();
        let output = output.expect("runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        let (what, command) = told.trim().split_once("; for several: ").expect(&told);
        assert!(what.contains("a run has one value of each field"), "{told}");
        // The printed command works.
        let program = env!("CARGO_BIN_EXE_fullpipe");
        let command = command.replace("| fullpipe ", &format!("| '{program}' "));
        let command = format!("{command} --out {points} --json --quiet");
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(path)
            .output();
        let output = output.expect("a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {told}");
        let runs = fs::read_to_string(path.join(format!("{points}/runs.jsonl"))).expect("runs");
        assert_eq!(runs.lines().count(), points, "{command}");
    }
    // An invalid value is reported as such.
    let file = path.join("typed.toml").display().to_string();
    refused(
        ["run", &file, "--set", "path.rate=10..20ms"],
        2,
        &["--set path.rate=10..20ms: "],
    );
    // Among several values, the invalid one is reported with its bound.
    refused(
        ["run", &file, "--set", "host.mss=1448,9000"],
        2,
        &["--set host.mss=9000: ", "give 536 to 8948 bytes"],
    );
}

#[test]
fn all_that_a_study_lacks_is_named_at_once() {
    refused(
        ["study", "--cgroup", "system.slice"],
        2,
        &[
            "missing: --listen or --connect PORTS, --arm CONTROLLER=SHARE, --unit UNIT, --duration TIME, --out DIR",
        ],
    );
    refused(
        ["study"],
        2,
        &["missing: PLAN.toml (or options instead of it, such as --cgroup DIR), --out DIR"],
    );
    refused(
        "study --arm cubic=90% bbr=10% --out /no/such".split_whitespace(),
        2,
        &["give --arm again for each arm: --arm bbr=10%"],
    );
    let arms = "study --cgroup a --listen 443 --arm cubic=90 --arm bbr=10 --unit prefix --duration 7d --out /no/such";
    refused(
        arms.split_whitespace(),
        2,
        &["--arm: 90 is more than 100%; write 90% if percent are meant"],
    );
}
