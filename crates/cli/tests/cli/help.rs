//! Help, versions, and arguments that cannot be understood.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, is_empty, starts_with};

use crate::support::{fullpipe, refused};

#[test]
fn help_lists_the_commands() {
    let commands = contains("emulate")
        .and(contains("send"))
        .and(contains("recv"))
        .and(contains("race"))
        .and(contains("rates"))
        .and(contains("advise"))
        .and(contains("diagnose"))
        .and(contains("doctor"))
        .and(contains("probe"))
        .and(contains("run"))
        .and(contains("sweep"))
        .and(contains("shell"))
        .and(contains("watch"))
        .and(contains("study"))
        .and(contains("steer"))
        .and(contains("kernel"));
    fullpipe(["--help"])
        .assert()
        .success()
        .stdout(commands)
        .stderr(is_empty());
    fullpipe(["--version"])
        .assert()
        .success()
        .stdout(starts_with("fullpipe "));
}

#[test]
fn without_arguments_the_help_is_shown() {
    let help = fullpipe(["--help"]).output().expect("runs").stdout;
    let output = fullpipe([]).output().expect("runs");
    assert_eq!(output.status.code(), Some(0));
    // The short and the long help start alike and list the same commands.
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("Usage: fullpipe") && text.contains("recv"),
        "{text}"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    for shown in [text, String::from_utf8(help).expect("text")] {
        assert!(!shown.contains("-of-a-"), "{shown}");
    }
}

#[test]
fn what_is_for_the_program_alone_is_never_offered() {
    for near in ["init", "init-of-a-comand", "undo-of-a-stdy"] {
        let output = fullpipe([near]).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            !stderr.contains("init-of-a-command") && !stderr.contains("undo-of-a-study"),
            "{stderr}"
        );
    }
}

#[test]
fn a_negative_number_is_a_wrong_value() {
    let seed = "expected a whole number from 0 to 18446744073709551615";
    for arguments in [
        &["race", "--seed", "-1"][..],
        &["run", "x.toml", "--seed", "-1"],
        &["shell", "--seed", "-1", "--", "true"],
        &["emulate", "--seed", "-1"],
    ] {
        refused(arguments.iter().copied(), 2, &["'-1'", "--seed", seed]);
    }
    for rounds in ["-1", "0"] {
        let arguments = ["probe", "x.toml", "--rounds", rounds];
        refused(
            arguments,
            2,
            &["--rounds", "expected a whole number from 1 to 100000"],
        );
    }
    let arguments = ["sweep", "x.toml", "--jobs", "-1"];
    refused(arguments, 2, &["'-1'", "--jobs"]);
}

#[test]
fn each_command_explains_its_options() {
    for (command, options) in [
        (
            "emulate",
            &[
                "--listen",
                "--to",
                "--per-client",
                "--rate",
                "--trace",
                "--json",
            ][..],
        ),
        (
            "diagnose",
            &[
                "<CAPTURE>...",
                "--keys",
                "--connection",
                "--report",
                "tcpdump",
            ],
        ),
        ("doctor", &["--json", "changes nothing"]),
        ("recv", &["--listen", "--out", "--overwrite"]),
        (
            "run",
            &["<SCENARIO>", "--engine", "--set", "--out", "--qlog", "sim"],
        ),
        (
            "sweep",
            &["<SWEEP>", "--jobs", "--out", "--plot", "sweep.parquet"],
        ),
        (
            "shell",
            &[
                "<COMMAND>...",
                "--direction",
                "--serve",
                "--uplink",
                "--json",
            ],
        ),
        (
            "send",
            &[
                "<FILE|TICKET>...",
                "--ticket-file",
                "FULLPIPE_TICKET",
                "--name",
                "--controller",
            ],
        ),
        (
            "probe",
            &["[PROBE]", "--rounds", "--duration", "--serve", "--identity"],
        ),
        (
            "watch",
            &[
                "[FILTER]...",
                "--sort",
                "--group",
                "--record",
                "--prometheus",
                "--otlp",
                "ratio",
            ],
        ),
        (
            "race",
            &[
                "[FILE]",
                "--controllers",
                "--share",
                "--report",
                "--rtt",
                "--loss",
            ],
        ),
    ] {
        let mut assert = fullpipe([command, "--help"]).assert().success();
        for option in options {
            assert = assert.stdout(contains(*option));
        }
    }
}

#[test]
fn arguments_that_make_no_sense_get_one_line() {
    refused(["walk"], 2, &["'walk'", "fullpipe --help"]);
    refused(
        ["claims"],
        2,
        &[
            "claims is a command of fullpipe-proof; in a clone: cargo run --release -p fullpipe-proof -- claims",
        ],
    );
    refused(
        ["race", "--controlers", "bbr1"],
        2,
        &["--controlers", "'--controllers'", "fullpipe race --help"],
    );
    refused(["send"], 2, &["<FILE>...", "fullpipe send --help"]);
    refused(
        ["emulate", "--listen", "127.0.0.1:0"],
        2,
        &["--to <ADDR>", "fullpipe emulate --help"],
    );
}
