//! Tests that a policy is put in force, stays in force for its lease if its process is killed, and is replaced either
//! completely or not at all.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use experiment::policy::{Connection, Policy};
use rollout::steer::{self, InForce, Steer, Stopped};
use rollout::study::{Steerer, Step};
use rustix::process::Signal;

use crate::group::Group;
use crate::process::{now, wait_for};
use crate::server::{PORT, Server};
use crate::{CLIENTS, Running, alone, client, clock, controllers, own_mounts, wait_until};

#[test]
#[ignore = "the process that the test below starts"]
fn runs_a_policy() {
    let Some(directory) = crate::process::directory() else {
        return;
    };
    let read = |name: &str| fs::read_to_string(directory.join(name));
    let policy =
        Policy::parse(&read("policy.toml").expect("a policy")).expect("one that makes sense");
    let journal = directory.join("journal");
    let lease = units::Duration::from_secs(30);
    let steer = Steer::begin(policy, lease, Some(&journal), now());
    let mut steer = steer.unwrap_or_else(|error| panic!("{error}"));
    while !directory.join("stop").exists() {
        let step = steer.step(clock(&directory), |trouble| {
            eprintln!("trouble: {trouble}");
        });
        if let Step::Over(why) = step {
            eprintln!("over: {why}");
            break;
        }
        if let Ok(text) = read("next.toml") {
            let _ = fs::remove_file(directory.join("next.toml"));
            let next = Policy::parse(&text).map_err(|error| error.to_string());
            let outcome =
                next.and_then(|next| steer.reload(next, now()).map_err(|error| error.to_string()));
            if let Err(why) = outcome {
                steer.refused(&why, now());
            }
        }
        thread::sleep(Duration::from_millis(200));
    }
    steer.finish(now());
}

pub fn policy(group: &Path, prefix: &str, controller: &str) -> String {
    format!(
        "cgroup = {group:?}\n[[rule]]\nname = \"some\"\nprefix = [\"{prefix}\"]\nlisten = [{PORT}]\ncontroller = \"{controller}\"\n"
    )
}

#[test]
fn a_policy_is_in_force_for_its_lease_and_replaced_as_a_whole() {
    alone("a policy for a server", |group| {
        own_mounts();
        in_force(group);
    });
}

/// The expected controllers: `some` for clients in 127.1.0.0/20, `others` for the others.
pub fn wanted(some: &str, others: &str) -> Vec<String> {
    let each = |number| if number < 16 { some } else { others };
    (0..CLIENTS).map(|number| each(number).to_owned()).collect()
}

