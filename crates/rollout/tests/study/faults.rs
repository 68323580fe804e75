//! Faults while a study runs or a policy is in force. In each case, connections keep their controllers or get the
//! default, and a message reports the fault.

use std::fs::{self, File};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use experiment::policy::Policy;
use rollout::steer::{self, Stopped};
use rollout::study::{StudyDirectory, StudyDirectoryError};
use rustix::process::Signal;

use crate::group::Group;
use crate::policy::{journal, policy, reload, wanted};
use crate::process::{begun, read, wait_for};
use crate::server::Server;
use crate::{
    CLIENTS, Running, alone, arms_in_data, client, controllers, download, drawn, mount, own_mounts,
    plan, wait_until,
};

/// The size of a memory page. A file system in memory grows by pages.
const PAGE: u64 = 4096;

/// A server, its clients, and a directory for a study and a policy.
struct World<'g> {
    group: &'g Group,
    clients: Vec<IpAddr>,
    default: Vec<String>,
    /// The server ends before its directory is removed.
    server: Option<Server>,
    directory: tempfile::TempDir,
}

impl World<'_> {
    fn new(group: &Group) -> World<'_> {
        own_mounts();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        fs::write(path.join("given.toml"), plan(&group.0)).expect("a plan");
        let text = policy(&group.0, "127.1.0.0/20", "reno");
        fs::write(path.join("policy.toml"), text).expect("a policy");
        let server = Some(Server::start(path, &group.0));
        let default = kernel::default().expect("a default");
        World {
            group,
            clients: (0..CLIENTS).map(client).collect(),
            default: vec![default; CLIENTS.into()],
            server,
            directory,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn study(&self) -> Running {
        Running::start(self.path())
    }

    fn policy(&self) -> Running {
        Running::start_test("policy::runs_a_policy", self.path())
    }

    /// The controllers of the clients while the policy is in force.
    fn steered(&self) -> Vec<String> {
        wanted("reno", &self.default[0])
    }

    /// The controllers of the clients while the study runs. Waits until the study has begun.
    fn arms(&self) -> Vec<String> {
        let place = begun(&self.path().join("data"));
        let arms = drawn(&place, &self.clients).into_iter();
        arms.map(|arm| ["cubic", "reno"][arm].to_owned()).collect()
    }

    fn wait(&self, what: &str, wanted: &[String]) {
        wait_until(what, &self.clients, wanted);
    }

    /// Waits until the log contains this text this many times.
    fn wait_said(&self, part: &str, times: usize) {
        wait_for(&format!("{part}, {times} times"), || {
            let log = fs::read_to_string(self.path().join("log")).expect("a log");
            let is_said = log.matches(part).count() >= times;
            is_said.then_some(()).ok_or(log)
        });
    }

    /// The number of objects in the study's data.
    fn objects(&self) -> u64 {
        let read = read(&self.path().join("data"));
        read.gathered.findings().observed.objects
    }

    fn set_clock(&self, by: &str) {
        fs::write(self.path().join("clock"), by).expect("a file");
    }

    /// Ends the process in the directory.
    fn stop(&self, mut running: Running) {
        let file = self.path().join("stop");
        fs::write(&file, "").expect("a file");
        self.wait("ended", &self.default);
        running.0.wait().expect("it ends");
        fs::remove_file(&file).expect("a file");
    }
}

#[test]
fn killed_at_any_moment_nothing_is_left_broken() {
    alone("studies and policies that are killed", |group| {
        killed(&World::new(group));
    });
}

