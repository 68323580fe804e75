//! Foreign commands: their ends, signals, and remains.

use std::fs;
use std::os::fd::IntoRawFd;
use std::path::Path;

use libtest_mimic::Trial;
use linux::command::{Command, Init, Running};
use linux::{Family, Network};
use nix::libc::{SIGTERM, SIGUSR1};
use nix::unistd::{dup, geteuid};
use units::Duration;

use crate::support::{eventually, line, network};
use crate::{INIT, shell, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("the exit code is the command's", codes),
        trial("a signal's end is 128 and its number", ends_by_signal),
        trial(
            "what was ignored ends a command, but for a hang-up",
            ignored,
        ),
        trial("a command that is not there, or is none", no_command),
        trial("a command has its host's network", inside),
        trial(
            "a command sees its own processes and nobody else's",
            processes,
        ),
        trial("a command sees its own devices and nobody else's", devices),
        trial(
            "a command has the capabilities for its network, and no others that this user has not",
            capabilities,
        ),
        trial("environment and directory are this process's", surroundings),
        trial("a signal reaches the command", signals),
        trial("a service is asked to end, then made to", services),
        trial("descendants end with the command", descendants),
        trial("a command that is dropped ends", dropped),
        trial("an init that is not there is named", no_init),
    ]
}

fn init() -> Init {
    Init::subcommand(INIT)
}

fn start(network: &Network, command: &Command) -> Running {
    command.spawn(&network.near, &init()).expect("a command")
}

fn code(network: &Network, script: &str) -> u8 {
    start(network, &Command::new(shell(script)))
        .wait()
        .expect("its end")
}

fn codes() {
    let network = network();
    for expected in [0, 1, 7, 255] {
        assert_eq!(code(&network, &format!("exit {expected}")), expected);
    }
    let mut running = start(&network, &Command::new(shell("exit 3")));
    assert_eq!(running.wait().expect("its end"), 3);
    assert_eq!(running.wait().expect("its end again"), 3);
    assert_eq!(
        running.wait_for(Duration::ZERO).expect("its end again"),
        Some(3)
    );
    running.signal(SIGTERM).expect("nobody to signal");
}

fn ends_by_signal() {
    let network = network();
    // The last is a real-time signal, which has no name.
    for signal in [9, 15, 6, 2, 40] {
        assert_eq!(
            code(&network, &format!("kill -{signal} $$; sleep 60")),
            128 + signal
        );
    }
}

/// An init that a shell has started with these signals ignored, as it does for background commands.
fn ignoring(signals: &str) -> Init {
    // The user who owns no file may run this program, but not reach it by its name. So the shell inherits it open.
    let program = fs::File::open("/proc/self/exe").expect("this program");
    let program = dup(program).expect("without close-on-exec").into_raw_fd();
    let program = format!("/proc/self/fd/{program}");
    let script = format!("trap '' {signals}; exec \"$@\"");
    Init {
        program: "/bin/sh".into(),
        arguments: ["-c", &script, "sh", &program, INIT].map(Into::into).into(),
    }
}

fn ignored() {
    let network = network();
    let code = |signal: &str| {
        let command = Command::new(shell(&format!("kill -{signal} $$; exit 7")));
        let running = command.spawn(&network.near, &ignoring("HUP INT QUIT TERM"));
        running.expect("a command").wait().expect("its end")
    };
    assert_eq!(code("INT"), 128 + 2);
    assert_eq!(code("QUIT"), 128 + 3);
    assert_eq!(code("TERM"), 128 + 15);
    assert_eq!(code("HUP"), 7);
}

fn no_command() {
    let network = network();
    for (line, expected) in [
        (&["no-such-command"][..], 127),
        (&["./no/such/command"], 127),
        (&["/etc/passwd"], 126),
        (&["/"], 126),
        (&[], 125),
    ] {
        assert_eq!(
            start(&network, &Command::new(line))
                .wait()
                .expect("its end"),
            expected,
            "{line:?}"
        );
    }
}

fn inside() {
    let network = network();
    let address = network.near.address(0, Family::V4);
    let script = format!(
        "grep -q {} /proc/net/fib_trie && grep -q {} /proc/net/route",
        address,
        linux::DEVICE
    );
    assert_eq!(code(&network, &script), 0);
}

fn processes() {
    let network = network();
    // The init, the shell, and its children.
    let script = "test -d /proc/1 && test $$ -lt 10 && test $(ls -d /proc/[0-9]* | wc -l) -lt 8";
    assert_eq!(code(&network, script), 0);
}

fn devices() {
    let network = network();
    let script = "ls /sys/class/net | sort > $IN_SYS; sed -n 's/^ *\\([^:]*\\):.*/\\1/p' /proc/net/dev | sort > $IN_PROC";
    let directory = tempfile::tempdir().expect("a directory");
    let [in_sys, in_proc] = ["sys", "proc"].map(|name| directory.path().join(name));
    let command = Command::new(shell(script))
        .variable("IN_SYS", &in_sys)
        .variable("IN_PROC", &in_proc);
    assert_eq!(start(&network, &command).wait().expect("its end"), 0);
    let [in_sys, in_proc] = [in_sys, in_proc].map(|file| fs::read_to_string(file).expect("a list"));
    assert!(
        in_proc.lines().any(|name| name == linux::DEVICE),
        "{in_proc}"
    );
    if in_sys != in_proc && geteuid().is_root() {
        panic!("/sys has {in_sys}, and the network {in_proc}");
    }
    if in_sys != in_proc {
        skipping::skip!("/sys of a command: the kernel lets nobody mount one here");
    }
}

