//! Users of connections.

use std::time::Instant;

use noq_proto::{Connection, Event, Incoming};

use super::shared_connection::SharedConnection;

/// An application on one connection. All methods are called on the driver's thread, between packets, and must not wait.
pub(crate) trait Application: Send {
    /// Gives the application its connection, for other threads that use the connection.
    fn begin(&mut self, _shared: SharedConnection) {}

    /// Handles an event of the connection.
    fn on_event(&mut self, event: Event, connection: &mut Connection, now: Instant);

    /// Called when all written data is sent and the window allows more. Writes the next piece, which should be small so
    /// that others do not wait long. Returns true if there was one. It may be called before the last piece is sent.
    fn refill(&mut self, _connection: &mut Connection) -> bool {
        false
    }

    /// Called when the peer knows of the connection's end, or cannot learn it any more.
    fn on_draining(&mut self) {}

    /// The latest time at which the application must be called.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Called at the deadline. Afterwards, the deadline must be a later one, or none.
    fn on_deadline(&mut self, _connection: &mut Connection, _now: Instant) {}
}

/// Decides which clients may connect.
pub(crate) trait Admission: Send {
    /// Decides on a new client, given the present connections. Returns nothing if it
    /// [decides later](super::CommandSender::decide).
    fn admit(
        &mut self,
        incoming: Incoming,
        counts: ConnectionCounts,
    ) -> Option<(Incoming, Verdict)>;
}

/// The present connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConnectionCounts {
    /// The number of connections, in any state.
    pub(crate) connections: usize,
    /// The number of connections that have not finished their handshake. Their peers' addresses are not validated yet.
    pub(crate) unproven: usize,
}

/// The decision on a new client.
pub(crate) enum Verdict {
    /// The connection is accepted.
    Accept(Box<dyn Application>),
    /// The client must validate its address first (RFC 9000, "Address Validation Using Retry Packets").
    Retry,
    /// The client is refused with an answer.
    Refuse,
    /// The client gets no answer, and may send its first packet again.
    Ignore,
}
