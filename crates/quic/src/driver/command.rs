//! Commands to a driver's thread.

use std::sync::OnceLock;
use std::sync::mpsc::Sender;
use std::time::Instant;

use noq_proto::{Incoming, VarInt};

use super::application::Verdict;
use super::host::Host;
use super::session::Session;
use super::shared_connection::{DriverHandle, HostId, Key, SharedConnection};
use super::waker::Waker;

/// Commands to a driver.
pub(super) enum Command {
    /// Drive this socket.
    Add(HostId, Box<Host>),
    /// Drive this connection over its socket.
    Join(Box<Session>),
    /// Close a connection.
    End(SharedConnection, VarInt),
    /// Pass on the decision on a client that waited.
    Decide(HostId, Box<(Incoming, Verdict)>),
    /// Allow no new connections on this socket.
    Shut(HostId),
    /// Close all connections of this socket.
    Close(HostId, VarInt),
    /// Look at this connection.
    Look(Key),
    /// Close all connections, and end the thread.
    Stop,
}

/// Passes commands to a driver's thread.
pub(crate) struct CommandSender {
    commands: Sender<Command>,
    waker: OnceLock<Waker>,
    clock: fn() -> Instant,
}

impl CommandSender {
    pub(super) fn new(commands: Sender<Command>, clock: fn() -> Instant) -> CommandSender {
        CommandSender {
            commands,
            waker: OnceLock::new(),
            clock,
        }
    }

    pub(super) fn set_waker(&self, waker: Waker) {
        // The waker is set once.
        let _ = self.waker.set(waker);
    }

    pub(super) fn send(&self, command: Command) {
        // This fails only if the thread is gone. The users of its connections detect this themselves.
        let _ = self.commands.send(command);
        if let Some(waker) = self.waker.get() {
            waker();
        }
    }

    /// Passes on the decision on a client that an [`Admission`](super::Admission) kept waiting.
    pub(crate) fn decide(&self, host: HostId, incoming: Incoming, verdict: Verdict) {
        self.send(Command::Decide(host, Box::new((incoming, verdict))));
    }

    /// Closes all connections of a socket.
    pub(crate) fn close(&self, host: HostId, code: VarInt) {
        self.send(Command::Close(host, code));
    }

    /// Stops new connections on a socket. The socket is closed with its last connection.
    pub(crate) fn shut(&self, host: HostId) {
        self.send(Command::Shut(host));
    }
}

impl std::fmt::Debug for CommandSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the commands of a driver")
    }
}

impl DriverHandle for CommandSender {
    fn look(&self, key: Key) {
        self.send(Command::Look(key));
    }

    fn end(&self, shared: SharedConnection, code: VarInt) {
        self.send(Command::End(shared, code));
    }

    fn now(&self) -> Instant {
        (self.clock)()
    }
}
