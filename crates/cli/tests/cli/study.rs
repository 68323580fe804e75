//! `fullpipe study`, as far as it needs no root.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use experiment::Plan;
use fleet::study::Place;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::support::{fullpipe, refused};

const PLAN: &str = "name = \"a\"\ncgroup = \"no/such/group\"\nunit = \"prefix\"\nduration = \"1h\"\n\
    connections = { listen = [80] }\n\
    arm = [{ controller = \"cubic\", share = \"50%\" }, { controller = \"reno\", share = \"50%\" }]\n";

#[test]
fn a_plan_that_makes_no_sense_is_named_with_its_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("plan.toml");
    let name = file.to_str().expect("a name");
    for (from, to, parts) in [
        (
            "unit = \"prefix\"",
            "unit = \"host\"",
            &["line 3", "unit", "prefix"][..],
        ),
        (
            "listen = [80]",
            "listen = [0]",
            &["connections.listen", "65535"],
        ),
        ("duration", "durations", &["durations"]),
    ] {
        fs::write(&file, PLAN.replacen(from, to, 1)).expect("a plan");
        let parts: Vec<&str> = parts.iter().copied().chain([name]).collect();
        refused(["study", name, "--out", "never"], 2, &parts);
    }
    refused(
        ["study", "no-such-plan.toml", "--out", "never"],
        2,
        &["no-such-plan.toml"],
    );
    fs::write(&file, "#".repeat((4 << 20) + 1)).expect("a plan");
    refused(["study", name, "--out", "never"], 2, &["4 MiB", name]);
    refused(["study"], 2, &["PLAN.toml", "--out"]);
    assert!(!directory.path().join("never").exists());
}

#[test]
fn a_dry_run_says_what_it_would_do_and_what_is_lacking() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("plan.toml");
    fs::write(&file, PLAN).expect("a plan");
    let out = directory.path().join("out");
    let arguments = [
        "study",
        file.to_str().expect("a name"),
        "--dry-run",
        "--out",
    ];
    let arguments = arguments.into_iter().chain([out.to_str().expect("a name")]);
    let arguments: Vec<&str> = arguments.collect();
    let words = contains("cubic 50 %, reno 50 %").and(contains("client prefix (/24, /48)"));
    let words = words
        .and(contains("early").not())
        .and(contains("except").not());
    let assert = fullpipe(arguments.clone()).assert().code(2).stdout(words);
    assert.stderr(contains("cgroup"));
    // What the study itself would refuse, the dry run refuses.
    for (more, parts) in [
        (["--keep", "1mb"], ["--keep", "at least 64 MB"]),
        (["--as", "no-such-file"], ["--as", "no-such-file"]),
        (["--region", "no-such-file"], ["--region", "no-such-file"]),
    ] {
        let refused = fullpipe(arguments.iter().chain(&more).copied())
            .assert()
            .code(2);
        refused.stderr(contains(parts[0]).and(contains(parts[1])));
    }
    let plain = PLAN.replace("no/such/group", directory.path().to_str().expect("a name"));
    fs::write(&file, plain).expect("a plan");
    fs::write(directory.path().join("cgroup.procs"), "").expect("as in version 1");
    let assert = fullpipe(arguments.clone()).assert().code(2);
    assert.stderr(contains("not a control group of version 2"));
    assert!(!out.exists());
    let more = PLAN.replace("[80]", "[80], except = [\"10.0.0.0/8\"]");
    let guard = "guard = [{ measure = \"rtt\", worse = \"20%\" }]\n";
    fs::write(&file, more + guard).expect("a plan");
    fs::write(&out, "").expect("a file");
    let words = contains("all clients, except those in 10.0.0.0/8\n").and(contains(
        "it ends early if an arm is more than 20% worse in RTT\n",
    ));
    let assert = fullpipe(arguments).assert().code(2).stdout(words);
    assert.stderr(contains("--out").and(contains("is not a directory")));
}

