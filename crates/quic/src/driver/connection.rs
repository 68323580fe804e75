//! A connection, as the application has it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Instant;

use bytes::Bytes;
use noq_proto::crypto::ExportKeyingMaterialError;
use noq_proto::{
    ConnectionError, ConnectionHandle, ConnectionStats, Dir, Event, PathId, PathStats, StreamEvent,
    StreamId, VarInt,
};
use tokio::sync::Notify;

use super::shared::Shared;
use super::streams::{RecvStream, SendStream};

/// A connection of an endpoint, shared by the driver and the application's handles.
pub(super) struct Conn {
    pub(super) handle: ConnectionHandle,
    /// Where the peer is at first.
    remote: SocketAddr,
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// The driver has been told to look at it, and has not done so yet.
    pub(super) is_attended: AtomicBool,
    /// Handles of the application, those of streams included.
    handles: AtomicUsize,
    /// Told of whatever may happen only now and then: the handshake's end, new streams, room for more, the connection's end.
    changed: Notify,
}

/// What the connection's lock protects.
pub(super) struct State {
    pub(super) inner: noq_proto::Connection,
    /// Why nothing works any more.
    pub(super) error: Option<ConnectionError>,
    is_connected: bool,
    /// Who waits to read from a stream or to write to it.
    pub(super) readers: HashMap<StreamId, Waker>,
    pub(super) writers: HashMap<StreamId, Waker>,
}

/// Whom to wake once the connection is unlocked: they will want the lock.
#[derive(Default)]
pub(super) struct Woken {
    wakers: Vec<Waker>,
    has_changed: bool,
}

impl Woken {
    pub(super) fn wake(&mut self, conn: &Conn) {
        self.wakers.drain(..).for_each(Waker::wake);
        if std::mem::take(&mut self.has_changed) {
            conn.changed.notify_waiters();
        }
    }
}

impl State {
    /// Passes on what the protocol has to say.
    pub(super) fn take_events(&mut self, woken: &mut Woken) {
        while let Some(event) = self.inner.poll() {
            match event {
                Event::Stream(StreamEvent::Readable { id }) => {
                    woken.wakers.extend(self.readers.remove(&id));
                }
                Event::Stream(StreamEvent::Writable { id }) => {
                    woken.wakers.extend(self.writers.remove(&id));
                }
                Event::Stream(StreamEvent::Stopped { id, .. }) => {
                    woken.wakers.extend(self.writers.remove(&id));
                    woken.has_changed = true;
                }
                Event::ConnectionLost { reason } => self.end(reason, woken),
                Event::Connected => {
                    self.is_connected = true;
                    woken.has_changed = true;
                }
                _ => woken.has_changed = true,
            }
        }
    }

    /// The connection is over: nobody must wait any longer.
    fn end(&mut self, reason: ConnectionError, woken: &mut Woken) {
        self.error = Some(reason);
        let waiting = self.readers.drain().chain(self.writers.drain());
        woken.wakers.extend(waiting.map(|(_, waker)| waker));
        woken.has_changed = true;
    }

    pub(super) fn close(&mut self, code: VarInt, reason: Bytes, woken: &mut Woken) {
        if self.error.is_none() {
            self.inner.close(Instant::now(), code, reason);
            self.end(ConnectionError::LocallyClosed, woken);
        }
    }
}

impl Conn {
    pub(super) fn new(
        handle: ConnectionHandle,
        remote: SocketAddr,
        inner: noq_proto::Connection,
        shared: Arc<Shared>,
    ) -> Conn {
        Conn {
            handle,
            remote,
            shared,
            state: Mutex::new(State {
                inner,
                error: None,
                is_connected: false,
                readers: HashMap::new(),
                writers: HashMap::new(),
            }),
            is_attended: AtomicBool::new(false),
            handles: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // If noq panics, the connection is in no defined state, but others must be able to end.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the driver look at it.
    pub(super) fn attend(&self) {
        if !self.is_attended.swap(true, Ordering::SeqCst) {
            self.shared.attend(self.handle);
        }
    }

    pub(super) fn close(&self, code: VarInt, reason: Bytes) {
        let mut woken = Woken::default();
        self.state().close(code, reason, &mut woken);
        woken.wake(self);
        self.attend();
    }
}

/// A share in a connection. Dropping the last one closes it.
pub(super) struct Share(Arc<Conn>);

impl Share {
    pub(super) fn of(conn: Arc<Conn>) -> Share {
        conn.handles.fetch_add(1, Ordering::Relaxed);
        Share(conn)
    }

    /// What `look` finds, as soon as it finds something.
    pub(super) async fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // What happens after the look is not missed.
            changed.as_mut().enable();
            if let Some(found) = look(&mut self.state()) {
                return found;
            }
            changed.await;
        }
    }
}

