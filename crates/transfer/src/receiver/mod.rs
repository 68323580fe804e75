//! The receiver.

mod config;
mod conversation;
mod door;
mod folders;
mod guests;
pub mod intake;
pub mod journal;
mod listen;
mod names;
pub mod offer;
mod part;
mod place;
mod reception;
pub mod store;
mod turned_away;

use std::sync::Arc;

use quic::connection::Listener;
use quic::{Ground, System};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::code;
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::event::{Transferred, Watch};
use crate::ticket::Ticket;
use crate::transport::FAREWELL;
pub use config::{ReceiverConfig, Resumption};
use store::Store;

/// A receiver that listens.
pub struct Receiver {
    listener: Listener,
    store: Arc<Store>,
    ticket: Ticket,
    resumption: Resumption,
}

impl Receiver {
    /// Starts to listen, and makes the ticket or finds that of an unfinished transfer in `config.out`.
    pub async fn bind(config: ReceiverConfig) -> Result<Receiver, Error> {
        Receiver::bind_on(config, Box::new(RealDisk), Arc::new(System)).await
    }

    pub(crate) async fn bind_on(
        config: ReceiverConfig,
        disk: Box<dyn Disk>,
        ground: Arc<dyn Ground>,
    ) -> Result<Receiver, Error> {
        let opening = config.clone();
        let store = spawn_blocking(move || Store::open(&opening, disk)).await??;
        let before = store.identity()?;
        let is_new = before.is_none();
        let listening = listen::listen(ground, &config, &store, before);
        if listening.is_err() && is_new {
            // The error says more than one about what is left behind could.
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

    /// What the sender needs.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Whether this continues an unfinished transfer.
    pub fn resumption(&self) -> Resumption {
        self.resumption
    }

    /// Receives: until one transfer is complete, whatever interruptions it takes, or until this side fails. With
    /// [`ReceiverConfig::keep`] only the latter ends it, and [`Event::Received`](crate::Event::Received) tells of each transfer. `watch` is told how
    /// it goes.
    ///
    /// After an error, or when the future is dropped, the same configuration continues with the same ticket.
    pub async fn run(self, watch: Watch<'_>) -> Result<Vec<Transferred>, Error> {
        let result = reception::serve(&self.listener, &self.store, &self.ticket, watch).await;
        let code = result.as_ref().err().map_or(code::DONE, Error::code);
        self.listener.close(code);
        if result.is_ok() {
            // At once: who ends the program during the farewell must not find an unfinished transfer next time.
            let store = self.store.clone();
            spawn_blocking(move || store.clear()).await??;
        }
        let _ = timeout(FAREWELL, self.listener.all_draining()).await;
        result
    }
}
