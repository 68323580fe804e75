//! Connections of our own driver for asynchronous tasks. Their streams have the names and meanings of those of noq's
//! asynchronous endpoint.
//!
//! A task and the driver's thread take turns to use a connection. A task locks it only to move pieces that are there.
//! Meanwhile it copies nothing and waits for nothing.

mod event_handler;
mod incoming;
mod open_connections;
mod recv;
mod send;
#[cfg(test)]
mod tests;
mod waiting;

pub use incoming::{Incoming, Listener};
pub use recv::{ReadError, ReadExactError, ReadToEndError, RecvStream};
pub use send::{SendStream, WriteError};

use std::net::SocketAddr;
use std::sync::Arc;

use noq_proto::crypto::ExportKeyingMaterialError;
use noq_proto::{
    ClientConfig, ConnectionError, ConnectionStats, Dir, PathId, PathStats, StreamId, VarInt,
};
use tokio::sync::Notify;

use crate::driver::{Driver, Flow, SharedConnection};
use crate::endpoint::EndpointError;
use event_handler::EventHandler;
use waiting::Waiting;

/// A connection. Clones and streams share it. It is closed with code 0 when the last of them is dropped.
#[derive(Debug, Clone)]
pub struct Connection(Arc<Held>);

/// The state that all users of a connection share.
#[derive(Debug)]
struct Held {
    shared: SharedConnection,
    waiting: Arc<Waiting>,
    remote: SocketAddr,
    /// Keeps the driver's thread running.
    _driver: Arc<Driver>,
}

impl Connection {
    /// Begins to connect to `server` from its own socket. See [`ClientSocket::open`](crate::driver::ClientSocket::open).
    pub(crate) fn begin(
        driver: &Arc<Driver>,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        ecn: bool,
    ) -> Result<Connection, EndpointError> {
        let waiting = Arc::new(Waiting::default());
        let handler = Box::new(EventHandler::new(waiting.clone()));
        let socket = driver.client_socket(server, ecn)?;
        let shared = socket.open(server, config, flow, handler)?;
        Ok(Connection::new(shared, waiting, server, driver.clone()))
    }

    fn new(
        shared: SharedConnection,
        waiting: Arc<Waiting>,
        remote: SocketAddr,
        driver: Arc<Driver>,
    ) -> Connection {
        Connection(Arc::new(Held {
            shared,
            waiting,
            remote,
            _driver: driver,
        }))
    }