fn killed(world: &World<'_>) {
    let (path, data) = (world.path(), world.path().join("data"));
    let text = fs::read_to_string(path.join("policy.toml")).expect("a policy");
    let policy = Policy::parse(&text).expect("a policy");
    let mut random: u64 = 19;
    for round in 0..14 {
        // A linear congruential generator, by Knuth. It gives times within the duration of a start and some steps.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let running = if round % 2 == 0 {
            // A study cannot begin beside a policy that was left.
            steer::stop(&policy).expect("taken away");
            world.study()
        } else {
            world.policy()
        };
        thread::sleep(Duration::from_millis((random >> 33) % 700));
        running.send(Signal::KILL);
        drop(running);
        // The controllers of a study, of a policy, or the default.
        let found = controllers(&world.clients);
        let is_known =
            |name: &String| ["cubic", "reno", world.default[0].as_str()].contains(&name.as_str());
        assert!(found.iter().all(is_known), "{found:?}");
        match StudyDirectory::find(&data) {
            Ok(_) => drop(read(&data)),
            // The process was killed before the study had begun.
            Err(StudyDirectoryError::None { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    download(&world.clients[..4]);
    // The last policy is in force until its lease is over or the policy is removed. No other policy is in force.
    steer::stop(&policy).expect("taken away");
    world.wait("stopped", &world.default);
    let running = world.study();
    world.wait("a study", &world.arms());
    world.stop(running);
    let running = world.policy();
    world.wait("a policy", &world.steered());
    world.stop(running);
    let log = fs::read_to_string(path.join("log")).expect("a log");
    assert!(!log.contains("panicked"), "{log}");
    let journal = journal(path);
    assert_eq!(
        journal.last().map(String::as_str),
        Some("ended"),
        "{journal:?}"
    );
}

#[test]
fn on_a_full_disk_connections_are_steered_and_nothing_is_lost_that_is_held() {
    alone("studies and policies on a full disk", |group| {
        full_disk(&World::new(group));
    });
}

/// Fills the disk.
fn fill(disk: &Path) {
    let mut file = File::create(disk.join("fill")).expect("a file");
    while file
        .write(&[0; PAGE as usize])
        .is_ok_and(|written| written > 0)
    {}
}

fn full_disk(world: &World<'_>) {
    let (path, disk) = (world.path(), world.path().join("disk"));
    fs::create_dir_all(&disk).expect("a directory");
    let name = disk.to_str().expect("a name");
    mount(&["-t", "tmpfs", "-o", "size=2m", "none", name]);
    let _mounted = Mounted(name);
    fs::create_dir(disk.join("data")).expect("a directory");
    for name in ["data", "journal"] {
        symlink(disk.join(name), path.join(name)).expect("a link");
    }

    let running = world.study();
    let arms = world.arms();
    world.wait("a study", &arms);
    fill(&disk);
    download(&world.clients);
    world.wait_said("cannot write", 1);
    world.wait("a study on a full disk", &arms);
    fs::remove_file(disk.join("fill")).expect("a file");
    wait_for("what was held is written", || {
        let written = arms_in_data(&path.join("data"));
        let is_all = written >= u64::from(CLIENTS);
        is_all.then_some(()).ok_or(written)
    });
    world.stop(running);
    let objects = world.objects();
    assert!(objects >= 2 * u64::from(CLIENTS), "{objects}");

    let running = world.policy();
    world.wait("a policy", &world.steered());
    // Fills the journal's last page, so that the journal needs a new page.
    let file = disk.join("journal");
    let length = fs::metadata(&file).expect("a journal").len();
    let line = "{\"what\":\"test\"}";
    let missing = (PAGE - length % PAGE) as usize - line.len() - 1;
    let mut open = File::options().append(true).open(&file).expect("a journal");
    open.write_all(format!("{line}{}\n", " ".repeat(missing)).as_bytes())
        .expect("a line");
    fill(&disk);
    reload(path, "rule = 7");
    world.wait_said("--journal", 1);
    reload(path, &policy(&world.group.0, "127.1.0.0/16", "reno"));
    world.wait("another policy", &wanted("reno", "reno"));
    fs::remove_file(disk.join("fill")).expect("a file");
    world.stop(running);
    let journal = journal(path);
    for what in ["refused", "trouble", "reloaded", "ended"] {
        assert!(journal.iter().any(|one| one == what), "{what}: {journal:?}");
    }
}

/// A file system, which is unmounted when this is dropped.
struct Mounted<'n>(&'n str);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", self.0]).status();
    }
}

