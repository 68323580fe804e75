//! Ctrl-C and similar signals.

use std::future::Future;
use std::thread;
use std::time::Duration;

use lab::Cancel;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::failure::Failure;
use crate::output;

/// The time for connections to inform their peers after an interruption.
pub const FAREWELL_TIME: Duration = Duration::from_millis(200);

/// The runtime for a command's work.
pub fn runtime() -> Result<Runtime, Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    lab::runtime(threads)
        .map_err(|error| Failure::failed(format_args!("cannot start {threads} threads: {error}")))
}

/// The time after an interruption until the user is told that the command is still at work: a large scenario's routes take
/// seconds, and so does a large report.
const NOTICE_TIME: Duration = Duration::from_secs(2);

/// The exit code of a command that was interrupted, as shells report a process that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// Listens for signals that end the command, and cancels the token. A second signal ends the process at once. The
/// runtime must be kept as long as the token is used.
pub fn cancel() -> Result<(Runtime, Cancel), Failure> {
    let runtime = runtime()?;
    let cancel = Cancel::new();
    let mut interrupt = runtime.block_on(async { Interrupt::listen() })?;
    runtime.spawn({
        let cancel = cancel.clone();
        async move {
            interrupt.wait().await;
            cancel.cancel();
            tokio::select! {
                () = interrupt.wait() => {}
                () = sleep(NOTICE_TIME) => {
                    output::note("ending, but a step of the work is not complete; Ctrl-C again ends at once");
                    interrupt.wait().await;
                }
            }
            std::process::exit(INTERRUPTED);
        }
    });
    Ok((runtime, cancel))
}

/// Runs `work` until it ends or the user ends the command. In that case it is dropped, and the failure contains
/// `advice`.
pub fn run(work: impl Future<Output = Result<(), Failure>>, advice: &str) -> Result<(), Failure> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let mut interrupt = Interrupt::listen()?;
        tokio::select! {
            outcome = work => return outcome,
            () = interrupt.wait() => {}
        }
        sleep(FAREWELL_TIME).await;
        Err(Failure::interrupted(advice))
    });
    // A thread that is still reading a large file must not delay the end.
    runtime.shutdown_background();
    outcome
}

/// Listens for SIGINT (the user) and SIGTERM (the system). While this value exists, they do not end the process.
pub struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupt {
    /// Listens from now on. Must be called within a runtime, and before anyone is told that the command runs.
    pub fn listen() -> Result<Interrupt, Failure> {
        Ok(Interrupt {
            interrupt: signal(SignalKind::interrupt()).map_err(cannot_listen)?,
            terminate: signal(SignalKind::terminate()).map_err(cannot_listen)?,
        })
    }

    /// Waits for a signal.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn cannot_listen(error: std::io::Error) -> Failure {
    Failure::failed(format_args!("cannot listen for Ctrl-C: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_busy_thread_does_not_hold_up_the_end() {
        let (release, held) = mpsc::channel::<()>();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            let work = async move {
                let (started, start) = tokio::sync::oneshot::channel();
                tokio::task::spawn_blocking(move || {
                    let _ = started.send(());
                    held.recv()
                });
                let _ = start.await;
                Err(Failure::failed("over"))
            };
            let _ = ended.send(run(work, "").is_err());
        });
        let outcome = end.recv_timeout(Duration::from_secs(60));
        drop(release);
        assert_eq!(outcome, Ok(true));
    }
}
