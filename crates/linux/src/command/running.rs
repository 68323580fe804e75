//! A command that was started: signals to it, and its end.

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
    /// Starts `init` in `host`, and gives `terminal` back at its end.
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
        let (tell_started, started) = sync_channel(1);
        let (tell_ended, ended) = sync_channel(1);
        let keeper = thread::Builder::new()
            .name("command".to_owned())
            .spawn({
                let process = Arc::clone(&process);
                move || keep(&namespace, init, &process, &tell_started, &tell_ended)
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

    /// Waits for the command's end, and that of all its descendants. The exit code is the command's; 128 and the
    /// signal when a signal ended it; 127 when there is no such command, 126 when it cannot be executed, 125 when
    /// there was no place to run it in.
    ///
    /// # Errors
    ///
    /// When the kernel does not tell.
    pub fn wait(&mut self) -> Result<u8, Error> {
        match self.code {
            Some(code) => Ok(code),
            None => {
                let status = self.ended.recv().map_err(|_| lost())?;
                self.end(status)
            }
        }
    }

    /// As [`wait`](Running::wait), but no longer than `span`: `None` when the command still runs then.
    ///
    /// # Errors
    ///
    /// When the kernel does not tell.
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

    /// Sends the command, and not its descendants, a signal by its number. One that has ended gets none.
    ///
    /// # Errors
    ///
    /// When there is no such signal.
    pub fn signal(&self, number: i32) -> Result<(), Error> {
        let what = || format!("cannot send signal {number}");
        let signal = Signal::try_from(number).context(what())?;
        match *lock(&self.init) {
            Some(init) => signal::kill(init, signal).context(what()),
            None => Ok(()),
        }
    }

    /// Ends the command: SIGTERM, and after `grace` SIGKILL for all of it. Its exit code.
    ///
    /// # Errors
    ///
    /// When the kernel does not tell.
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
            // Its end is the kernel's to bring about: nothing in the namespace can hold it up.
            let _ended = self.wait();
        }
        if let Some(keeper) = self.keeper.take() {
            let _joined = keeper.join();
        }
    }
}

/// What the thread that starts the init does. It stays until the init's end: the kernel sends a child its parent-death
/// signal when the *thread* that made it goes (PR_SET_PDEATHSIG(2const)).
fn keep(
    namespace: &OwnedFd,
    init: Command,
    process: &Mutex<Option<Pid>>,
    started: &SyncSender<Result<(), Error>>,
    ended: &SyncSender<Result<ExitStatus, Error>>,
) {
    // Nobody is left to tell where sending fails: the process is about to end.
    match launch(namespace, init) {
        Ok((child, pid)) => {
            *lock(process) = Some(pid);
            let _told = started.send(Ok(()));
            let _told = ended.send(outlive(child, pid, process));
        }
        Err(error) => {
            let _told = started.send(Err(error));
        }
    }
}

/// Starts the init in the network namespace and in a new PID namespace, of which it is the first process.
fn launch(namespace: &OwnedFd, mut init: Command) -> Result<(Child, Pid), Error> {
    enter(namespace)?;
    Namespace::Pid.unshare()?;
    privilege::bequeath()?;
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

/// Whether the init has begun to receive signals, or has ended. Before, it would lose them: the kernel keeps a signal
/// that would end the first process of a PID namespace from it.
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

/// Waits for the init's end; its number is given up together with it.
fn outlive(mut child: Child, pid: Pid, process: &Mutex<Option<Pid>>) -> Result<ExitStatus, Error> {
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
