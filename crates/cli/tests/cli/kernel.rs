//! `fullpipe kernel`, as far as it needs no privileges.

use predicates::str::contains;

use crate::support::{fullpipe, refused};

#[test]
fn what_makes_no_sense_is_named() {
    for (arguments, parts) in [
        (&["load"][..], &["<CONTROLLER>"][..]),
        (&["load", "bbr9"], &["'bbr9'", "bbr1"]),
        (&["unload", "cubic"], &["'cubic'", "bbr1"]),
        (
            &["load", "bbr1", "--set", "cwnd-gain=2"],
            &["--set cwnd-gain=2", "CONTROLLER.NAME=VALUE"],
        ),
        (
            &["load", "bbr1", "--set", "bbr1.gain=2"],
            &["no parameter gain", "cwnd-gain"],
        ),
        (
            &["load", "bbr1", "--set", "bbr1.policer-model=2"],
            &["policer-model", "on or off"],
        ),
        (&["default", "no_such"], &["no_such", "it offers", "reno"]),
    ] {
        let arguments = ["kernel"].iter().chain(arguments).copied();
        refused(arguments, 2, parts);
    }
}

#[test]
fn the_default_is_shown() {
    let expected = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    let assert = fullpipe(["kernel", "default"]).assert().success();
    assert.stdout(expected.expect("this test runs on Linux"));
}

/// In most builds this is the first missing requirement. In the others nothing may be missing.
#[test]
fn check_says_what_is_lacking() {
    let check = fullpipe(["kernel", "check"]).assert();
    if cfg!(feature = "kernel") {
        check.stdout(contains("BTF"));
    } else {
        check.code(1).stdout(contains("lacking  program: "));
        refused(["kernel", "load", "bbr1"], 1, &["--features kernel"]);
        refused(["kernel", "status"], 1, &["--features kernel"]);
    }
}