/// The options for the usual study, and the plan that they are.
const OPTIONS: &str = "study --cgroup no/such/group --listen 443 --arm cubic=90% --arm bbr=10% --unit prefix --duration 168h \
    --guard throughput=20%";
const SAME: &str = "name = \"group\"\ncgroup = \"no/such/group\"\nunit = \"prefix\"\nduration = \"168h\"\n\n\
    [connections]\nlisten = [443]\n\n[[arm]]\ncontroller = \"cubic\"\nshare = \"90%\"\n\n\
    [[arm]]\ncontroller = \"bbr\"\nshare = \"10%\"\n\n[[guard]]\nmeasure = \"throughput\"\nworse = \"20%\"\n";

#[test]
fn options_are_a_plan() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out").display().to_string();
    let with = |more: &str| format!("{OPTIONS} --out {out} {more}");
    let words = "cubic 90 %, bbr 10 % for connections in at 443 of no/such/group, by client prefix (/24, /48), for 168h\n\
                 it ends early if an arm is more than 20% worse in throughput";
    let assert = fullpipe(with("--dry-run").split_whitespace())
        .assert()
        .code(2);
    assert
        .stdout(contains(words))
        .stderr(contains("--cgroup: "));
    for (more, parts) in [
        ("--connect 0", &["--connect", "65535"][..]),
        ("--arm cubic=1%", &["--arm: cubic already has an arm"]),
        ("--arm reno", &["--arm", "such as bbr=10%"]),
        (
            "--interface lo,no-such",
            &["--interface: there is no network interface no-such", "lo"],
        ),
        ("--slot 1min", &["--slot: belongs to unit = \"slot\""]),
        (
            "plan.toml",
            &["PLAN.toml", "--cgroup", "cannot be used together"],
        ),
        ("--seed x", &["--seed"]),
    ] {
        refused(with(more).split_whitespace(), 2, parts);
    }
    refused(
        ["study", "--listen", "443", "--out", &out],
        2,
        &["--unit: is missing"],
    );
    // The same options continue the study, and others are another plan.
    let plan = Plan::parse(SAME).expect("a plan");
    let mut place = Place::make(Path::new(&out), SAME, &plan, 0.0).expect("a study");
    place.about.ran_s = 1.0;
    place.save().expect("saved");
    let again = fullpipe(with("").split_whitespace()).assert().code(2);
    again.stderr(contains("--cgroup: "));
    let parts = ["--out", "another plan"];
    refused(with("--connect 80").split_whitespace(), 2, &parts);
}

#[test]
fn a_plan_names_interfaces_that_exist() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("plan.toml").display().to_string();
    let text = PLAN.replace("[80]", "[80], interface = [\"lo\", \"no-such\"]");
    fs::write(&file, text).expect("a plan");
    let parts = [
        &file,
        "line 5: connections.interface[1]: there is no network interface no-such; there are: ",
        "lo",
    ];
    refused(["study", &file, "--out", "never"], 2, &parts);
    let dry_run = fullpipe(["study", &file, "--out", "never", "--dry-run"]).assert();
    dry_run.stdout(contains("in at 80 through lo, no-such of"));
}

#[test]
fn a_terminal_obeys_no_plan() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (file, out) = (path("plan.toml"), path("out"));
    let text = PLAN
        .replace("name = \"a\"", "name = \"a\\u001b[31m\"")
        .replace("no/such/group", "no/such/group\\u001b[31m");
    fs::write(&file, &text).expect("a plan");
    let shown = || contains("\\u{1b}[31m").and(contains("\u{1b}").not());
    fullpipe(["study", &file, "--out", &out, "--dry-run"])
        .assert()
        .code(2)
        .stdout(shown());
    let plan = Plan::parse(&text).expect("a plan");
    Place::make(Path::new(&out), &text, &plan, 0.0).expect("a study");
    fullpipe(["study", "report", &out])
        .assert()
        .success()
        .stdout(shown());
}

