//! The first process of a command's PID namespace: it starts the command, reaps its orphans, and forwards signals.

use std::ffi::{CStr, OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use nix::mount::{MsFlags, mount};
use nix::sys::prctl::{set_name, set_pdeathsig};
use nix::sys::signal::{SigHandler, SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use rustix::process::{WaitOptions, wait};

use crate::error::Context;
use crate::namespace::Namespace;
use crate::{Error, privilege};

/// The exit codes of programs that run other commands (POSIX, "Shell Command Language", exit status for commands):
/// not found, and found but not executable; and, as with env(1), a failure before the command was started.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
const NOT_STARTED: u8 = 125;

/// This process's ID in /proc: the first argument of [`init_main`].
pub(super) fn own_process() -> Result<OsString, Error> {
    fs::read_link("/proc/self")
        .map(Into::into)
        .context("cannot read /proc/self")
}

/// Runs the init that [`Command::spawn`](super::Command::spawn) started, with the arguments after those of
/// [`Init`](super::Init). Call it before the process has a second thread, and exit with the code that it returns.
///
/// It writes one line to standard error if the command cannot be started.
pub fn init_main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments = arguments.into_iter();
    let (Some(parent), Some(program)) = (arguments.next(), arguments.next()) else {
        eprintln!("this subcommand is for fullpipe's own use");
        return NOT_STARTED;
    };
    if let Err(error) = prepare(&parent) {
        eprintln!("{}: {error}", program.display());
        return NOT_STARTED;
    }
    let child = match Command::new(&program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => return cannot_start(&program, &error),
    };
    match supervise(Pid::from_raw(child.id().cast_signed())) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{}: cannot be supervised: {error}", program.display());
            NOT_STARTED
        }
    }
}

/// Ties this process's life to that of `parent`, and sets up the namespaces of the command.
fn prepare(parent: &OsStr) -> Result<(), Error> {
    die_with(parent)?;
    Namespace::Mount.unshare()?;
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_SLAVE, NONE)
        .context("cannot keep mounts to the new mount namespace")?;
    mount_own("proc", "/proc", "the processes outside");
    mount_own("sysfs", "/sys", "the network devices outside");
    reset_signals()?;
    privilege::drop_init_capability()
}

/// No source, file system or data.
const NONE: Option<&str> = None;

/// Ties this process's life to that of the thread that started it.
fn die_with(parent: &OsStr) -> Result<(), Error> {
    set_pdeathsig(Signal::SIGKILL).context("cannot ask for the parent-death signal")?;
    // The parent may have ended before. /proc is still the parent's, with its process IDs.
    let status =
        fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let lives = status.lines().any(|line| {
        line.strip_prefix("PPid:\t")
            .is_some_and(|number| parent == number)
    });
    if lives {
        Ok(())
    } else {
        Err(Error::system(
            "cannot start",
            io::Error::other("the parent is gone"),
        ))
    }
}

/// Mounts a file system of the command's own namespaces. If that fails, the one mounted outside stays, which shows
/// `others`.
fn mount_own(kind: &str, place: &str, others: &str) {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let mounted = |flags| mount(Some(kind), place, Some(kind), flags, NONE);
    // Where the outer mount is read-only, as in containers, ours has to be too.
    if let Err(error) = mounted(flags).or_else(|_| mounted(flags | MsFlags::MS_RDONLY)) {
        // Where parts of the outer mount are hidden, as in containers, the kernel does not let an unprivileged user
        // mount another (mount_too_revealing in fs/namespace.c). The command runs nevertheless.
        eprintln!("{place} shows {others}, not the command's own: it cannot be mounted: {error}");
    }
}

/// Gives the command the default signal dispositions, whatever our parent ignores: a shell ignores SIGINT and SIGQUIT
/// for background commands, and then no command could be interrupted. SIGHUP stays ignored if it was, as nohup(1)
/// needs it. The standard library handles SIGPIPE.
#[expect(
    unsafe_code,
    reason = "a disposition may be a handler, which may run at any time"
)]
fn reset_signals() -> Result<(), Error> {
    use Signal::{SIGHUP, SIGKILL, SIGPIPE, SIGSTOP};
    let others = [SIGHUP, SIGKILL, SIGPIPE, SIGSTOP];
    for signal in Signal::iterator().filter(|signal| !others.contains(signal)) {
        // SAFETY: this is the default disposition, and no handler of this process.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }
            .context(format!("cannot reset {signal}"))?;
    }
    Ok(())
}

/// The name of the init once it receives signals: ps(1) shows it, and its parent waits for it.
pub(super) const NAME: &CStr = c"fullpipe-init";

/// Waits for the command's end, and forwards signals from outside until then; returns the exit code.
///
/// Signals are blocked only now, in order to be received: the command inherits the mask of our parent. Until now the
/// kernel has kept them from this process, the first of its namespace.
fn supervise(command: Pid) -> io::Result<u8> {
    let all = SigSet::all();
    all.thread_block()?;
    let signals = SignalFd::new(&all)?;
    set_name(NAME)?;
    loop {
        // Checked first, for a command that has ended already.
        if let Some(code) = reap(command)? {
            return Ok(code);
        }
        let Some(received) = signals.read_signal()? else {
            continue;
        };
        let Ok(signal) = Signal::try_from(received.ssi_signo.cast_signed()) else {
            continue;
        };
        // Only signals of processes (signal(7): SI_USER and below) outside the namespace are forwarded. The terminal
        // sends its signals to the command too, and SIGCHLD is about a child of ours.
        if received.ssi_code <= 0 && received.ssi_pid == 0 && signal != Signal::SIGCHLD {
            // The command may have ended already.
            let _sent = kill(command, signal);
        }
    }
}

/// Reaps all children that have ended; returns the exit code if the command was one of them.
fn reap(command: Pid) -> io::Result<Option<u8>> {
    while let Some((child, status)) = wait(WaitOptions::NOHANG)? {
        if child.as_raw_pid() == command.as_raw() {
            let (code, signal) = (status.exit_status(), status.terminating_signal());
            return Ok(Some(exit_code(code, signal)));
        }
    }
    Ok(None)
}

/// A shell's exit code for a process that ended with this code, or by this signal.
pub(super) fn exit_code(code: Option<i32>, signal: Option<i32>) -> u8 {
    let code = code.or(signal.map(|number| number.saturating_add(128)));
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(u8::MAX)
}

/// Reports that the command cannot be started; returns the exit code.
fn cannot_start(program: &OsStr, error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound || !exists(program) {
        eprintln!("{}: command not found", program.display());
        NOT_FOUND
    } else {
        eprintln!("{}: cannot be executed: {error}", program.display());
        NOT_EXECUTABLE
    }
}

/// Whether the file exists, searched for in `PATH` if it is named without a directory. (For execvp(3), a directory
/// that may not be searched is the same as a program that may not be executed.)
fn exists(program: &OsStr) -> bool {
    let path = Path::new(program);
    if path.components().nth(1).is_some() || path.is_absolute() {
        return true;
    }
    env::var_os("PATH")
        .is_some_and(|list| env::split_paths(&list).any(|directory| directory.join(path).exists()))
}