fn in_force(group: &Group) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let clients: Vec<IpAddr> = (0..CLIENTS).map(client).collect();
    let default = kernel::default().expect("a default");
    let server = Server::start(path, &group.0);
    let text = |prefix, controller| policy(&group.0, prefix, controller);
    fs::write(path.join("policy.toml"), text("127.1.0.0/20", "reno")).expect("a policy");
    let start = || Running::start_test("policy::runs_a_policy", path);

    let running = start();
    let some = wanted("reno", &default);
    wait_until("in force", &clients, &some);
    // The kernel reports the rules in force, independently of the policy's file.
    let own = text("127.1.0.0/20", "reno");
    let all = |policy: &str| -> Vec<String> {
        let given = |client| asked(policy, client).expect("in force").given;
        let each =
            |client: &IpAddr| given(*client).map_or_else(|| default.clone(), |of| of.controller);
        clients.iter().map(each).collect()
    };
    assert_eq!(all(&own), some);
    assert!(
        clients
            .iter()
            .all(|of| asked(&own, *of).expect("in force").is_of_policy)
    );
    for other in [text("127.1.0.0/16", "reno"), text("127.1.0.0/20", "cubic")] {
        assert_eq!(all(&other), some);
        assert!(!asked(&other, clients[20]).expect("in force").is_of_policy);
    }
    let known = Policy::parse(&own).expect("a policy");
    let steerers = || {
        let all = steer::steers(&known).expect("they can be told");
        all.iter().map(Steerer::process).collect::<Vec<_>>()
    };
    assert_eq!(steerers(), [running.0.id()]);
    running.send(Signal::KILL);
    drop(running);
    assert!(steerers().is_empty());
    assert_eq!(controllers(&clients), some, "its lease holds");
    wait_until(
        "the lease has run out",
        &clients,
        &wanted(&default, &default),
    );
    assert!(asked(&own, clients[0]).expect("it is kept").lease.is_zero());

    let running = start();
    wait_until("in force again", &clients, &some);
    let next = |text: String| reload(path, &text);
    next(text("127.1.0.0/20", "no_such"));
    next("rule = 7".to_owned());
    assert_eq!(controllers(&clients), some, "the old policy holds");
    // No client uses IPv6.
    next(text("::/0", "reno"));
    wait_until("of IPv6 alone", &clients, &wanted(&default, &default));
    next(text("127.1.0.0/16", "reno"));
    wait_until("reloaded", &clients, &wanted("reno", "reno"));
    let exploring = exploring(&group.0);
    next(exploring.clone());
    // The explorers change every ten minutes, and may change during the test.
    let is_in_force = || asked(&exploring, clients[0]).is_some_and(|of| of.is_of_policy);
    wait_for("the reported explorers", || {
        let is_so = is_in_force() && all(&exploring) == controllers(&clients);
        is_so.then_some(()).ok_or("others explore")
    });
    let count = all(&exploring)
        .iter()
        .filter(|name| *name == "cubic")
        .count();
    // With 40 draws, a count below 5 or above 31 occurs once in 40,000 times.
    assert!((5..=31).contains(&count), "{count}");
    running.send(Signal::KILL);
    drop(running);
    let stopped = Policy::parse(&text("127.1.0.0/16", "reno")).expect("a policy");
    assert_eq!(steer::stop(&stopped).expect("taken away"), Stopped::Taken);
    assert_eq!(controllers(&clients), wanted(&default, &default));
    assert_eq!(steer::stop(&stopped).expect("a look"), Stopped::Nothing);
    assert!(asked(&own, clients[0]).is_none());

    let server = its_group_is_gone(group, path, server, &some);
    let running = start();
    wait_until("in force once more", &clients, &some);
    fs::write(path.join("stop"), "").expect("a file");
    wait_until("ended", &clients, &wanted(&default, &default));
    drop(running);
    drop(server);
    let all = [
        "began",
        "took_over",
        "began",
        "refused",
        "refused",
        "reloaded",
        "reloaded",
        "reloaded",
        "began",
        "began",
        "ended",
    ];
    assert_eq!(journal(path), all);
    let history = steer::history(&path.join("journal")).expect("a journal");
    assert_eq!((history.last, history.before), (own, Some(exploring)));
}

/// Kills a policy's process, and then removes the control group. What keeps the program goes with the group.
fn its_group_is_gone(group: &Group, path: &Path, server: Server, wanted: &[String]) -> Server {
    let clients: Vec<IpAddr> = (0..CLIENTS).map(client).collect();
    let number = fs::metadata(&group.0).expect("a group").ino();
    let left = PathBuf::from(format!("/sys/fs/bpf/fullpipe/steer-{number}"));
    let running = Running::start_test("policy::runs_a_policy", path);
    wait_until("before its group goes", &clients, wanted);
    running.send(Signal::KILL);
    drop(running);
    drop(server);
    group.make_anew();
    assert!(left.exists());
    let gone = policy(&group.0.join("gone"), "127.1.0.0/20", "reno");
    let gone = Policy::parse(&gone).expect("a policy");
    assert_eq!(steer::stop(&gone).expect("a look"), Stopped::Gone);
    assert!(!left.exists());
    steer::stop(&gone).expect_err("there is no such group");
    Server::start(path, &group.0)
}

/// A policy with which nearly half of the networks explore.
fn exploring(group: &Path) -> String {
    let rest = format!("[[rule]]\nname = \"rest\"\nlisten = [{PORT}]\ncontroller = \"cubic\"\n");
    policy(group, "127.1.0.0/16", "reno") + "explore = \"45%\"\n" + &rest
}

/// The state in force for a client, with this policy file.
pub fn asked(policy: &str, client: IpAddr) -> Option<InForce> {
    let policy = Policy::parse(policy).expect("a policy");
    let of = Connection {
        client,
        is_incoming: true,
        port: PORT,
        rtt: units::Duration::from_millis(1),
        interface: None,
        resent: None,
        at: units::Duration::ZERO,
    };
    steer::in_force(&policy, &of).expect("a look")
}

/// Makes the process in the directory read another policy.
pub fn reload(path: &Path, text: &str) {
    fs::write(path.join("next.part"), text).expect("a policy");
    fs::rename(path.join("next.part"), path.join("next.toml")).expect("a policy");
    while path.join("next.toml").exists() {
        thread::sleep(Duration::from_millis(50));
    }
}

/// The events in the journal. Checks that each line is complete.
pub fn journal(path: &Path) -> Vec<String> {
    let journal = fs::read_to_string(path.join("journal")).expect("a journal");
    let what = journal.lines().map(|line| {
        let line: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        line["what"].as_str().expect("it says what").to_owned()
    });
    what.collect()
}