#[test]
fn a_program_that_is_taken_away_is_attached_again_unless_another_process_has_the_group() {
    if Command::new("bpftool").arg("version").output().is_err() {
        skipping::skip!("programs that somebody takes away: there is no bpftool");
        return;
    }
    alone("programs that somebody takes away", |group| {
        evicted(World::new(group));
    });
}

fn bpftool(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("bpftool").args(arguments).output();
    let output = output.expect("bpftool runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output.stdout
}

/// The links of all programs on the control group.
fn links(group: &Path) -> Vec<String> {
    let number = fs::metadata(group).expect("a group").ino();
    let links: serde_json::Value =
        serde_json::from_slice(&bpftool(&["-j", "link", "show"])).expect("JSON");
    let all = links.as_array().expect("a list").iter();
    all.filter(|link| link["cgroup_id"] == number)
        .map(|link| link["id"].to_string())
        .collect()
}

/// Detaches all programs from the control group, as an administrator or another service may do.
fn evict(group: &Path) {
    let links = links(group);
    assert!(!links.is_empty());
    for link in links {
        bpftool(&["link", "detach", "id", &link]);
    }
}

fn evicted(mut world: World<'_>) {
    const TAKEN: &str = "has taken the program off the control group; it is attached again";
    let group = world.group;
    let running = world.study();
    let arms = world.arms();
    world.wait("a study", &arms);
    evict(&group.0);
    world.wait_said(TAKEN, 1);
    world.wait("a study again", &arms);
    world.stop(running);

    let mut first = world.policy();
    let steered = world.steered();
    world.wait("a policy", &steered);
    evict(&group.0);
    world.wait_said(TAKEN, 2);
    world.wait("a policy again", &steered);
    // `steer stop` removes the policy, and does not end its process.
    let text = fs::read_to_string(world.path().join("policy.toml")).expect("a policy");
    let own = Policy::parse(&text).expect("a policy");
    assert_eq!(
        steer::stop(&own).expect("a look"),
        Stopped::TakenFromProcess
    );
    world.wait("a policy after a stop", &steered);
    // Another process removes the file that keeps the program.
    let number = fs::metadata(&group.0).expect("a group").ino();
    let file = format!("/sys/fs/bpf/fullpipe/steer-{number}");
    wait_for(&file, || fs::remove_file(&file));
    world.wait_said("has removed the file", 1);
    assert!(Path::new(&file).exists());
    world.wait("a policy whose file was removed", &steered);
    // Another process mounts a BPF file system there, and unmounts it. Each time, there is one program.
    let wait_for_one = |before: &[String]| {
        wait_for("one program", || {
            let links = links(&group.0);
            let is_so = links.len() == 1 && links != before && Path::new(&file).exists();
            is_so.then_some(()).ok_or_else(|| format!("{links:?}"))
        });
    };
    let before = links(&group.0);
    mount(&["-t", "bpf", "bpf", "/sys/fs/bpf"]);
    wait_for_one(&before);
    let before = links(&group.0);
    let status = Command::new("umount").args(["-l", "/sys/fs/bpf"]).status();
    assert!(status.expect("umount runs").success());
    wait_for_one(&before);
    world.wait("a policy whose files were hidden", &steered);
    // The service is started again.
    drop(world.server.take());
    group.make_anew();
    world.server = Some(Server::start(world.path(), &group.0));
    world.wait_said("control group is there again", 1);
    world.wait("a policy in a new group", &steered);
    // The same again, within a minute: the last message must be true.
    drop(world.server.take());
    group.make_anew();
    world.wait_said("it is waited for", 2);
    world.server = Some(Server::start(world.path(), &group.0));
    world.wait_said("control group is there again", 2);
    world.wait("a policy in another new group", &steered);
    // Another process takes over. The first process ends, and does not remove the policy.
    let second = world.policy();
    world.wait_said("over: another process has a policy in force", 1);
    assert!(first.0.wait().expect("it ends").success());
    assert_eq!(controllers(&world.clients), steered);
    world.stop(second);
}

#[test]
fn a_control_group_has_one_study_or_a_policy_and_says_who_that_is() {
    alone("two processes for a control group", |group| {
        one_at_a_time(&World::new(group));
    });
}

/// A second process, which works in its own directory.
struct Second<'w> {
    world: &'w World<'w>,
    directory: tempfile::TempDir,
}

