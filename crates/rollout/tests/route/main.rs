//! A study by route, between two network namespaces that the test makes. Tests that connections have the arm of their
//! client network, as the kernel reports it; that the study's routes follow the table `main`, except for routes that
//! cannot be copied; and that everything is undone when the study ends, is stopped, is killed, or is killed together
//! with its keeper process.
//!
//! The study runs in another process, so that it can be killed: this program, with the test `runs_a_study`.

#[path = "../process/mod.rs"]
mod process;
mod world;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use linux::command::Init;
use linux::routing::TABLE;
use rollout::study::{Step, stop_routes};
use rustix::process::{Pid, Signal, kill_process};

use process::{Running, begin_study, begun, now, read, wait_for};
use world::{BESIDE, CLIENTS, PORT, World, ip};

/// The lease of the rules and routes. The study renews it every five seconds.
const LEASE: Duration = Duration::from_secs(12);

#[test]
#[ignore = "the process that the test below starts"]
fn runs_a_study() {
    let Some(directory) = process::directory() else {
        return;
    };
    let arguments = ["--ignored", "--exact", "undoes_a_study", "--nocapture"];
    let undo = Init {
        program: "/proc/self/exe".into(),
        arguments: arguments.map(Into::into).into(),
    };
    let mut study = begin_study(&directory, &undo);
    while !directory.join("stop").exists() {
        let step = study.step(now(), |trouble| eprintln!("trouble: {trouble}"));
        assert_eq!(step, Step::On);
        thread::sleep(Duration::from_millis(100));
    }
    study.finish(now(), None).saved.expect("it ends");
}

#[test]
#[ignore = "the process that the one above starts"]
fn undoes_a_study() {
    if process::directory().is_some() {
        linux::routing::undo_at_end(LEASE, || eprintln!("LATE")).expect("it can");
    }
}

/// Kills the study and its keeper process.
fn kill_both(study: Running) {
    study.send(Signal::STOP);
    let tasks = fs::read_dir(format!("/proc/{}/task", study.0.id())).expect("tasks");
    let children =
        tasks.map(|task| fs::read_to_string(task.expect("a task").path().join("children")));
    let children: String = children.map(|text| text.expect("children") + " ").collect();
    let mut children = children.split_whitespace();
    let keeper = children
        .next()
        .expect("it has a child")
        .parse()
        .expect("a number");
    assert_eq!(children.next(), None);
    kill_process(Pid::from_raw(keeper).expect("not 0"), Signal::KILL).expect("it runs");
}

/// The rules and routes of the study that exist.
fn left() -> Vec<String> {
    let table = TABLE.to_string();
    let mut left = Vec::new();
    for version in ["-4", "-6"] {
        let rules = ip(&[version, "rule", "show"]);
        left.extend(
            rules
                .lines()
                .filter(|line| line.contains(&table))
                .map(str::to_owned),
        );
        let routes = ip(&[version, "route", "show", "table", &table]);
        left.extend(routes.lines().map(str::to_owned));
    }
    left
}

/// Writes the plan of a study of all clients.
fn write_plan(path: &Path, world: &World, except: &str) {
    let text = format!(
        "name = \"test\"\nassign = \"route\"\nunit = \"prefix\"\nduration = \"1h\"\naddress = \"full\"\n\
         [connections]\nlisten = [{PORT}]\nprefix = {:?}\nexcept = [{except}]\n\
         [[arm]]\ncontroller = \"cubic\"\nshare = \"50%\"\n[[arm]]\ncontroller = \"reno\"\nshare = \"50%\"\n",
        world.networks()
    );
    fs::write(path.join("given.toml"), text).expect("a plan");
}

/// The controllers of the clients' connections while the study runs. The clients with these indices have the default.
fn wanted(path: &Path, world: &World, others: &[usize]) -> Vec<String> {
    let place = begun(&path.join("data"));
    let (key, shares) = (place.key(), place.plan.shares());
    let default = kernel::default().expect("a default");
    let name = |(number, &client)| {
        let unit = place.plan.unit.subject(0, client, units::Duration::ZERO);
        let arm = ["cubic", "reno"][shares.arm(key.draw(unit))];
        let is_other = others.contains(&number);
        if is_other { &default } else { arm }.to_owned()
    };
    world.clients.iter().enumerate().map(name).collect()
}