fn capabilities() {
    let network = network();
    let expected = if geteuid().is_root() {
        let own = fs::read_to_string("/proc/self/status").expect("/proc");
        own.lines()
            .find_map(|line| line.strip_prefix("CapEff:\t"))
            .expect("capabilities")
            .to_owned()
    } else {
        // CAP_NET_BIND_SERVICE, CAP_NET_ADMIN and CAP_NET_RAW (linux/capability.h).
        format!("{:016x}", 1 << 10 | 1 << 12 | 1 << 13)
    };
    let script = format!("test $(sed -n 's/^CapEff:.//p' /proc/self/status) = {expected}");
    assert_eq!(code(&network, &script), 0);
}

fn surroundings() {
    let network = network();
    let directory = std::env::current_dir().expect("a directory");
    let script = "test \"$PWD\" = \"$HERE\" && test \"$(pwd -P)\" = \"$HERE\" && test -n \"$PATH\"";
    let directory = directory.canonicalize().expect("a directory");
    let command = Command::new(shell(script))
        .variable("HERE", directory.clone())
        .variable("PWD", directory);
    assert_eq!(start(&network, &command).wait().expect("its end"), 0);
}

/// The file by which a command reports.
fn told(directory: &tempfile::TempDir) -> String {
    directory.path().join("told").display().to_string()
}

fn appears(file: &str) {
    eventually(|| {
        if Path::new(file).exists() {
            Ok(())
        } else {
            Err("not there")
        }
    })
    .expect(file);
}

fn signals() {
    let network = network();
    let directory = tempfile::tempdir().expect("a directory");
    let file = told(&directory);
    let script = format!("trap 'exit 42' USR1; : > {file}; while :; do sleep 0.01; done");
    let mut running = start(&network, &Command::new(shell(&script)));
    appears(&file);
    assert_eq!(
        running.wait_for(Duration::from_millis(1)).expect("it runs"),
        None
    );
    running.signal(SIGUSR1).expect("a signal");
    assert_eq!(running.wait().expect("its end"), 42);
    assert!(line(&running.signal(-1).expect_err("no signal")).contains("-1"));

    // A signal that is sent as soon as there is a command is not lost.
    for _ in 0..20 {
        let running = start(&network, &Command::new(["sleep", "60"]));
        assert_eq!(
            running.stop(Duration::from_secs(60)).expect("its end"),
            128 + 15
        );
    }
}

fn services() {
    let network = network();
    let directory = tempfile::tempdir().expect("a directory");
    let file = told(&directory);
    // Its input is empty: cat ends at once.
    let polite = Command::new(shell(&format!(
        "trap 'exit 5' TERM; cat; : > {file}; while :; do sleep 0.01; done"
    )));
    let running = start(&network, &polite.service());
    appears(&file);
    assert_eq!(running.stop(Duration::from_secs(60)).expect("its end"), 5);

    fs::remove_file(&file).expect("told before");
    let stubborn = Command::new(shell(&format!(
        "trap '' TERM; : > {file}; while :; do sleep 0.01; done"
    )));
    let running = start(&network, &stubborn.service());
    appears(&file);
    assert_eq!(
        running.stop(Duration::from_millis(50)).expect("its end"),
        128 + 9
    );
}

/// The number of processes with `text` as their whole command line, with spaces for the zeros between arguments.
fn running(text: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let lines =
        processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines
        .filter(|line| line.replace('\0', " ").trim_end() == text)
        .count()
}

fn descendants() {
    let network = network();
    let sleep = format!("sleep 100{}", std::process::id());
    let file = tempfile::tempdir().expect("a directory");
    let told = told(&file);
    // Three daemons, each the child of a process that has ended; the first that was reaped leaves no zombie behind.
    let script = format!(
        "for i in 1 2 3; do (setsid {sleep} &); done; (sleep 0 &); sleep 0.1; cat /proc/[0-9]*/stat | grep -c ' Z ' > {told}; :"
    );
    assert_eq!(code(&network, &script), 0);
    assert_eq!(fs::read_to_string(told).expect("a count").trim(), "0");
    assert_eq!(running(&sleep), 0);
}

fn dropped() {
    let network = network();
    let sleep = format!("sleep 200{}", std::process::id());
    let command = start(&network, &Command::new(sleep.split(' ')));
    eventually(|| {
        if running(&sleep) == 1 {
            Ok(())
        } else {
            Err("not there")
        }
    })
    .expect("a command");
    drop(command);
    assert_eq!(running(&sleep), 0);
}

fn no_init() {
    let network = network();
    let init = Init {
        program: "/no/such/init".into(),
        arguments: Vec::new(),
    };
    let error = Command::new(["true"])
        .spawn(&network.near, &init)
        .expect_err("no init");
    assert!(line(&error).contains("/no/such/init"), "{error}");
}
