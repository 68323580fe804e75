//! Help, versions, and arguments that cannot be understood.

use predicates::str::{contains, starts_with};

use crate::support::{fullpipe as proof, refused};

#[test]
fn help_lists_the_commands_and_each_explains_its_options() {
    let help = proof(["--help"]).output().expect("runs").stdout;
    let help = String::from_utf8(help).expect("text");
    for (command, options) in [
        (
            "calibrate",
            &["[CASE]...", "--engines", "--quick", "--reuse", "--document"][..],
        ),
        ("cdn", &["<CDN.toml>", "--out", "--engine", "--seed"]),
        (
            "claims",
            &["[ID]...", "--engine", "--quick", "--list", "--document"],
        ),
        ("figures", &["[NAME]...", "--engine", "--out"]),
        ("intervals", &["--studies", "--seed"]),
        ("population", &["--scenarios", "--members", "--document"]),
        ("evaluate", &["--quick", "--only", "--document", "--check"]),
        ("variants", &["[NAME]...", "--quick", "--document"]),
    ] {
        assert!(help.contains(command), "{help}");
        let mut assert = proof([command, "--help"]).assert().success();
        for option in options {
            assert = assert.stdout(contains(*option));
        }
    }
    assert!(!help.contains("-of-a-"), "{help}");
    let version = proof(["--version"]).assert().success();
    version.stdout(starts_with("fullpipe-proof "));
}

#[test]
fn options_may_stand_between_names() {
    for arguments in [
        &["claims", "loss-sweep", "--quick", "no-such", "--list"][..],
        &["figures", "paper-1", "--quick", "no-such", "--list"],
        &["calibrate", "--list", "bbr1-*", "--quick", "no-such"],
    ] {
        refused(arguments.iter().copied(), 2, &["no-such"]);
    }
}

#[test]
fn a_negative_number_is_a_wrong_value() {
    refused(["calibrate", "--repeats", "-1"], 2, &["'-1'", "--repeats"]);
}

#[test]
fn a_command_of_the_other_program_is_told() {
    refused(
        ["race"],
        2,
        &["race is a command of fullpipe: fullpipe race"],
    );
}
