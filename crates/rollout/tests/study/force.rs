//! An arm whose controller the kernel refuses.

use std::fs;
use std::net::IpAddr;
use std::process::Command;

use experiment::Decision;
use rollout::study::StudyDirectory;

use crate::group::Group;
use crate::process::{Running, read, wait_for};
use crate::server::Server;
use crate::{CLIENTS, alone, client, controllers, plan, wait_until};

#[test]
fn an_arm_that_is_not_in_force_stops_the_study() {
    alone("an arm that is not in force", locked);
}

/// The route to the clients is locked to the first arm's controller.
fn locked(group: &Group) {
    let locked = Command::new("ip")
        .args(
            "route change table local local 127.0.0.0/8 dev lo proto kernel scope host".split(' '),
        )
        .args("src 127.0.0.1 congctl lock cubic".split(' '))
        .output()
        .expect("ip runs");
    if !locked.status.success() {
        let why = String::from_utf8_lossy(&locked.stderr);
        skipping::skip!("the route cannot be locked: {why}");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("given.toml"), plan(&group.0)).expect("a plan");
    let _server = Server::start(path, &group.0);
    let clients: Vec<IpAddr> = (0..CLIENTS).map(client).collect();
    let before = vec!["cubic".to_owned(); clients.len()];
    wait_until("the lock", &clients, &before);
    let _running = Running::start(path);
    let why = wait_for("it stops", || {
        assert_eq!(controllers(&clients), before);
        let log = fs::read_to_string(path.join("log")).unwrap_or_default();
        let why = log.lines().find(|line| line.starts_with("over: "));
        why.map(str::to_owned).ok_or(log)
    });
    assert!(why.starts_with("over: arm reno is not in force: "), "{why}");
    assert!(
        why.contains("connections of reno had another controller"),
        "{why}"
    );
    let data = path.join("data");
    let study = wait_for("it ends", || {
        let study = StudyDirectory::find(&data).expect("a study");
        if study.is_running() {
            Err("it goes on")
        } else {
            Ok(study)
        }
    });
    let [first, other] = study.about.in_force[..] else {
        panic!("two arms");
    };
    assert!(first.known > 0 && first.others == 0, "{first:?}");
    assert!(
        other.known >= 20 && other.others == other.known,
        "{other:?}"
    );
    let findings = read(&data).gathered.findings();
    assert_eq!(
        findings.decision,
        Decision::Distrust,
        "{}",
        findings.verdict
    );
}
