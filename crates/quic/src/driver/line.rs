//! A connection as other threads see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use noq_proto::{Connection, ConnectionHandle, Incoming, VarInt};

use super::application::Verdict;
use super::ground::Bell;
use super::worker::Command;

/// A socket of a driver.
pub(crate) type HostId = u64;

/// Where a driver's thread is told what is wanted.
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
        // It is hung once.
        let _ = self.bell.set(bell);
    }

    pub(super) fn ask(&self, command: Command) {
        // Fails only if the thread is gone: whoever waits for its connections learns that.
        let _ = self.commands.send(command);
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    /// What becomes of somebody whom a [`Door`](super::Door) kept waiting.
    pub(crate) fn decide(&self, host: HostId, incoming: Incoming, verdict: Verdict) {
        self.ask(Command::Decide(host, Box::new((incoming, verdict))));
    }

    /// Ends all connections of a socket.
    pub(crate) fn close(&self, host: HostId, code: VarInt) {
        self.ask(Command::Close(host, code));
    }

    /// Lets a socket have no other connections. It is closed with its last connection.
    pub(crate) fn shut(&self, host: HostId) {
        self.ask(Command::Shut(host));
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a driver's desk")
    }
}

/// A connection of a driver. The driver and whoever uses it from other threads take turns: nobody may keep it for longer than it
/// takes to move a few pieces.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    connection: Arc<Mutex<Connection>>,
    key: (HostId, ConnectionHandle),
    desk: Arc<Desk>,
    /// The driver has been told to look, and has not yet.
    is_called: Arc<AtomicBool>,
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
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the driver see what was done to the connection.
    pub(crate) fn call(&self) {
        if !self.is_called.swap(true, Ordering::AcqRel) {
            self.desk.ask(Command::Look(self.key));
        }
    }

    /// The driver looks: what is done from now on needs another call.
    pub(super) fn answer(&self) {
        self.is_called.store(false, Ordering::Release);
    }

    /// The driver's time.
    pub(crate) fn now(&self) -> Instant {
        (self.desk.clock)()
    }

    /// Ends the connection, and tells what runs on it.
    pub(super) fn end(&self, code: VarInt) {
        self.desk.ask(Command::End(self.clone(), code));
    }

    /// Whether both are the same connection. Another one may have its handle once it is over.
    pub(super) fn is(&self, other: &Line) -> bool {
        Arc::ptr_eq(&self.connection, &other.connection)
    }

    /// Which connection of its driver it is.
    pub(crate) fn id(&self) -> (HostId, ConnectionHandle) {
        self.key
    }
}
