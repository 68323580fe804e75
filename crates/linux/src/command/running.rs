//! A started command: signals to it, and its end.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::{fs, io};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use units::Duration;

use super::init::{NAME, exit_code};
use super::terminal::Terminal;
use crate::error::Context;
use crate::namespace::{Namespace, enter};
use crate::{Error, Host, privilege};

/// A command in a [`Host`]. Dropping it kills the command and all its descendants.
#[derive(Debug)]
pub struct Running {
    init: Arc<Mutex<Option<Pid>>>,
    ended: Receiver<Result<ExitStatus, Error>>,
    code: Option<u8>,
    keeper: Option<JoinHandle<()>>,
    terminal: Option<Terminal>,
}

impl Running {
    /// Starts `init` in `host`, and reclaims `terminal` at its end.
    pub(super) fn start(
        host: &Host,
        init: Command,
        terminal: Option<Terminal>,
    ) -> Result<Running, Error> {
        let namespace = host
            .namespace()
            .try_clone_to_owned()
            .context("cannot keep the network namespace open")?;
        let process = Arc::new(Mutex::new(None));
        let (started_sender, started) = sync_channel(1);
        let (ended_sender, ended) = sync_channel(1);
        let keeper = thread::Builder::new()
            .name("command".to_owned())
            .spawn({
                let process = Arc::clone(&process);
                move || keep(&namespace, init, &process, &started_sender, &ended_sender)
            })
            .context("cannot start a thread")?;
        match started.recv() {
            Ok(Ok(())) => Ok(Running {
                init: process,
                ended,
                code: None,
                keeper: Some(keeper),
                terminal,
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(lost()),
        }
    }

    /// Waits for the end of the command and all its descendants. Returns the command's exit code; 128 plus the signal
    /// if a signal ended it; 127 if the command does not exist, 126 if it cannot be executed, 125 if its namespaces
    /// could not be set up.
    ///
    /// # Errors
    ///
    /// The kernel does not report the end.
    pub fn wait(&mut self) -> Result<u8, Error> {
        match self.code {
            Some(code) => Ok(code),
            None => {
                let status = self.ended.recv().map_err(|_| lost())?;
                self.end(status)
            }
        }
    }

    /// Waits as [`wait`](Running::wait) does, but no longer than `span`; returns `None` if the command still runs then.
    ///
    /// # Errors
    ///
    /// The kernel does not report the end.
    pub fn wait_for(&mut self, span: Duration) -> Result<Option<u8>, Error> {
        if self.code.is_some() {
            return Ok(self.code);
        }
        match self.ended.recv_timeout(span.into()) {
            Ok(status) => self.end(status).map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    /// Sends a signal, by its number, to the command and not to its descendants. A command that has ended gets none.
    ///
    /// # Errors
    ///
    /// There is no such signal.
    pub fn signal(&self, number: i32) -> Result<(), Error> {
        let what = || format!("cannot send signal {number}");
        let signal = Signal::try_from(number).context(what())?;
        match *lock(&self.init) {
            Some(init) => signal::kill(init, signal).context(what()),
            None => Ok(()),
        }
    }

    /// Ends the command: sends SIGTERM, and after `grace` SIGKILL to all its processes. Returns its exit code.
    ///
    /// # Errors
    ///
    /// The kernel does not report the end.
    pub fn stop(mut self, grace: Duration) -> Result<u8, Error> {
        self.signal(Signal::SIGTERM as i32)?;
        if let Some(code) = self.wait_for(grace)? {
            return Ok(code);
        }
        self.signal(Signal::SIGKILL as i32)?;
        self.wait()
    }

    fn end(&mut self, status: Result<ExitStatus, Error>) -> Result<u8, Error> {
        if let Some(terminal) = self.terminal.take() {
            terminal.reclaim();
        }
        let status = status?;
        let code = exit_code(status.code(), status.signal());
        self.code = Some(code);
        Ok(code)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.code.is_none() && self.signal(Signal::SIGKILL as i32).is_ok() {
            // The kernel ends everything in the namespace: nothing there can delay it.
            let _ended = self.wait();
        }
        if let Some(keeper) = self.keeper.take() {
            let _joined = keeper.join();
        }
    }
}

/// Runs the thread that starts the init. It stays until the init's end: the kernel sends a child its parent-death
/// signal when the *thread* that created it ends (PR_SET_PDEATHSIG(2const)).
fn keep(
    namespace: &OwnedFd,
    init: Command,
    process: &Mutex<Option<Pid>>,
    started: &SyncSender<Result<(), Error>>,
    ended: &SyncSender<Result<ExitStatus, Error>>,
) {
    // If a send fails, the process is about to end, and nobody needs the message.
    match launch(namespace, init) {
        Ok((child, pid)) => {
            *lock(process) = Some(pid);
            let _sent = started.send(Ok(()));
            let _sent = ended.send(wait_for_init(child, pid, process));
        }
        Err(error) => {
            let _sent = started.send(Err(error));
        }
    }
}

/// Starts the init in the network namespace and in a new PID namespace, of which it is the first process.
fn launch(namespace: &OwnedFd, mut init: Command) -> Result<(Child, Pid), Error> {
    enter(namespace)?;
    Namespace::Pid.unshare()?;
    privilege::pass_to_child()?;
    let program = init.get_program().to_owned();
    let child = init
        .spawn()
        .context(format!("cannot start {} as the init", program.display()))?;
    let pid = Pid::from_raw(child.id().cast_signed());
    while !takes_signals(pid) {
        thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok((child, pid))
}

/// Whether the init has begun to receive signals, or has ended. Before that it would lose them: the kernel does not
/// deliver a signal that would end the first process of a PID namespace.
fn takes_signals(init: Pid) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{init}/status")) else {
        return true;
    };
    status.lines().any(|line| match line.split_once(":\t") {
        Some(("Name", name)) => NAME.to_bytes() == name.as_bytes(),
        Some(("State", state)) => state.starts_with('Z'),
        _ => false,
    })
}

/// Waits for the init's end, and clears its process ID at the same time.
fn wait_for_init(
    mut child: Child,
    pid: Pid,
    process: &Mutex<Option<Pid>>,
) -> Result<ExitStatus, Error> {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let failed = |source: io::Error| Error::system("cannot wait for the command", source);
    while let Err(error) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
        if error != nix::Error::EINTR {
            return Err(failed(error.into()));
        }
    }
    let mut number = lock(process);
    *number = None;
    child.wait().map_err(failed)
}

fn lock(process: &Mutex<Option<Pid>>) -> MutexGuard<'_, Option<Pid>> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost() -> Error {
    Error::system(
        "cannot watch the command",
        io::Error::other("its thread is gone"),
    )
}
