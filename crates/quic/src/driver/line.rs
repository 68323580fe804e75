//! The interface of a connection for other threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use noq_proto::{Connection, ConnectionHandle, Incoming, VarInt};

use super::application::Verdict;
use super::ground::Bell;
use super::worker::Command;

/// The number of a driver's socket.
pub(crate) type HostId = u64;

/// Passes commands to a driver's thread.
pub(crate) struct Desk {
    commands: Sender<Command>,
    bell: OnceLock<Bell>,
    pub(crate) clock: fn() -> Instant,
}

impl Desk {
    pub(super) fn new(commands: Sender<Command>, clock: fn() -> Instant) -> Desk {
        Desk {
            commands,
            bell: OnceLock::new(),
            clock,
        }
    }

    pub(super) fn hang(&self, bell: Bell) {
        // The bell is set once.
        let _ = self.bell.set(bell);
    }

    pub(super) fn ask(&self, command: Command) {
        // This fails only if the thread is gone. Those who wait for its connections find out themselves.
        let _ = self.commands.send(command);
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    /// Gives the decision on a client whom a [`Door`](super::Door) kept waiting.
    pub(crate) fn decide(&self, host: HostId, incoming: Incoming, verdict: Verdict) {
        self.ask(Command::Decide(host, Box::new((incoming, verdict))));
    }

    /// Closes all connections of a socket.
    pub(crate) fn close(&self, host: HostId, code: VarInt) {
        self.ask(Command::Close(host, code));
    }

    /// Stops new connections on a socket. The socket is closed with its last connection.
    pub(crate) fn shut(&self, host: HostId) {
        self.ask(Command::Shut(host));
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a driver's desk")
    }
}

/// A connection of a driver. The driver and other threads take turns to use it. Nobody may lock it for longer than it
/// takes to move a few pieces of data.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    connection: Arc<Mutex<Connection>>,
    key: (HostId, ConnectionHandle),
    desk: Arc<Desk>,
    /// Whether the driver has been told to look, and has not looked yet.
    is_called: Arc<AtomicBool>,
}

/// Locks a mutex, also if a thread has panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    pub(super) fn new(
        connection: Connection,
        key: (HostId, ConnectionHandle),
        desk: Arc<Desk>,
    ) -> Line {
        Line {
            connection: Arc::new(Mutex::new(connection)),
            key,
            desk,
            is_called: Arc::new(AtomicBool::new(false)),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// The connection without its line. Its lock borrows nothing of the line's owner.
    pub(super) fn connection(&self) -> Arc<Mutex<Connection>> {
        self.connection.clone()
    }

    /// Tells the driver to look at the connection after a change.
    pub(crate) fn call(&self) {
        if !self.is_called.swap(true, Ordering::AcqRel) {
            self.desk.ask(Command::Look(self.key));
        }
    }

    /// Notes that the driver looks. A later change needs another call.
    pub(super) fn answer(&self) {
        self.is_called.store(false, Ordering::Release);
    }

    /// The driver's time.
    pub(crate) fn now(&self) -> Instant {
        (self.desk.clock)()
    }

    /// Closes the connection, and tells its application.
    pub(super) fn end(&self, code: VarInt) {
        self.desk.ask(Command::End(self.clone(), code));
    }

    /// Whether both are the same connection. When a connection is over, another one may get its handle.
    pub(super) fn is(&self, other: &Line) -> bool {
        Arc::ptr_eq(&self.connection, &other.connection)
    }

    /// The connection's key in its driver.
    pub(crate) fn id(&self) -> (HostId, ConnectionHandle) {
        self.key
    }
}