    /// Waits for the end of the handshake.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn connected(&self) -> Result<(), ConnectionError> {
        let ask = || match self.0.waiting.state() {
            state if state.error.is_some() => state.error.clone().map(Err),
            state => state.is_connected.then_some(Ok(())),
        };
        wait(&self.0.waiting.changed, ask).await
    }

    /// Opens a unidirectional stream.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_uni(&self) -> Result<SendStream, ConnectionError> {
        let stream = self.open(Dir::Uni, |_, _| ()).await?;
        Ok(SendStream::new(self.clone(), stream))
    }

    /// Opens a bidirectional stream.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let stream = self.open(Dir::Bi, |_, _| ()).await?;
        Ok(self.both(stream))
    }

    /// Accepts the next unidirectional stream of the peer.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_uni(&self) -> Result<RecvStream, ConnectionError> {
        let stream = self.accept(Dir::Uni, |_, _| ()).await?;
        Ok(RecvStream::new(self.clone(), stream))
    }

    /// Accepts the next unidirectional stream of the peer, which will be [read to its end](RecvStream::read_to_end) and
    /// has at most `most` bytes. Reading begins at once.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_uni_to_end(&self, most: usize) -> Result<RecvStream, ConnectionError> {
        let begin = |stream, connection: &mut noq_proto::Connection| {
            self.0.waiting.gather(stream, most, connection);
        };
        let stream = self.accept(Dir::Uni, begin).await?;
        Ok(RecvStream::new(self.clone(), stream))
    }

    /// Accepts the next bidirectional stream of the peer.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let stream = self.accept(Dir::Bi, |_, _| ()).await?;
        Ok(self.both(stream))
    }

    fn both(&self, stream: StreamId) -> (SendStream, RecvStream) {
        (
            SendStream::new(self.clone(), stream),
            RecvStream::new(self.clone(), stream),
        )
    }

    /// Opens a stream, and calls `begin` with it while the connection is locked.
    async fn open(
        &self,
        dir: Dir,
        mut begin: impl FnMut(StreamId, &mut noq_proto::Connection),
    ) -> Result<StreamId, ConnectionError> {
        let available = &self.0.waiting.available[dir as usize];
        wait(available, || {
            let mut connection = self.0.shared.lock();
            if let Some(error) = self.close_reason() {
                return Some(Err(error));
            }
            let stream = connection.streams().open(dir)?;
            begin(stream, &mut connection);
            Some(Ok(stream))
        })
        .await
    }

    /// Accepts a stream, and calls `begin` with it while the connection is locked.
    async fn accept(
        &self,
        dir: Dir,
        mut begin: impl FnMut(StreamId, &mut noq_proto::Connection),
    ) -> Result<StreamId, ConnectionError> {
        let opened = &self.0.waiting.opened[dir as usize];
        wait(opened, || {
            let mut connection = self.0.shared.lock();
            let Some(stream) = connection.streams().accept(dir) else {
                return self.close_reason().map(Err);
            };
            begin(stream, &mut connection);
            // The driver allows the peer another stream.
            self.0.shared.notify();
            Some(Ok(stream))
        })
        .await
    }

    /// Waits for the connection's end.
    pub async fn closed(&self) -> ConnectionError {
        wait(&self.0.waiting.changed, || self.close_reason()).await
    }

    /// The reason for which the connection is over, if it is.
    pub fn close_reason(&self) -> Option<ConnectionError> {
        self.0.waiting.state().error.clone()
    }

    /// Closes the connection. Its pending operations fail.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.0.close(code, reason);
    }

    /// Waits until the peer knows of the connection's end, or cannot learn it any more.
    pub async fn draining(&self) {
        let ask = || self.0.waiting.state().is_draining.then_some(());
        wait(&self.0.waiting.changed, ask).await;
    }

    /// The counters of sent and received packets.
    pub fn stats(&self) -> ConnectionStats {
        self.0.shared.lock().stats()
    }

    /// The largest datagram frame that the peer accepts; `None` if it accepts none.
    pub fn max_datagram_size(&self) -> Option<usize> {
        self.0.shared.lock().datagrams().max_size()
    }

    /// The statistics of the connection's path. All are zero if noq has discarded the path.
    pub fn path_stats(&self) -> PathStats {
        let stats = self.0.shared.lock().path_stats(PathId::ZERO);
        stats.unwrap_or_default()
    }

    /// Fills `to` with keying material of this TLS session (RFC 8446, "Exporters").
    ///
    /// # Errors
    /// The session has no keys yet, or cannot give so much.
    pub fn export_keying_material(
        &self,
        to: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let connection = self.0.shared.lock();
        let session = connection.crypto_session();
        session.export_keying_material(to, label, context)
    }

    /// Asks the peer for an acknowledgement.
    pub fn ping(&self) {
        // The path is gone only if the connection is.
        let _ = self.0.shared.lock().ping_path(PathId::ZERO);
        self.0.shared.notify();
    }

    /// Sets the receive window of all streams together.
    pub fn set_receive_window(&self, window: VarInt) {
        self.0.shared.lock().set_receive_window(window);
        self.0.shared.notify();
    }

    /// Sets the number of bidirectional streams that the peer may have open.
    pub fn set_max_concurrent_bi_streams(&self, count: VarInt) {
        let mut connection = self.0.shared.lock();
        connection.set_max_concurrent_streams(Dir::Bi, count);
        drop(connection);
        self.0.shared.notify();
    }

    /// The peer's address when the connection began.
    pub fn remote_address(&self) -> SocketAddr {
        self.0.remote
    }

    /// True if both are the same connection.
    pub fn is(&self, other: &Connection) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Held {
    fn close(&self, code: VarInt, reason: &[u8]) {
        let mut connection = self.shared.lock();
        if connection.is_closed() {
            return;
        }
        connection.close(self.shared.now(), code, reason.to_vec().into());
        self.waiting.end(ConnectionError::LocallyClosed);
        drop(connection);
        self.shared.notify();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.close(VarInt::from_u32(0), b"");
    }
}

/// Calls `ask` at each notification until there is an answer.
async fn wait<T>(notify: &Notify, mut ask: impl FnMut() -> Option<T>) -> T {
    loop {
        let mut told = std::pin::pin!(notify.notified());
        // Registers before the question, so that no notification is lost.
        told.as_mut().enable();
        if let Some(answer) = ask() {
            return answer;
        }
        told.await;
    }
}