impl Clone for Share {
    fn clone(&self) -> Share {
        Share::of(self.0.clone())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close(VarInt::from_u32(0), Bytes::new());
        }
    }
}

impl std::ops::Deref for Share {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.0
    }
}

/// A connection whose handshake is under way: to be awaited. Dropped before, it is closed.
pub struct Connecting(Share);

impl Connecting {
    pub(super) fn new(conn: Arc<Conn>) -> Connecting {
        Connecting(Share::of(conn))
    }
}

impl IntoFuture for Connecting {
    type Output = Result<Connection, ConnectionError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let connected = self
                .0
                .wait(|state| match (&state.error, state.is_connected) {
                    (Some(error), _) => Some(Err(error.clone())),
                    (None, true) => Some(Ok(())),
                    (None, false) => None,
                });
            connected.await?;
            Ok(Connection(self.0))
        })
    }
}

/// An established connection. Clones are the same connection, which is closed when the last of them, and the last of its
/// streams, has been dropped.
#[derive(Clone)]
pub struct Connection(Share);

impl Connection {
    /// Opens a stream in both directions, as soon as the peer allows one more. The peer sees it when something has been sent.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let id = self.open(Dir::Bi).await?;
        Ok(self.both(id))
    }

    /// Opens a stream in our direction, as soon as the peer allows one more.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn open_uni(&self) -> Result<SendStream, ConnectionError> {
        let id = self.open(Dir::Uni).await?;
        Ok(SendStream::new(self.0.clone(), id))
    }

    /// The next stream in both directions that the peer has opened.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let id = self.accept(Dir::Bi).await?;
        Ok(self.both(id))
    }

    /// The next stream in its own direction that the peer has opened.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn accept_uni(&self) -> Result<RecvStream, ConnectionError> {
        let id = self.accept(Dir::Uni).await?;
        Ok(RecvStream::new(self.0.clone(), id))
    }

    async fn open(&self, dir: Dir) -> Result<StreamId, ConnectionError> {
        let opened = self.0.wait(|state| match &state.error {
            Some(error) => Some(Err(error.clone())),
            None => state.inner.streams().open(dir).map(Ok),
        });
        opened.await
    }

    async fn accept(&self, dir: Dir) -> Result<StreamId, ConnectionError> {
        let accepted = self
            .0
            .wait(|state| match state.inner.streams().accept(dir) {
                Some(id) => Some(Ok(id)),
                None => state.error.clone().map(Err),
            });
        let id = accepted.await?;
        // The peer may be allowed to open another one.
        self.0.attend();
        Ok(id)
    }

    fn both(&self, id: StreamId) -> (SendStream, RecvStream) {
        (
            SendStream::new(self.0.clone(), id),
            RecvStream::new(self.0.clone(), id),
        )
    }

    /// Waits until the connection is over, and says why.
    pub async fn closed(&self) -> ConnectionError {
        self.0.wait(|state| state.error.clone()).await
    }

    /// Why the connection is over, if it is.
    pub fn close_reason(&self) -> Option<ConnectionError> {
        self.0.state().error.clone()
    }

    /// Closes the connection at once, with a code and a reason for the peer. What has not been delivered is lost.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.0.close(code, Bytes::copy_from_slice(reason));
    }

    /// Where the peer is.
    pub fn remote_address(&self) -> SocketAddr {
        let path = self.0.state().inner.network_path(PathId::ZERO);
        path.map_or(self.0.remote, |path| path.remote())
    }

    /// A number that no other connection has as long as this one lives.
    pub fn stable_id(&self) -> usize {
        Arc::as_ptr(&self.0.0).addr()
    }

    /// What the protocol has counted.
    pub fn stats(&self) -> ConnectionStats {
        self.0.state().inner.stats()
    }

    /// What it has counted of the path in use; nothing once there is none.
    pub fn path_stats(&self) -> Option<PathStats> {
        self.0.state().inner.path_stats(PathId::ZERO)
    }

    /// Asks for an acknowledgement.
    pub fn ping(&self) {
        self.0.state().inner.ping();
        self.0.attend();
    }

    /// Keys that both sides of the TLS session, and nobody else, can derive (RFC 8446, "Exporters").
    ///
    /// # Errors
    /// The output is too long.
    pub fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let state = self.0.state();
        state
            .inner
            .crypto_session()
            .export_keying_material(output, label, context)
    }

    /// How much the peer may send before the application has read it.
    pub fn set_receive_window(&self, window: VarInt) {
        self.0.state().inner.set_receive_window(window);
        self.0.attend();
    }

    /// How many streams in both directions the peer may have open.
    pub fn set_max_concurrent_bi_streams(&self, count: VarInt) {
        self.0
            .state()
            .inner
            .set_max_concurrent_streams(Dir::Bi, count);
        self.0.attend();
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").field(&self.0.handle).finish()
    }
}
