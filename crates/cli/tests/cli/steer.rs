//! `fullpipe steer`, as far as it needs no privileges.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::support::{fullpipe, refused};

pub const POLICY: &str = "cgroup = \"no/such/group\"\n[[rule]]\nname = \"far\"\nlisten = [443]\nrtt_from = \"50ms\"\n\
    prefix = [\"192.0.2.0/24\"]\ncontroller = \"reno\"\nevidence = \"a study\"\n";

#[test]
fn a_misspelt_subcommand_is_told() {
    refused(
        ["steer", "lear"],
        2,
        &[
            "lear: ",
            "give the file of a policy, or a subcommand: learn, why, rollback, stop",
        ],
    );
}

#[test]
fn a_policy_explains_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("policy.toml");
    let name = file.to_str().expect("a name");
    fs::write(&file, POLICY).expect("a policy");
    for (address, rtt, answer) in [
        ("192.0.2.7", "50ms", "reno: rule \"far\"; a study\n"),
        (
            "192.0.2.7",
            "49ms",
            "no rule matches: the connection has the default controller\n",
        ),
        (
            "192.0.3.7",
            "50ms",
            "no rule matches: the connection has the default controller\n",
        ),
    ] {
        let arguments = ["steer", "why", address, name, "--rtt", rtt];
        fullpipe(arguments).assert().success().stdout(answer);
    }
    for (more, reason) in [
        (
            &["--port", "8081"][..],
            "no rule has port 8081 in listen: --port names another",
        ),
        (
            &["--outgoing"],
            "no rule has port 443 in connect: --port names another",
        ),
    ] {
        let arguments = ["steer", "why", "192.0.2.7", name, "--rtt", "50ms"];
        let why = fullpipe(arguments.iter().chain(more).copied()).assert();
        why.success().stdout(contains(reason));
    }
    // Unknown values of a connection are named.
    let text = POLICY.replace("rtt_from", "interface = [\"eth0\"]\nrtt_from");
    fs::write(&file, text).expect("a policy");
    let arguments = ["steer", "why", "192.0.2.7", name, "--rtt", "50ms"];
    let why = fullpipe(arguments).assert().success();
    why.stdout(contains("no rule matches"))
        .stderr(contains("not known here").and(contains("--interface")));
    let known = arguments.iter().chain(&["--interface", "eth0"]).copied();
    let why = fullpipe(known).assert().success();
    why.stdout("reno: rule \"far\"; a study\n")
        .stderr(contains("not known here").not());
    for (said, what) in [
        (
            &["--rtt", "50ms", "--interface", "eht0"][..],
            "no rule names the interface eht0",
        ),
        (
            &["--interface", "eth0"],
            "the RTT of the handshake is not known here",
        ),
    ] {
        let arguments = ["steer", "why", "192.0.2.7", name];
        let why = fullpipe(arguments.iter().chain(said).copied()).assert();
        why.stdout(contains("no rule matches"))
            .stderr(contains(what));
    }
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert().code(2);
    dry_run.stdout(contains(
        "far: 1 network through eth0, listen 443, RTT from 50ms: reno",
    ));
    fs::write(
        &file,
        POLICY.replace("rtt_from = \"50ms\"", "resent_from = \"2%\""),
    )
    .expect("a policy");
    for (more, answer) in [
        (&[][..], "no rule matches"),
        (&["--resent", "1.9%"], "no rule matches"),
        (&["--resent", "2%"], "reno: rule \"far\""),
    ] {
        let arguments = ["steer", "why", "192.0.2.7", name];
        let why = fullpipe(arguments.iter().chain(more).copied()).assert();
        why.success().stdout(contains(answer));
    }
    let arguments = ["steer", "why", "192.0.2.7", name, "--resent", "101%"];
    refused(arguments, 2, &["--resent", "100%"]);
    fs::write(&file, POLICY).expect("a policy");
    // No policy is in force in a missing control group, and the message says so.
    let arguments = ["steer", "why", "192.0.2.7", name];
    let why = fullpipe(arguments).assert().success();
    why.stderr(contains("this is the decision of").and(contains(name)));
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert().code(2);
    dry_run
        .stdout(contains(
            "far: 1 network, listen 443, RTT from 50ms: reno 100.0 %",
        ))
        .stderr(contains(name).and(contains("cgroup")));
    let with_port = ["steer", name, "--dry-run", "--prometheus", "9101"];
    let dry_run = fullpipe(with_port).assert().code(2);
    dry_run.stderr(contains("cgroup").and(contains("--prometheus").not()));
    refused(["steer", name, "--lease", "1s"], 2, &["--lease", "10s"]);
    let journal = directory.path().join("no-such/journal");
    let journal = journal.to_str().expect("a name");
    refused(
        ["steer", name, "--dry-run", "--journal", journal],
        2,
        &["--journal", "no-such"],
    );
    fs::write(&file, format!("explore = \"2%\"\n{POLICY}")).expect("a policy");
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert().code(2);
    dry_run.stderr(contains("nothing is explored"));
    fs::write(&file, POLICY.replace("rtt_from", "rtt_form")).expect("a policy");
    refused(
        ["steer", name, "--dry-run"],
        2,
        &[name, "rtt_form", "rtt_from"],
    );
    refused(["steer"], 2, &["POLICY.toml"]);
}

