//! `fullpipe study`, as far as it needs no privileges.

use std::fs;
use std::path::Path;

use experiment::Plan;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use rollout::study::StudyDirectory;

use crate::support::{fullpipe, refused};

pub const PLAN: &str = "name = \"a\"\ncgroup = \"no/such/group\"\nunit = \"prefix\"\nduration = \"1h\"\n\
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
    refused(["study"], 2, &["--out"]);
    refused(["study", "--out", "never"], 2, &["PLAN.toml", "--cgroup"]);
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
    // The dry run refuses everything that the study would refuse.
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

/// The options for the usual study, and the equivalent plan.
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
        ("--slot 1min", &["--slot: belongs to the unit slot"]),
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
        &["missing: --cgroup DIR, --arm CONTROLLER=SHARE, --unit UNIT, --duration TIME"],
    );
    // The same options continue the study, and others form another plan.
    let plan = Plan::parse(SAME).expect("a plan");
    let mut place = StudyDirectory::make(Path::new(&out), SAME, &plan, 0.0).expect("a study");
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
    StudyDirectory::make(Path::new(&out), &text, &plan, 0.0).expect("a study");
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
