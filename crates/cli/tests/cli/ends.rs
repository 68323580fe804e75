//! Commands end on Ctrl-C or on the system's signal, whatever they read or do.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::support::{Running, fullpipe};

/// The way to keep a command busy, and to know that it is.
#[allow(dead_code, reason = "no program has commands of every kind")]
pub enum Busy {
    /// It reads a named pipe without a writer.
    Pipe,
    /// It is at work once it has printed this on stderr.
    Says(&'static str),
    /// It begins at once.
    Soon,
    /// It refuses the named pipe, or has nothing to wait for, and ends by itself.
    Never,
    /// It changes the machine, so it is not run.
    Unasked,
}

use Busy::{Never, Pipe, Says, Soon, Unasked};

/// The commands in the help, and their subcommands. A command with subcommands counts if it also works without one.
fn in_help(of: &[&str]) -> BTreeSet<String> {
    let arguments = of.iter().copied().chain(["--help"]);
    let output = fullpipe(arguments).output().expect("runs").stdout;
    let text = String::from_utf8(output).expect("text");
    // Commands come before options. Their descriptions may continue on lines that are indented more. Names of
    // arguments are in brackets.
    let names = text
        .lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .skip(1)
        .take_while(|line| !line.starts_with("Options"))
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(char::is_alphabetic))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut found = BTreeSet::new();
    let mut has_some = false;
    for name in names {
        has_some = true;
        let inner = [of, &[name]].concat();
        found.extend(in_help(&inner));
    }
    let usage = text.lines().find(|line| line.starts_with("Usage:"));
    let is_command = !has_some || usage.is_some_and(|usage| !usage.contains("<COMMAND>"));
    if is_command && !of.is_empty() {
        found.insert(of.join(" "));
    }
    found
}

/// Each command in the help is in one of these tables, and no other is.
pub fn none_is_forgotten(commands: &[(&str, &str, Busy)], others: &[(&str, Busy)]) {
    let named = commands.iter().map(|(name, ..)| *name);
    let named = named.chain(others.iter().map(|(name, _)| *name));
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    assert_eq!(in_help(&[]), named);
}

/// A directory with the commands' input.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let made = mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
    made.expect("a pipe");
    let path = "path = { rate = \"100mbit\", rtt = \"20ms\", buffer = \"1bdp\" }\n";
    let flow = "[[flow]]\ncontroller = \"bbr1\"\n";
    let scenario = |name: &str, flows: usize| {
        let flows = flow.repeat(flows);
        format!("name = \"{name}\"\nduration = \"10h\"\n{path}{flows}")
    };
    let sweep = "scenario = \"long.toml\"\n[axes]\n\"path.loss\" = [\"0%\", \"1%\"]\n";
    for (name, text) in [
        ("long.toml", scenario("long", 1)),
        ("many.toml", scenario("many", 30_000)),
        ("sweep.toml", sweep.to_owned()),
    ] {
        fs::write(at(name), text).expect("written");
    }
    directory
}

/// Ends a command by a signal while it is busy.
fn ended(
    directory: &Path,
    arguments: &[&str],
    busy: &Busy,
    signal: Signal,
) -> (ExitStatus, String) {
    let mut running = Running::start(directory, arguments.iter().copied());
    let mut writer = None;
    match busy {
        Pipe => {
            // This waits until the pipe is read.
            let opened = OpenOptions::new().write(true).open(directory.join("pipe"));
            writer = Some(opened.expect("a pipe"));
        }
        Says(words) => {
            running.stderr_line_with(words);
        }
        // The start is not visible; whenever the signal comes, the command must end.
        Soon => thread::sleep(Duration::from_millis(300)),
        Never | Unasked => {}
    }
    if !matches!(busy, Never | Unasked) {
        running.signal(signal);
    }
    let (status, _, stderr) = running.finish();
    drop(writer);
    (status, stderr)
}

/// Each command ends soon after each signal.
pub fn each_ends(commands: &[(&str, &str, Busy)]) {
    let directory = directory();
    for (command, arguments, busy) in commands {
        if matches!(busy, Unasked) {
            continue;
        }
        let words: Vec<&str> = command
            .split(' ')
            .chain(arguments.split_whitespace())
            .collect();
        for signal in [Signal::INT, Signal::TERM] {
            let (status, stderr) = ended(directory.path(), &words, busy, signal);
            let told = format!("{command} {arguments}: {status}: {stderr}");
            if matches!(busy, Never) {
                assert!(status.code().is_some(), "{told}");
                continue;
            }
            // The signal ends it; or it ends in order, with a shell's code for the signal; or with success, if it runs
            // until it is told to end.
            let until_told = ["emulate", "play", "probe"].contains(command);
            let is_sound = status.signal() == Some(signal.as_raw())
                || status.code() == Some(130)
                || (until_told && status.code() == Some(0));
            assert!(is_sound, "{told}");
        }
    }
}