impl Second<'_> {
    fn new<'w>(world: &'w World<'w>) -> Second<'w> {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["given.toml", "policy.toml"] {
            fs::copy(world.path().join(name), directory.path().join(name)).expect("a file");
        }
        Second { world, directory }
    }

    /// The second process does not start, because the first one has the control group. The first one continues.
    fn is_refused(&self, test: &str, by: &Running, wanted: &[String]) {
        let path = self.directory.path();
        let mut second = Running::start_test(test, path);
        assert!(!second.0.wait().expect("it ends").success(), "{test}");
        let log = fs::read_to_string(path.join("log")).expect("a log");
        let named = format!("is in use by process {} (", by.0.id());
        assert!(log.contains(&named), "{log}");
        assert_eq!(controllers(&self.world.clients), wanted);
    }
}

fn one_at_a_time(world: &World<'_>) {
    // Every user can open and lock the directory of a control group. Such a lock has no effect.
    let anyone = File::open(&world.group.0).expect("a directory");
    anyone.try_lock().expect("a lock");
    let second = Second::new(world);
    let study = world.study();
    let arms = world.arms();
    world.wait("a study", &arms);
    second.is_refused("runs_a_study", &study, &arms);
    second.is_refused("policy::runs_a_policy", &study, &arms);
    study.send(Signal::KILL);
    drop(study);
    // A killed process holds no lock.
    let policy = world.policy();
    let steered = world.steered();
    world.wait("a policy", &steered);
    second.is_refused("runs_a_study", &policy, &steered);
    policy.send(Signal::KILL);
    drop(policy);
    // The killed process's policy is still in force.
    let path = second.directory.path();
    let mut beside = Running::start(path);
    assert!(!beside.0.wait().expect("it ends").success());
    let log = fs::read_to_string(path.join("log")).expect("a log");
    assert!(log.contains("steer stop"), "{log}");
    let text = fs::read_to_string(path.join("policy.toml")).expect("a policy");
    steer::stop(&Policy::parse(&text).expect("a policy")).expect("taken away");
    let study = world.study();
    world.wait("a study again", &arms);
    world.stop(study);
}

#[test]
fn a_clock_that_is_set_changes_nothing_but_times_of_day() {
    alone("a clock that is set", |group| {
        clock_is_set(&World::new(group))
    });
}

fn clock_is_set(world: &World<'_>) {
    let running = world.study();
    let arms = world.arms();
    world.wait("a study", &arms);
    download(&world.clients[..20]);
    // The clock is set beyond the end of the study's duration, and before its beginning.
    for (by, way) in [
        ("9000000", "set forward by 9000000"),
        ("-9000000", "set back by 18000000"),
    ] {
        world.set_clock(by);
        world.wait_said(way, 1);
        world.wait("a study whose clock was set", &arms);
        download(&world.clients[20..]);
    }
    world.stop(running);
    let objects = world.objects();
    assert!(objects >= 2 * (20 + 20 + 20), "{objects}");

    world.set_clock("0");
    let running = world.policy();
    world.wait("a policy", &world.steered());
    for (by, way) in [
        ("9000000", "set forward by 9000000"),
        ("-9000000", "set back by 18000000"),
    ] {
        world.set_clock(by);
        world.wait_said(way, 2);
        world.wait("a policy whose clock was set", &world.steered());
    }
    world.stop(running);
    let journal = journal(world.path());
    assert_eq!(journal, ["began", "trouble", "trouble", "ended"]);
}