#[test]
fn a_study_by_route_says_what_it_changes_and_what_routes_cannot_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (file, list, out) = (path("plan.toml"), path("clients.txt"), path("out"));
    let text = PLAN
        .replace("cgroup = \"no/such/group\"", "assign = \"route\"")
        .replace("[80]", "[80], prefix_file = \"clients.txt\"");
    let dry_run = ["study", &file, "--out", &out, "--dry-run"];
    for (from, to, part) in [
        (
            "unit = \"prefix\"",
            "unit = \"connection\"",
            "client network",
        ),
        (
            "assign = \"route\"",
            "assign = \"route\"\ncgroup = \"a\"",
            "network namespace",
        ),
        (", prefix_file = \"clients.txt\"", "", "connections.prefix"),
    ] {
        fs::write(&file, text.replacen(from, to, 1)).expect("a plan");
        refused(dry_run, 2, &[&file, part]);
    }
    fs::write(&file, &text).expect("a plan");
    refused(dry_run, 2, &["connections.prefix_file: clients.txt"]);
    fs::write(&list, "2001:db8::/32\n").expect("a list");
    let many = fullpipe(dry_run).assert().code(2);
    many.stderr(contains("more than 10000 client networks").and(contains(&file)));
    fs::write(&list, "192.0.2.0/24 # one\n198.51.100.0/23\n").expect("a list");
    let said = fullpipe(dry_run).assert();
    said.stdout(
        contains("by route")
            .and(contains("2 networks"))
            .and(contains("table 1900019")),
    );
    assert!(!directory.path().join("out").exists());
}

#[test]
fn what_is_no_study_has_no_report() {
    let directory = tempfile::tempdir().expect("a directory");
    let name = directory.path().to_str().expect("a name");
    refused(
        ["study", "report", name],
        2,
        &["no study here", "study.json"],
    );
    refused(["study", "report"], 2, &["DIR"]);
    refused(
        [
            "study",
            "report",
            name,
            "--log",
            "x",
            "--log-format",
            "apache",
        ],
        2,
        &["--log-format", "nginx", "caddy"],
    );
    refused(
        ["study", "report", name, "--log", "no-such-log"],
        2,
        &["no-such-log"],
    );
    let file = directory.path().join("regions.txt");
    fs::write(&file, "192.0.2.0/24 north\n192.0.2.0/33 south\n").expect("regions");
    let regions = file.to_str().expect("a name");
    refused(
        ["study", "report", name, "--region", regions],
        2,
        &["--region", regions, "line 2"],
    );
    refused(
        ["steer", "learn", name],
        2,
        &["no study here", "study.json"],
    );
}

#[test]
fn simulated_studies_are_counted() {
    let output = fullpipe(["study", "simulate", "--studies", "3", "--json"]).output();
    let output = output.expect("runs");
    let kinds: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(kinds.as_array().map(Vec::len), Some(3));
    assert_eq!(kinds[1]["without_effect"]["throughput"]["studies"], 3);
    refused(
        ["study", "simulate", "--studies", "0"],
        2,
        &["--studies", "1"],
    );
}

const POLICY: &str = "cgroup = \"no/such/group\"\n[[rule]]\nname = \"far\"\nlisten = [443]\nrtt_from = \"50ms\"\n\
    prefix = [\"192.0.2.0/24\"]\ncontroller = \"reno\"\nevidence = \"a study\"\n";

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
    // What is not known of a connection is said.
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
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert().code(2);
    dry_run.stdout(contains("far: 1 network through eth0: reno"));
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
    // No policy is in force where there is no such control group, and that is said.
    let arguments = ["steer", "why", "192.0.2.7", name];
    let why = fullpipe(arguments).assert().success();
    why.stderr(contains("this is the decision of").and(contains(name)));
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert().code(2);
    dry_run
        .stdout(contains("far: 1 network: reno 100.0 %"))
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
        .replace("far", "far\\u001b[2J")
        .replace("a study", "a\\nstudy\\u009b");
    fs::write(&file, text).expect("a policy");
    let why = fullpipe(["steer", "why", "192.0.2.7", name, "--rtt", "50ms"]).assert();
    why.success()
        .stdout("reno: rule \"far\\u{1b}[2J\"; a\\nstudy\\u{9b}\n");
    let dry_run = fullpipe(["steer", name, "--dry-run"]).assert();
    dry_run.stdout(contains("far\\u{1b}[2J: 1 network"));
}

