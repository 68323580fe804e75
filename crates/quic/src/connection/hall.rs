//! The open connections of a listener.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, oneshot};

use super::waiting::Waiting;
use super::{Connection, wait};
use crate::driver::{Driver, Line};

/// The connections that are not over.
#[derive(Debug, Default)]
pub(super) struct Hall {
    count: AtomicUsize,
    left: Notify,
}

impl Hall {
    /// Waits until all its connections are over.
    pub(super) async fn empty(&self) {
        let ask = || (self.count.load(Ordering::Acquire) == 0).then_some(());
        wait(&self.left, ask).await;
    }
}

/// A connection's place among those that are not over.
pub(super) struct Place {
    coming: Option<Coming>,
    hall: Arc<Hall>,
}

/// The task that waits for an accepted connection.
pub(super) struct Coming {
    pub(super) waiting: Arc<Waiting>,
    pub(super) remote: SocketAddr,
    pub(super) driver: Arc<Driver>,
    pub(super) told: oneshot::Sender<Connection>,
}

impl Place {
    /// Takes a place for a connection, for which a task may wait.
    pub(super) fn new(hall: Arc<Hall>, coming: Option<Coming>) -> Place {
        hall.count.fetch_add(1, Ordering::AcqRel);
        Place { coming, hall }
    }

    /// Gives the established connection to the task that waits for it, or closes it if there is none.
    pub(super) fn come(&mut self, line: Line) {
        if let Some(coming) = self.coming.take() {
            let Coming {
                waiting,
                remote,
                driver,
                told,
            } = coming;
            let _ = told.send(Connection::new(line, waiting, remote, driver));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.hall.count.fetch_sub(1, Ordering::AcqRel);
        self.hall.left.notify_waiters();
    }
}
