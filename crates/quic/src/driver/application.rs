//! What uses connections.

use std::time::Instant;

use noq_proto::{Connection, Event, Incoming};

use super::line::Line;

/// What runs on one connection. All of it is called on the driver's thread, between packets: it must not wait for anything.
pub(crate) trait Application: Send {
    /// Its connection, for those who use it from other threads.
    fn begin(&mut self, _line: Line) {}

    /// Something happened to the connection.
    fn on_event(&mut self, event: Event, connection: &mut Connection, now: Instant);

    /// All that was written is sent, and the window would take more: writes the next piece, a small one, so that nothing waits
    /// long for it. Whether there was any. It may be asked while the last piece is still there.
    fn refill(&mut self, _connection: &mut Connection) -> bool {
        false
    }

    /// The peer knows of the connection's end, or nothing can be said to it any more.
    fn on_draining(&mut self) {}

    /// When it wants to be called, whatever happens until then.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Its deadline has come. It must have another one afterwards, or none.
    fn on_deadline(&mut self, _connection: &mut Connection, _now: Instant) {}
}

/// Who may connect.
pub(crate) trait Door: Send {
    /// Somebody wants to, while so many are there. Nothing if that is [decided](super::Desk::decide) later.
    fn meet(&mut self, incoming: Incoming, crowd: Crowd) -> Option<(Incoming, Verdict)>;
}

/// Those that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// Connections, whatever their state.
    pub(crate) connections: usize,
    /// Those that have not finished their handshake: nothing shows yet that their addresses are their own.
    pub(crate) unproven: usize,
}

/// What becomes of somebody who wants to connect.
pub(crate) enum Verdict {
    /// The connection is made.
    Accept(Box<dyn Application>),
    /// It must first show that its address is its own (RFC 9000, "Address Validation Using Retry Packets").
    Retry,
    /// It is told that it is not wanted.
    Refuse,
    /// It gets no answer, and may send its first packet again.
    Ignore,
}