#[test]
fn what_a_terminal_obeys_is_shown_and_not_done() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("policy.toml");
    let name = file.to_str().expect("a name");
    let text = POLICY
        .replace("far", "far\\u001b[2J\\u202e")
        .replace("a study", "a\\nstudy\\u009b");
    fs::write(&file, text).expect("a policy");
    let why = fullpipe(["steer", "why", "192.0.2.7", name, "--rtt", "50ms"]).assert();
    why.success()
        .stdout("reno: rule \"far\\u{1b}[2J\\u{202e}\"; a\\nstudy\\u{9b}\n");
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert();
    dry_run.stdout(contains("far\\u{1b}[2J\\u{202e}: 1 network"));
}

/// Without root the kernel's state is not visible, so the message must not claim that nothing is there.
#[test]
fn who_may_not_look_is_told_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let policy = directory.path().join("policy.toml");
    let group = fleet::who::root().unwrap_or("/sys/fs/cgroup".as_ref());
    let text = POLICY.replace("no/such/group", &group.display().to_string());
    fs::write(&policy, text).expect("a policy");
    for path in [directory.path(), &policy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fullpipe"));
    command.args(["steer", "stop"]).arg(&policy);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534);
    }
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && !said.contains("no policy to remove"),
                "{said}"
            );
            if cfg!(feature = "kernel") {
                assert!(said.contains("this takes root"), "{said}");
            }
        }
        Err(error) => skipping::skip!("without root: {error}"),
    }
}

#[test]
fn networks_of_a_policy_may_be_in_a_file_beside_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, list) = (path("policy.toml"), path("lossy.txt"));
    let text = POLICY.replace("prefix = [\"192.0.2.0/24\"]", "prefix_file = \"lossy.txt\"");
    fs::write(&policy, &text).expect("a policy");
    let why = ["steer", "why", "192.0.2.7", &policy, "--rtt", "50ms"];
    let of_list = "rule[0].prefix_file: lossy.txt";
    refused(why, 2, &[&policy, of_list]);
    fs::write(&list, "# nothing yet\n").expect("a list");
    refused(why, 2, &[of_list, "no network"]);
    fs::write(&list, "192.0.3.0/24\n192.0.2.0\n192.0.2.0/33\n").expect("a list");
    refused(why, 2, &[of_list, "line 3"]);
    fs::write(&list, "192.0.3.0/24\n192.0.2.0/24\n").expect("a list");
    fullpipe(why)
        .assert()
        .success()
        .stdout("reno: rule \"far\"; a study\n");
    let dry_run = fullpipe(["steer", &policy, "--dry-run"]).assert().code(2);
    dry_run.stdout(contains("far: 2 networks"));
    // More text than people write by hand.
    fs::write(&policy, text + &"#\n".repeat(3 << 20)).expect("a policy");
    refused(why, 2, &[&policy, "MiB", "prefix_file"]);
}

#[test]
fn systems_in_a_policy_need_a_file_that_has_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, table, other) = (path("policy.toml"), path("table"), path("other"));
    let text = POLICY.replace("prefix = [\"192.0.2.0/24\"]", "as = [64500]");
    fs::write(&policy, text).expect("a policy");
    fs::write(&table, "192.0.2.0/24\t64500\n").expect("a table");
    fs::write(&other, "192.0.2.0/24\t64501\n").expect("a table");
    let why = ["steer", "why", "192.0.2.7", &policy, "--rtt", "50ms"];
    refused(why, 2, &[&policy, "--as"]);
    let with = |file| why.into_iter().chain(["--as", file]);
    fullpipe(with(table.as_str()))
        .assert()
        .success()
        .stdout("reno: rule \"far\"; a study\n");
    refused(with(other.as_str()), 2, &["rule[0].as", "AS64500"]);
    refused(["steer", &policy, "--dry-run"], 2, &["--as"]);
}
