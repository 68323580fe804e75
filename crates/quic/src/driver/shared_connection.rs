//! The interface of a connection for other threads.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use noq_proto::{Connection, ConnectionHandle, VarInt};

use crate::lock::lock;

/// The number of a driver's socket.
pub(crate) type HostId = u64;

/// A connection of a driver.
pub(super) type Key = (HostId, ConnectionHandle);

/// The driver of a connection, for the connection's users.
pub(super) trait DriverHandle: Debug + Send + Sync {
    /// Tells the driver to look at a connection after a change.
    fn look(&self, key: Key);

    /// Tells the driver to close a connection, and to tell its application.
    fn end(&self, shared: SharedConnection, code: VarInt);

    /// The driver's time.
    fn now(&self) -> Instant;
}

/// A connection of a driver. The driver and other threads take turns to use it. A user must lock it only to move a few
/// pieces of data.
#[derive(Debug, Clone)]
pub(crate) struct SharedConnection {
    connection: Arc<Mutex<Connection>>,
    key: Key,
    driver: Arc<dyn DriverHandle>,
    /// True if the driver has been told to look, and has not looked yet.
    is_notified: Arc<AtomicBool>,
}

impl SharedConnection {
    pub(super) fn new(
        connection: Connection,
        key: Key,
        driver: Arc<dyn DriverHandle>,
    ) -> SharedConnection {
        SharedConnection {
            connection: Arc::new(Mutex::new(connection)),
            key,
            driver,
            is_notified: Arc::new(AtomicBool::new(false)),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// The connection itself. Its lock borrows nothing of the owner of this handle.
    pub(super) fn connection(&self) -> Arc<Mutex<Connection>> {
        self.connection.clone()
    }

    /// Tells the driver to look at the connection after a change.
    pub(crate) fn notify(&self) {
        if !self.is_notified.swap(true, Ordering::AcqRel) {
            self.driver.look(self.key);
        }
    }

    /// Records that the driver looks. A later change needs another notification.
    pub(super) fn clear_notification(&self) {
        self.is_notified.store(false, Ordering::Release);
    }

    /// The driver's time.
    pub(crate) fn now(&self) -> Instant {
        self.driver.now()
    }

    /// Closes the connection, and tells its application.
    pub(super) fn end(&self, code: VarInt) {
        self.driver.end(self.clone(), code);
    }

    /// True if both are the same connection. When a connection is over, another one may get its handle.
    pub(super) fn is(&self, other: &SharedConnection) -> bool {
        Arc::ptr_eq(&self.connection, &other.connection)
    }

    /// The connection's key in its driver.
    pub(super) fn id(&self) -> Key {
        self.key
    }
}