#[test]
fn a_rollback_puts_the_policy_before_into_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal) = (path("policy.toml"), path("journal"));
    let rollback = ["steer", "rollback", &policy, "--journal", &journal];
    refused(rollback, 2, &["--journal", &journal]);
    let next = POLICY.replace("reno", "bbr");
    fs::write(&journal, line("began", POLICY)).expect("a journal");
    own(&journal);
    refused(rollback, 2, &["--journal", "no policy before"]);
    fs::write(&journal, line("began", POLICY) + &line("reloaded", &next)).expect("a journal");
    fs::write(&policy, &next).expect("a policy");
    let done = fullpipe(rollback).assert().success();
    done.stderr(contains("no process has a policy in force").and(contains(&policy)));
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    assert_eq!(
        fs::read_dir(directory.path()).expect("a directory").count(),
        2
    );
    // What was never in force is kept.
    let never = "cgroup = \"no/such/group\"\nrule = 7";
    fs::write(&policy, never).expect("a policy");
    let done = fullpipe(rollback).assert().success();
    done.stderr(contains("policy-2.toml"));
    assert_eq!(
        fs::read_to_string(path("policy-2.toml")).expect("it is kept"),
        never
    );
    // What the journal has is not.
    fullpipe(rollback).assert().success();
    assert!(!Path::new(&path("policy-3.toml")).exists());
    let other = line("began", POLICY) + &line("began", &next.replace("no/such", "other"));
    fs::write(&journal, other).expect("a journal");
    refused(rollback, 2, &["--journal", "another control group"]);
}

/// A journal's line.
fn line(what: &str, policy: &str) -> String {
    let line = serde_json::json!({ "unix_s": 1.0, "what": what, "about": { "rules": [], "policy": policy } });
    format!("{line}\n")
}

/// Lets nobody else write to a file, whatever the umask.
fn own(path: &str) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a mode");
}

/// A rollback of this policy, by this journal.
fn rollback<'a>(policy: &'a str, journal: &'a str) -> [&'a str; 5] {
    ["steer", "rollback", policy, "--journal", journal]
}

