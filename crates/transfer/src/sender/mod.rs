//! The sender.

mod connector;
pub mod conversation;
mod reader;
mod source;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quic::controller::Controllers;
use quic::endpoint::Client;
use quic::{Environment, System};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::code;
use crate::error::Error;
use crate::event::{Event, Transferred, Watch};
use crate::proof::SenderId;
use crate::ticket::Ticket;
use crate::transport::sending;
use crate::wire;
use connector::{Connector, RECONNECT_TIMEOUT};
use conversation::converse;
use source::Sources;

/// The sender's configuration.
pub struct SenderConfig {
    /// Creates the congestion controllers ([`quic::controller`]), with an observer where one is wanted.
    pub controllers: Arc<dyn Controllers>,
    /// Start anew: discard the receiver's state of an earlier attempt with this ticket.
    pub restart: bool,
    /// Skip what cannot be sent, instead of sending nothing.
    pub skip: bool,
}

/// Sends `files`, which may be directories, in this order, to the receiver that printed `ticket`. `watch` gets all
/// events.
///
/// Returns when the receiver has all of them, verified and under their names. Content from an earlier call with the
/// same ticket is not sent again. The transfer survives an outage of the path, or a restart of the receiver, of up to
/// a minute.
pub async fn send(
    files: &[PathBuf],
    ticket: &Ticket,
    config: SenderConfig,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    send_on(Arc::new(System), files, ticket, config, watch).await
}

/// Like [`send`], on another network.
pub(crate) async fn send_on(
    environment: Arc<dyn Environment>,
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
    let connector = Connector {
        client: Client::new(environment, server, wire::ALPN, controllers, sending)?
            .with_large_datagrams(),
        ticket,
    };
    let sender = SenderId::generate()?;
    // After the first acceptance, the same sender must not restart the transfer.
    let restart = AtomicBool::new(config.restart);
    let watch_begin = |event: Event<'_>| {
        if matches!(event, Event::Begun(_)) {
            restart.store(false, Ordering::Relaxed);
        }
        watch(event);
    };
    let mut link = connector.connect().await?;
    loop {
        watch(Event::Connected(&link.connection));
        let result = tokio::select! {
            result = converse(&link.connection, ticket, sender, sources.clone(), restart.load(Ordering::Relaxed), &watch_begin) => result,
            better = connector.replace(&link.connection, watch) => {
                // Later data of the old connection are ignored.
                link.connection.close(code::TAKEN_OVER, b"");
                link = better?;
                continue;
            }
        };
        link = match result {
            Err(Error::Cut) => {
                watch(Event::Reconnecting);
                let Ok(link) = timeout(RECONNECT_TIMEOUT, connector.reach()).await else {
                    return Err(Error::Cut);
                };
                link?
            }
            result => return link.end(result).await,
        };
    }
}
