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
        .and(contains("probe"))
        .and(contains("calibrate"))
        .and(contains("claims"))
        .and(contains("run"))
        .and(contains("sweep"))
        .and(contains("shell"));
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
            "calibrate",
            &["[CASE]...", "--engines", "--quick", "--reuse", "--document"],
        ),
        (
            "claims",
            &["[ID]...", "--engine", "--quick", "--list", "--document"],
        ),
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
                "<FILE>...",
                "[TICKET]",
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
    refused([], 2, &["emulate", "race", "fullpipe --help"]);
    refused(["walk"], 2, &["'walk'", "fullpipe --help"]);
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
