//! A user namespace with few others allowed: the kernel itself counts the remains of ended ones.

use std::fs;
use std::process::{Command as Process, ExitCode};
use std::time::Duration;

use linux::command::{Command, Init};
use linux::{Network, NetworkConfig};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::holder::{Holder, MOMENTS};
use crate::support::{eventually, line};
use crate::{HOLDER, INIT, shell};

/// Runs these tests in a process of its own, which a failed one ends.
pub fn main() -> ExitCode {
    crowded();
    linux::privilege::acquire().expect("a user namespace, as before");
    come_and_go();
    killed();
    too_many();
    hidden();
    ExitCode::SUCCESS
}

/// Allows this many namespaces of a kind (namespaces(7), "The /proc/sys/user directory").
fn allow(kind: &str, most: u32) {
    fs::write(
        format!("/proc/sys/user/max_{kind}_namespaces"),
        most.to_string(),
    )
    .expect("a limit of one's own");
}

/// A process with two threads cannot be moved.
fn crowded() {
    std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || stopped.recv());
        let error = linux::privilege::acquire().expect_err("two threads");
        assert!(line(&error).contains("several threads"), "{error}");
        drop(stop);
    });
    eventually(
        || match fs::read_dir("/proc/self/task").expect("/proc").count() {
            1 => Ok(()),
            threads => Err(threads),
        },
    )
    .expect("one thread again");
}

/// Twenty networks with commands, where at most two at a time are allowed.
fn come_and_go() {
    limit(6, 4, 6);
    for _ in 0..20 {
        let network = eventually(|| Network::create(&NetworkConfig::default()))
            .expect("the last ones have gone");
        let daemon = Command::new(shell("(setsid sleep 1000 &)"));
        let start = || {
            Command::new(["sleep", "1000"])
                .service()
                .spawn(&network.far, &Init::subcommand(INIT))
        };
        let _service = eventually(start).expect("a service");
        let mut command =
            eventually(|| daemon.spawn(&network.near, &Init::subcommand(INIT))).expect("a command");
        assert_eq!(command.wait().expect("its end"), 0);
    }
    nothing_left();
}

/// Holders that are killed, each of which uses nearly everything that is allowed.
fn killed() {
    limit(4, 4, 6);
    allow("user", 1);
    for (number, moment) in (0..).zip(MOMENTS) {
        let holder = eventually(|| Holder::start(number)).expect("nothing is left of the last one");
        holder.kill(Duration::from_millis(moment));
    }
    nothing_left();
}

/// Allows this many network, PID and mount namespaces.
fn limit(network: u32, pid: u32, mount: u32) {
    allow("net", network);
    allow("pid", pid);
    allow("mnt", mount);
}

/// Checks that there is room again for one network and one command, where no more are allowed.
fn nothing_left() {
    // The third network namespace is the one in which the two are created.
    limit(3, 1, 1);
    let network =
        eventually(|| Network::create(&NetworkConfig::default())).expect("no network is left");
    eventually(|| {
        let command = Command::new(["true"]).spawn(&network.near, &Init::subcommand(INIT));
        match command.and_then(|mut running| running.wait()) {
            Ok(0) => Ok(()),
            other => Err(other),
        }
    })
    .expect("no command is left");
    drop(network);
    limit(100, 100, 100);
}

/// The error when a limit of the system is reached.
fn too_many() {
    allow("net", 1);
    assert_error("user.max_net_namespaces");
    allow("net", 100);

    allow("user", 0);
    let output = Process::new("/proc/self/exe")
        .arg(HOLDER)
        .output()
        .expect("this program starts once more");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        complaint.contains("user.max_user_namespaces") && complaint.lines().count() == 1,
        "{complaint}"
    );
}

/// The errors in containers.
fn hidden() {
    const NONE: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    mount(
        Some("/proc/sys"),
        "/proc/sys",
        NONE,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        NONE,
    )
    .expect("a bind mount");
    let read_only = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(NONE, "/proc/sys", NONE, read_only, NONE).expect("a bind mount");
    assert_error("/proc/sys is read-only");
    nix::mount::umount("/proc/sys").expect("a bind mount");

    mount(
        Some("tmpfs"),
        "/dev/net",
        Some("tmpfs"),
        MsFlags::empty(),
        NONE,
    )
    .expect("a tmpfs");
    assert_error("no /dev/net/tun");
}

fn assert_error(expected: &str) {
    let error = Network::create(&NetworkConfig::default()).expect_err(expected);
    assert!(line(&error).contains(expected), "{error}");
}
