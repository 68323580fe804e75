//! The open connections of a listener.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, oneshot};

use super::waiting::Waiting;
use super::{Connection, wait};
use crate::driver::{Driver, SharedConnection};

/// The connections that are not over.
#[derive(Debug, Default)]
pub(super) struct OpenConnections {
    count: AtomicUsize,
    left: Notify,
}

impl OpenConnections {
    /// Waits until all its connections are over.
    pub(super) async fn empty(&self) {
        let ask = || (self.count.load(Ordering::Acquire) == 0).then_some(());
        wait(&self.left, ask).await;
    }
}

/// Counts a connection as open until this is dropped.
pub(super) struct Registration {
    waiter: Option<Waiter>,
    connections: Arc<OpenConnections>,
}

/// The task that waits for an accepted connection.
pub(super) struct Waiter {
    pub(super) waiting: Arc<Waiting>,
    pub(super) remote: SocketAddr,
    pub(super) driver: Arc<Driver>,
    pub(super) told: oneshot::Sender<Connection>,
}

impl Registration {
    /// Registers a connection, for which a task may wait.
    pub(super) fn new(connections: Arc<OpenConnections>, waiter: Option<Waiter>) -> Registration {
        connections.count.fetch_add(1, Ordering::AcqRel);
        Registration {
            waiter,
            connections,
        }
    }

    /// Gives the established connection to the task that waits for it, or closes it if there is none.
    pub(super) fn come(&mut self, shared: SharedConnection) {
        if let Some(waiter) = self.waiter.take() {
            let Waiter {
                waiting,
                remote,
                driver,
                told,
            } = waiter;
            let _ = told.send(Connection::new(shared, waiting, remote, driver));
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.connections.count.fetch_sub(1, Ordering::AcqRel);
        self.connections.left.notify_waiters();
    }
}
