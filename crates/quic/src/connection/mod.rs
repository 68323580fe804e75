//! Connections of our own driver for tasks of a runtime: streams that are opened, accepted, read and written as those of noq's
//! asynchronous endpoint, whose names and meanings these have.
//!
//! A task and the driver's thread take turns at a connection. A task holds it no longer than it takes to move pieces that are
//! there: it copies nothing meanwhile, and never waits.

mod ear;
mod hall;
mod incoming;
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

use crate::driver::{Driver, Flow, Line};
use crate::endpoint::EndpointError;
use ear::Ear;
use waiting::Waiting;

/// A connection. Its clones and its streams are the same one, which is closed with code 0 when the last of them is dropped.
#[derive(Debug, Clone)]
pub struct Connection(Arc<Held>);

/// What all users of a connection hold.
#[derive(Debug)]
struct Held {
    line: Line,
    waiting: Arc<Waiting>,
    remote: SocketAddr,
    /// Its thread goes on as long as there is one to use it.
    _driver: Arc<Driver>,
}

impl Connection {
    /// Begins to connect to `server`, from a socket of its own. See [`Outlet::open`](crate::driver::Outlet::open).
    pub(crate) fn begin(
        driver: &Arc<Driver>,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        ecn: bool,
    ) -> Result<Connection, EndpointError> {
        let waiting = Arc::new(Waiting::default());
        let ear = Box::new(Ear::new(waiting.clone()));
        let outlet = driver.outlet(server, ecn)?;
        let line = outlet.open(server, config, flow, ear)?;
        Ok(Connection::new(line, waiting, server, driver.clone()))
    }

    fn new(
        line: Line,
        waiting: Arc<Waiting>,
        remote: SocketAddr,
        driver: Arc<Driver>,
    ) -> Connection {
        Connection(Arc::new(Held {
            line,
            waiting,
            remote,
            _driver: driver,
        }))
    }

    /// Waits for the end of the handshake.
    ///
    /// # Errors
    /// It fails.
    pub async fn connected(&self) -> Result<(), ConnectionError> {
        let ask = || match self.0.waiting.state() {
            state if state.error.is_some() => state.error.clone().map(Err),
            state => state.is_connected.then_some(Ok(())),
        };
        wait(&self.0.waiting.changed, ask).await
    }

    /// Opens a stream in one direction.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_uni(&self) -> Result<SendStream, ConnectionError> {
        let stream = self.open(Dir::Uni, |_, _| ()).await?;
        Ok(SendStream::new(self.clone(), stream))
    }

    /// Opens a stream in both directions.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let stream = self.open(Dir::Bi, |_, _| ()).await?;
        Ok(self.both(stream))
    }

    /// The next stream in one direction that the peer has opened.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_uni(&self) -> Result<RecvStream, ConnectionError> {
        let stream = self.accept(Dir::Uni, |_, _| ()).await?;
        Ok(RecvStream::new(self.clone(), stream))
    }

    /// The same of a stream that is going to be [read to its end](RecvStream::read_to_end), which is at most so many bytes. It is
    /// read from now on.
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

    /// The next stream in both directions that the peer has opened.
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

    /// Opens a stream, and calls `begin` with it while it holds the connection.
    async fn open(
        &self,
        dir: Dir,
        mut begin: impl FnMut(StreamId, &mut noq_proto::Connection),
    ) -> Result<StreamId, ConnectionError> {
        let available = &self.0.waiting.available[dir as usize];
        wait(available, || {
            let mut connection = self.0.line.lock();
            if let Some(error) = self.close_reason() {
                return Some(Err(error));
            }
            let stream = connection.streams().open(dir)?;
            begin(stream, &mut connection);
            Some(Ok(stream))
        })
        .await
    }

    /// Accepts a stream, and calls `begin` with it while it holds the connection.
    async fn accept(
        &self,
        dir: Dir,
        mut begin: impl FnMut(StreamId, &mut noq_proto::Connection),
    ) -> Result<StreamId, ConnectionError> {
        let opened = &self.0.waiting.opened[dir as usize];
        wait(opened, || {
            let mut connection = self.0.line.lock();
            let Some(stream) = connection.streams().accept(dir) else {
                return self.close_reason().map(Err);
            };
            begin(stream, &mut connection);
            // The peer may open another one.
            self.0.line.call();
            Some(Ok(stream))
        })
        .await
    }

    /// Waits for the connection's end.
    pub async fn closed(&self) -> ConnectionError {
        wait(&self.0.waiting.changed, || self.close_reason()).await
    }

    /// Why the connection is over, if it is.
    pub fn close_reason(&self) -> Option<ConnectionError> {
        self.0.waiting.state().error.clone()
    }

    /// Closes the connection. Whatever waits on it fails.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.0.close(code, reason);
    }

    /// Waits until the peer knows of the connection's end, or nothing can be said to it any more.
    pub async fn draining(&self) {
        let ask = || self.0.waiting.state().is_draining.then_some(());
        wait(&self.0.waiting.changed, ask).await;
    }

    /// What was sent and received.
    pub fn stats(&self) -> ConnectionStats {
        self.0.line.lock().stats()
    }

    /// The largest datagram frame that the peer takes; nothing if it takes none.
    pub fn max_datagram_size(&self) -> Option<usize> {
        self.0.line.lock().datagrams().max_size()
    }

    /// The statistics of the connection's path. All are zero if noq has discarded the path.
    pub fn path_stats(&self) -> PathStats {
        let stats = self.0.line.lock().path_stats(PathId::ZERO);
        stats.unwrap_or_default()
    }

    /// Fills `to` with what this TLS session alone has (RFC 8446, "Exporters").
    ///
    /// # Errors
    /// The session has no keys yet, or gives not so much.
    pub fn export_keying_material(
        &self,
        to: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let connection = self.0.line.lock();
        let session = connection.crypto_session();
        session.export_keying_material(to, label, context)
    }

    /// Asks the peer for an acknowledgement.
    pub fn ping(&self) {
        // It is gone if the connection is, which others tell.
        let _ = self.0.line.lock().ping_path(PathId::ZERO);
        self.0.line.call();
    }

    /// How much of all streams together may wait for us.
    pub fn set_receive_window(&self, window: VarInt) {
        self.0.line.lock().set_receive_window(window);
        self.0.line.call();
    }

    /// How many streams in both directions the peer may have open.
    pub fn set_max_concurrent_bi_streams(&self, count: VarInt) {
        let mut connection = self.0.line.lock();
        connection.set_max_concurrent_streams(Dir::Bi, count);
        drop(connection);
        self.0.line.call();
    }

    /// Where the peer was when the connection began.
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
        let mut connection = self.line.lock();
        if connection.is_closed() {
            return;
        }
        connection.close(self.line.now(), code, reason.to_vec().into());
        self.waiting.end(ConnectionError::LocallyClosed);
        drop(connection);
        self.line.call();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.close(VarInt::from_u32(0), b"");
    }
}

/// Asks whenever `notify` says so, until there is an answer.
async fn wait<T>(notify: &Notify, mut ask: impl FnMut() -> Option<T>) -> T {
    loop {
        let mut told = std::pin::pin!(notify.notified());
        // Before it asks: what is told from now on is heard.
        told.as_mut().enable();
        if let Some(answer) = ask() {
            return answer;
        }
        told.await;
    }
}
