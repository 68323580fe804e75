//! Ctrl-C, and its relatives.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use crate::failure::Failure;

/// After an interruption, connections have this long to tell their peers.
const FAREWELL: Duration = Duration::from_millis(200);

/// The runtime for a command's work.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format_args!("cannot start the runtime: {error}")))
}

/// Runs `work` until it ends or the user ends it: then it is dropped where it stands, and `advice` says what to do.
pub fn run(work: impl Future<Output = Result<(), Failure>>, advice: &str) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let interruption = tokio::select! {
            outcome = work => return outcome,
            interruption = interrupted() => interruption,
        };
        sleep(FAREWELL).await;
        interruption.and(Err(Failure::interrupted(advice)))
    })
}

/// Waits until the user (SIGINT) or the system (SIGTERM) asks the command to end. From the first poll on, these
/// signals no longer end the process by themselves.
#[cfg(unix)]
pub async fn interrupted() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot_listen)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot_listen)?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Waits until the user presses Ctrl-C. From the first poll on, it no longer ends the process by itself.
#[cfg(not(unix))]
pub async fn interrupted() -> Result<(), Failure> {
    tokio::signal::ctrl_c().await.map_err(cannot_listen)
}

fn cannot_listen(error: std::io::Error) -> Failure {
    Failure::failed(format_args!("cannot listen for Ctrl-C: {error}"))
}
