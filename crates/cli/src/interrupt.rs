//! Ctrl-C, and its relatives.

use crate::failure::Failure;

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