/// Waits until the clients' connections have these controllers.
fn has(what: &str, world: &World, wanted: &[String]) {
    wait_for(what, || {
        let found = world.controllers(PORT);
        let is_so = found == wanted;
        is_so
            .then_some(())
            .ok_or_else(|| format!("{found:?}, and not {wanted:?}"))
    });
}

/// Waits until no rules and routes are left.
fn gone(what: &str) {
    wait_for(what, || {
        let left = left();
        left.is_empty()
            .then_some(())
            .ok_or_else(|| format!("{left:?}"))
    });
}

#[test]
fn a_study_by_route_begins_follows_and_leaves_nothing() {
    let Some(world) = World::make() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    write_plan(path, &world, "\"10.1.0.0/24\"");
    let default = kernel::default().expect("a default");
    let before = vec![default; world.clients.len()];
    assert_eq!(world.controllers(PORT), before);
    let rules = [ip(&["-4", "rule", "show"]), ip(&["-6", "rule", "show"])];

    let running = Running::start(path);
    // The first client is excepted.
    let wanted = wanted(path, &world, &[0]);
    let has = |what: &str, wanted: &[String]| has(what, &world, wanted);
    has("arms", &wanted);
    // In 24 draws, one of two arms has two or fewer in one of 27,000 seeds.
    for name in ["cubic", "reno"] {
        let count = wanted[1..].iter().filter(|one| *one == name).count();
        assert!(count > 2, "{wanted:?}");
    }
    // Another port of the same server does not take part.
    assert_eq!(world.controllers(BESIDE), before);

    // The next hop changes, and a part of a network gets a route of its own.
    let via = |hop: &str| {
        left()
            .iter()
            .filter(|line| line.contains(&format!("via {hop} ")))
            .count()
    };
    assert_eq!(
        (via("192.0.2.2"), via("192.0.2.3")),
        (usize::from(CLIENTS) - 1, 0)
    );
    ip(&["route", "replace", "10.1.0.0/16", "via", "192.0.2.3"]);
    ip(&["route", "add", "10.1.2.0/25", "via", "192.0.2.2"]);
    wait_for("routes follow", || {
        let found = (via("192.0.2.2"), via("192.0.2.3"));
        let is_so = found == (1, usize::from(CLIENTS) - 1);
        is_so
            .then_some(())
            .ok_or_else(|| format!("{found:?}: {:?}", left()))
    });
    has("arms by another way", &wanted);
    // Another process removes the rules.
    ip(&["rule", "del", "lookup", &TABLE.to_string()]);
    has("rules are there again", &wanted);

    // The data has each connection with its arm.
    let units = |name: &str| wanted[1..].iter().filter(|one| *one == name).count() as u64;
    wait_for("data", || {
        let arms = read(&path.join("data")).gathered.findings().arms;
        let found: Vec<(u64, bool)> = arms
            .iter()
            .map(|arm| (arm.units, arm.connections >= arm.units))
            .collect();
        let is_so = found == [(units("cubic"), true), (units("reno"), true)];
        is_so.then_some(()).ok_or_else(|| format!("{found:?}"))
    });

    let gone = |what: &str| {
        gone(what);
        assert_eq!(world.controllers(PORT), before, "{what}");
    };
    // The study is killed.
    drop(running);
    gone("killed");
    // The study begins again at once, and is killed together with its keeper process.
    let running = Running::start(path);
    has("begun again", &wanted);
    kill_both(running);
    has("both killed", &wanted);
    assert!(stop_routes().expect("it can") > usize::from(CLIENTS));
    gone("stopped");
    let running = Running::start(path);
    has("begun once more", &wanted);
    kill_both(running);
    let mut running = Running::start(path);
    wait_for("it removes what is left", || {
        let log = fs::read_to_string(path.join("log")).expect("a log");
        let is_so = log.contains("an earlier study was killed");
        is_so.then_some(()).ok_or(log)
    });
    has("begun after that", &wanted);
    let error = stop_routes().expect_err("it runs").to_string();
    assert!(
        error.contains(&format!("process {}", running.0.id())),
        "{error}"
    );
    fs::write(path.join("stop"), "").expect("a file");
    assert!(running.0.wait().expect("it ends").success());
    gone("ended");
    assert_eq!(stop_routes().expect("it can"), 0);
    assert_eq!(
        [ip(&["-4", "rule", "show"]), ip(&["-6", "rule", "show"])],
        rules
    );
    let log = fs::read_to_string(path.join("log")).expect("a log");
    assert!(!log.contains("faster than"), "{log}");
}

