//! The receiver.

mod config;
mod conversation;
mod destinations;
mod door;
mod folders;
mod guests;
pub mod intake;
pub mod journal;
mod listen;
mod names;
pub mod offer;
mod part;
mod reception;
pub mod store;
mod turned_away;

use std::sync::Arc;

use quic::connection::Listener;
use quic::{Environment, System};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::code;
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::event::{Transferred, Watch};
use crate::ticket::Ticket;
use crate::transport::FAREWELL_TIMEOUT;
pub use config::{ReceiverConfig, Resumption};
use store::Store;

/// A listening receiver.
pub struct Receiver {
    listener: Listener,
    store: Arc<Store>,
    ticket: Ticket,
    resumption: Resumption,
}

impl Receiver {
    /// Starts to listen, and makes a ticket, or loads that of an unfinished transfer in `config.out`.
    pub async fn bind(config: ReceiverConfig) -> Result<Receiver, Error> {
        Receiver::bind_on(config, Box::new(RealDisk), Arc::new(System)).await
    }

    pub(crate) async fn bind_on(
        config: ReceiverConfig,
        disk: Box<dyn Disk>,
        environment: Arc<dyn Environment>,
    ) -> Result<Receiver, Error> {
        let opening = config.clone();
        let store = spawn_blocking(move || Store::open(&opening, disk)).await??;
        let before = store.identity()?;
        let is_new = before.is_none();
        let listening = listen::listen(environment, &config, &store, before);
        if listening.is_err() && is_new {
            // This error says more than one about the remaining files.
            let _ = store.clear();
        }
        let (listener, ticket, resumption) = listening?;
        Ok(Receiver {
            listener,
            store: Arc::new(store),
            ticket,
            resumption,
        })
    }

    /// The ticket for the sender.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The state of the output directory at the start: new, or an unfinished transfer.
    pub fn resumption(&self) -> Resumption {
        self.resumption
    }

    /// Receives until one transfer is complete, through any number of interruptions, or until this side fails. With
    /// [`ReceiverConfig::keep`] only a failure ends it, and [`Event::Received`](crate::Event::Received) reports each
    /// transfer. `watch` gets all events.
    ///
    /// After an error, or when the future is dropped, the same configuration continues with the same ticket.
    pub async fn run(self, watch: Watch<'_>) -> Result<Vec<Transferred>, Error> {
        let result = reception::serve(&self.listener, &self.store, &self.ticket, watch).await;
        let code = result.as_ref().err().map_or(code::DONE, Error::code);
        self.listener.close(code);
        if result.is_ok() {
            // Immediately: if the program is ended during the farewell, the next one must not find an unfinished
            // transfer.
            let store = self.store.clone();
            spawn_blocking(move || store.clear()).await??;
        }
        let _ = timeout(FAREWELL_TIMEOUT, self.listener.all_draining()).await;
        result
    }
}
