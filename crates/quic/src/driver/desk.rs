//! Commands to a driver's thread, and where it receives them.

use std::sync::OnceLock;
use std::sync::mpsc::Sender;
use std::time::Instant;

use noq_proto::{Incoming, VarInt};

use super::application::Verdict;
use super::bell::Bell;
use super::host::Host;
use super::line::{Drive, HostId, Key, Line};
use super::session::Session;

/// Commands to a driver.
pub(super) enum Command {
    /// Drive this socket.
    Add(HostId, Box<Host>),
    /// Drive this connection over its socket.
    Join(Box<Session>),
    /// Close a connection.
    End(Line, VarInt),
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
pub(crate) struct Desk {
    commands: Sender<Command>,
    bell: OnceLock<Bell>,
    clock: fn() -> Instant,
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
        // This fails only if the thread is gone. The users of its connections detect this themselves.
        let _ = self.commands.send(command);
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    /// Passes on the decision on a client that a [`Door`](super::Door) kept waiting.
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

impl Drive for Desk {
    fn look(&self, key: Key) {
        self.ask(Command::Look(key));
    }

    fn end(&self, line: Line, code: VarInt) {
        self.ask(Command::End(line, code));
    }

    fn now(&self) -> Instant {
        (self.clock)()
    }
}