/// The lines of the study's table for this network.
fn lines(network: &str) -> Vec<String> {
    let is_of = |line: &String| line.split(' ').any(|word| word == network);
    left().into_iter().filter(is_of).collect()
}

#[test]
fn routes_that_cannot_be_copied_stay_in_main_and_a_stopped_study_leaves_no_routes() {
    let Some(world) = World::make() else {
        return;
    };
    for arguments in [
        "link add beside type veth peer name beyond",
        "link set beside up",
        "link set beyond up",
        "addr add 198.51.100.1/24 dev beside",
        // A route with a nexthop object.
        "nexthop add id 7 via 192.0.2.2 dev near",
        "route add 10.1.0.0/24 nhid 7",
        // Some packets go another way.
        "route add 10.1.1.0/24 tos 0x10 via 192.0.2.3",
        // One of two hops goes down.
        "route add 10.1.2.0/24 nexthop via 192.0.2.2 nexthop via 198.51.100.2",
        "link set beside down",
        // The copy has all metrics.
        "route add 10.1.3.0/24 via 192.0.2.2 mtu lock 1400 rto_min 50ms initcwnd 30 features ecn quickack 1 congctl lock cubic",
        // A rule that comes before the study's rules.
        "rule add pref 32765 fwmark 0x77 lookup main",
    ] {
        ip(&arguments.split(' ').collect::<Vec<_>>());
    }
    let mut others = vec![1];
    let first_v6 = usize::from(CLIENTS);
    if world.clients.len() > first_v6 {
        // Two routers, one of which may not answer.
        for (router, metric) in [("2", "10"), ("3", "20")] {
            let router = format!("2001:db8:ffff::{router}");
            let to = [
                "-6",
                "route",
                "add",
                "2001:db8::/48",
                "via",
                &router,
                "metric",
            ];
            ip(&[&to[..], &[metric]].concat());
        }
        others.push(first_v6);
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    write_plan(path, &world, "");
    let running = Running::start(path);
    let wanted = wanted(path, &world, &others);
    has("arms", &world, &wanted);
    let one = |network: &str| {
        let found = lines(network);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    assert!(one("10.1.0.0/24").contains("nhid 7"));
    assert!(one("10.1.1.0/24").starts_with("throw"));
    assert!(!one("10.1.2.0/24").contains("198.51.100.2"));
    let all = one("10.1.3.0/24");
    let congctl = format!("congctl lock {}", wanted[3]);
    for metric in [
        "lock 1400",
        "rto_min lock 50ms",
        "initcwnd 30",
        "ecn",
        "quickack 1",
        &congctl,
    ] {
        assert!(all.contains(metric), "{metric}: {all}");
    }
    let log = || fs::read_to_string(path.join("log")).expect("a log");
    for warning in [
        "or not one for all packets, to 10.1.1.0/24",
        "the first has priority 32765",
    ] {
        assert!(log().contains(warning), "{warning}: {}", log());
    }

    running.send(Signal::STOP);
    gone("stopped for long");
    assert_eq!(log().matches("LATE").count(), 1, "{}", log());
    running.send(Signal::CONT);
    has("it goes on", &world, &wanted);
    // The rules come first, and then the line.
    wait_for("told", || {
        let log = log();
        let is_told = log.contains("rules were removed");
        is_told.then_some(()).ok_or(log)
    });
    kill_both(running);
    // A killed process may hold its lock for a moment.
    wait_for("stopped", || stop_routes().map(drop));
    gone("killed");
}
