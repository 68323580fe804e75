//! The sender.

pub mod conversation;
mod reader;
mod source;
mod way;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quic::controller::Controllers;
use quic::endpoint::Client;
use quic::{Ground, System};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::code;
use crate::error::Error;
use crate::event::{Event, Transferred, Watch};
use crate::proof::SenderId;
use crate::ticket::Ticket;
use crate::transport::sending;
use crate::wire;
use conversation::converse;
use source::Sources;
use way::{PATIENCE, Way};

/// How to send.
pub struct SenderConfig {
    /// Makes the congestion controller ([`quic::controller`]), with an observer where one is wanted.
    pub controllers: Arc<dyn Controllers>,
    /// Begin anew: forget what an earlier attempt with this ticket left at the receiver.
    pub restart: bool,
    /// Leave out what cannot be sent, instead of sending nothing.
    pub skip: bool,
}

/// Sends `files`, which may be directories, in this order, to the receiver that printed `ticket`. `watch` is told how it goes.
///
/// Returns when the receiver has all of them, whole, verified and under their names. What an earlier call with the
/// same ticket brought there is not sent again. An outage of the path, or a receiver that is started again, is survived
/// if it is over within a minute.
pub async fn send(
    files: &[PathBuf],
    ticket: &Ticket,
    config: SenderConfig,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    send_on(Arc::new(System), files, ticket, config, watch).await
}

/// [`send`] on another ground.
pub(crate) async fn send_on(
    ground: Arc<dyn Ground>,
    files: &[PathBuf],
    ticket: &Ticket,
    config: SenderConfig,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let (files, skip) = (files.to_vec(), config.skip);
    let found = spawn_blocking(move || Sources::find(&files, skip)).await?;
    if let Err(Error::Unsendable(unsendable)) = &found {
        for (path, why) in unsendable {
            watch(Event::Unsendable { path, why: *why });
        }
    }
    let sources = Arc::new(found?);
    for (path, why) in &sources.skipped {
        watch(Event::Skipped { path, why: *why });
    }
    let (server, controllers) = (ticket.fingerprint(), config.controllers);
    let way = Way {
        client: Client::new(ground, server, wire::ALPN, controllers, sending)?
            .with_large_datagrams(),
        ticket,
    };
    let sender = SenderId::generate()?;
    // What was accepted once is not to be begun anew by the same sender.
    let restart = AtomicBool::new(config.restart);
    let watch_begin = |event: Event<'_>| {
        if matches!(event, Event::Begun(_)) {
            restart.store(false, Ordering::Relaxed);
        }
        watch(event);
    };
    let mut link = way.connect().await?;
    loop {
        watch(Event::Connected(&link.connection));
        let result = tokio::select! {
            result = converse(&link.connection, ticket, sender, sources.clone(), restart.load(Ordering::Relaxed), &watch_begin) => result,
            better = way.replace(&link.connection, watch) => {
                // What it still had to say does not count any more.
                link.connection.close(code::TAKEN_OVER, b"");
                link = better?;
                continue;
            }
        };
        link = match result {
            Err(Error::Cut) => {
                watch(Event::Reconnecting);
                let Ok(link) = timeout(PATIENCE, way.reach()).await else {
                    return Err(Error::Cut);
                };
                link?
            }
            result => return link.end(result).await,
        };
    }
}