/// A rollback writes as root: what it does not understand, or others could have laid there, it leaves alone.
#[test]
fn a_rollback_overwrites_nothing_but_the_policy() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal, link) = (path("policy.toml"), path("journal"), path("link"));
    let refused = |file: &str, parts: &[&str]| refused(rollback(file, &journal), 2, parts);
    let next = POLICY.replace("reno", "bbr");
    let text = line("began", POLICY) + &line("reloaded", &next);
    fs::write(&journal, &text).expect("a journal");
    own(&journal);
    let other = next.replace("no/such", "other");
    let broken = other.replace("rtt_from", "rtt_form");
    let large = next.clone() + &"#\n".repeat(3 << 20);
    let left: [(&[u8], &str); 7] = [
        (b"user www-data;\n", "not a policy"),
        (b"", "not a policy"),
        (PLAN.as_bytes(), "not a policy"),
        (b"\xff\xfe", "not a policy"),
        (other.as_bytes(), "another control group"),
        (broken.as_bytes(), "another control group"),
        (large.as_bytes(), "MiB"),
    ];
    for (contents, part) in left {
        fs::write(&policy, contents).expect("a file");
        refused(&policy, &[&policy, part, "not changed"]);
        assert!(fs::read(&policy).expect("a file") == contents, "{part}");
    }
    fs::remove_file(&policy).expect("removed");
    refused(&policy, &[&policy, "does not exist"]);
    assert!(!Path::new(&policy).exists());
    // The process reads another file.
    fs::write(&policy, &next).expect("a policy");
    fs::write(path("other.toml"), &next).expect("a policy");
    let of = serde_json::json!({ "rules": [], "file": path("other.toml") });
    let reloaded = serde_json::json!({ "unix_s": 1.0, "what": "reloaded", "about": of });
    fs::write(&journal, format!("{text}{reloaded}\n")).expect("a journal");
    refused(&policy, &[&policy, "other.toml"]);
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), next);
    fs::write(&journal, &text).expect("a journal");
    let within = path("within");
    fs::create_dir(&within).expect("a directory");
    refused(&within, &[&within, "directory"]);
    fs::write(&policy, &next).expect("a policy");
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("policy.toml", &link).expect("a link");
    let set = |mode| {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set(0o777);
    refused(&link, &[&link, "symbolic link", "every user"]);
    // Root's copy or policy could be led elsewhere while it is written.
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        refused(
            &policy,
            &[&policy, "every user, who could put something else"],
        );
    }
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), next);
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o666)).expect("a mode");
    refused(&policy, &["--journal", &journal, "every user"]);
    own(&journal);
    fs::rename(&journal, path("moved")).expect("moved");
    symlink("moved", &journal).expect("a link");
    refused(&policy, &["--journal", "symbolic link"]);
    set(0o700);
    fullpipe(rollback(&link, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    // Each copy has a name of its own, and the mode of what it is of.
    for number in 2..5 {
        let text = format!("{POLICY}# {number}\n");
        fs::write(&policy, &text).expect("a policy");
        fullpipe(rollback(&policy, &journal)).assert().success();
        let kept = path(&format!("policy-{number}.toml"));
        assert_eq!(fs::read_to_string(&kept).expect("it is kept"), text);
        let mode = fs::metadata(&kept)
            .expect("it is kept")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }
    let huge = text.replace("cgroup", &"#".repeat(33 << 20));
    fs::write(path("moved"), huge).expect("a journal");
    refused(&policy, &["--journal", "line 1", "32 MiB"]);
    if chown(path("moved"), Some(65_534), None).is_err() {
        eprintln!("SKIPPED: a journal of another user: this takes root");
        return;
    }
    refused(&policy, &["--journal", "another user (65534)"]);
}

/// The journal names the file, so whatever happened to it, it is the one to restore.
#[test]
fn a_rollback_restores_a_file_that_is_broken_or_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal, moved) = (path("policy.toml"), path("journal"), path("moved.toml"));
    let next = POLICY.replace("reno", "bbr");
    let about = serde_json::json!({ "rules": [], "policy": next, "file": policy });
    let reloaded = serde_json::json!({ "unix_s": 1.0, "what": "reloaded", "about": about });
    let text = line("began", POLICY) + &format!("{reloaded}\n");
    fs::write(&journal, text).expect("a journal");
    own(&journal);
    let broken: [&[u8]; 4] = [b"", b"[[rule", b"\xff\xfe", PLAN.as_bytes()];
    for (number, contents) in (2..).zip(broken) {
        fs::write(&policy, contents).expect("a file");
        fullpipe(rollback(&policy, &journal)).assert().success();
        assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
        let kept = path(&format!("policy-{number}.toml"));
        assert_eq!(fs::read(kept).expect("it is kept"), contents);
    }
    fs::remove_file(&policy).expect("removed");
    refused(rollback(&moved, &journal), 2, &[&moved, "does not exist"]);
    fullpipe(rollback(&policy, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    let mode = fs::metadata(&policy).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Another file is restored if the journal's is gone, and is a policy for the same control group.
    fs::write(&moved, &next).expect("a policy");
    refused(rollback(&moved, &journal), 2, &[&moved, "give that file"]);
    fs::remove_file(&policy).expect("removed");
    fullpipe(rollback(&moved, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&moved).expect("a policy"), POLICY);
    fs::write(&moved, "").expect("a file");
    refused(rollback(&moved, &journal), 2, &[&moved, "not a policy"]);
    // A link leads to the journal's own file, and the file is large.
    let large = POLICY.to_owned() + &"#\n".repeat(3 << 20);
    fs::write(&policy, large).expect("a file");
    symlink("policy.toml", path("link")).expect("a link");
    refused(rollback(&path("link"), &journal), 2, &["link", "4 MiB"]);
}

/// Without root nobody can look: that there is nothing must not be said.
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
        Err(error) => eprintln!("SKIPPED: without root: {error}"),
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
    // As much text as nobody writes by hand.
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

const CDN: &str = r#"
name = "one"
duration = "20s"
arm = [{ controller = "cubic" }, { controller = "bbr1" }]
traffic = [{ interval = "8s", sizes = "3mb" }]
network = [{ name = "lossy", kind = "clients", as = 64501, lines = 60, path = { rate = "20mbit", rtt = "60ms", buffer = "2bdp", loss = "1%" } }]
"#;

#[test]
fn a_laboratory_s_study_is_a_study_and_its_policy_is_what_is_learned_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("cdn.toml"), CDN).expect("a CDN");
    let document = "Text.\n<!-- cdn: begin -->\n<!-- cdn: end -->\n";
    let page = path("document.md");
    fs::write(&page, document).expect("a document");
    let (file, out) = (path("cdn.toml"), path("out"));
    let run = ["study", "lab", &file, "--out", &out];
    let given = run.into_iter().chain(["--document", &page, "--json"]);
    let output = fullpipe(given).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(
        found["networks"][0]["throughput"][0]["truth"].as_f64() > Some(0.2),
        "{found}"
    );
    let text = fs::read_to_string(&page).expect("a document");
    assert!(
        text.starts_with("Text.") && text.contains("| lossy | clients | "),
        "{text}"
    );
    let study = path("out/study");
    fullpipe(["study", "report", &study])
        .assert()
        .success()
        .stdout(contains("AS64501").and(contains("bbr carries objects over 3 MB faster")));
    let learned = fullpipe(["steer", "learn", &study])
        .output()
        .expect("runs")
        .stdout;
    let policy = fs::read_to_string(path("out/policy.toml")).expect("a policy");
    assert_eq!(String::from_utf8_lossy(&learned), policy);
    let systems = path("out/systems.txt");
    let file_of_policy = path("out/policy.toml");
    fullpipe([
        "steer",
        "why",
        "10.0.7.1",
        &file_of_policy,
        "--as",
        &systems,
    ])
    .assert()
    .success()
    .stdout(contains("bbr"));
    refused(run, 2, &["--out", "there is a study already"]);
    let engine = |name| run.into_iter().chain(["--engine", name]);
    refused(engine("quic"), 2, &["--engine quic", "linux"]);
    let hosts = CDN.replace("lines = 60", "lines = 60, host = { ecn = true }");
    fs::write(path("cdn.toml"), hosts).expect("a CDN");
    refused(engine("linux"), 2, &["cdn.toml", "network[0].host"]);
    fs::write(path("cdn.toml"), CDN.replace("60,", "6,")).expect("a CDN");
    let other = path("other");
    refused(
        ["study", "lab", &file, "--out", &other],
        2,
        &["cdn.toml", "lines", "50"],
    );
    let nofile = fullpipe(["study", "lab", "nofile", "--out", &other]).assert();
    nofile
        .code(2)
        .stderr(contains("nofile").count(1).and(contains("cannot read")));
}

#[test]
fn a_laboratory_s_directory_is_nobody_else_s() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (file, out) = (path("cdn.toml"), path("out"));
    fs::write(&file, CDN).expect("a CDN");
    fs::create_dir(&out).expect("a directory");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&out, open).expect("open to all");
    refused(
        ["study", "lab", &file, "--out", &out],
        2,
        &["--out", "is open to every user"],
    );
    assert_eq!(fs::read_dir(&out).expect("a directory").count(), 0);
}
