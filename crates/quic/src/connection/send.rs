//! Sending streams.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use noq_proto::{ClosedStream, ConnectionError, Dir, FinishError, StreamId, VarInt};

use super::Connection;

/// A stream that is written. When it is dropped, it ends after the written data.
#[derive(Debug)]
pub struct SendStream {
    connection: Connection,
    stream: StreamId,
}

/// The data that are still to be written to a stream.
#[derive(Debug)]
pub(super) struct Writing {
    chunks: Vec<Bytes>,
    /// The index of the first chunk that is not written whole.
    next: usize,
    /// True if the stream ends after them.
    is_last: bool,
    result: Option<Result<(), WriteError>>,
    /// True if the latest call has written something.
    is_written: bool,
}

impl Writing {
    fn new(chunks: Vec<Bytes>, is_last: bool) -> Writing {
        Writing {
            chunks,
            next: 0,
            is_last,
            result: None,
            is_written: false,
        }
    }

    /// Writes as much as the stream takes. Returns true if there is nothing more to wait for.
    pub(super) fn go_on(&mut self, id: StreamId, connection: &mut noq_proto::Connection) -> bool {
        self.is_written = false;
        while self.result.is_none() {
            let mut stream = connection.send_stream(id);
            let mut chunks = self.chunks.get_mut(self.next..).unwrap_or_default();
            if chunks.is_empty() {
                self.result = Some(Ok(()));
                if self.is_last {
                    // If the peer has stopped the stream, `stopped` reports it.
                    let _ = stream.finish();
                    self.is_written = true;
                }
                break;
            }
            let written = stream.write_chunks(&mut chunks);
            let left = chunks.len();
            self.next = self.chunks.len() - left;
            match written {
                Ok(_) => self.is_written = true,
                Err(noq_proto::WriteError::Blocked) => return false,
                Err(noq_proto::WriteError::Stopped(code)) => {
                    self.result = Some(Err(WriteError::Stopped(code)));
                }
                Err(noq_proto::WriteError::ClosedStream) => {
                    self.result = Some(Err(WriteError::ClosedStream));
                }
            }
        }
        true
    }

    /// True if there is nothing more to wait for.
    pub(super) fn is_over(&self) -> bool {
        self.result.is_some()
    }
}

/// The error of a write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The peer has stopped the stream.
    #[error("sending stopped by peer: error {0}")]
    Stopped(VarInt),
    /// The connection is over.
    #[error("connection lost: {0}")]
    ConnectionLost(#[from] ConnectionError),
    /// The stream has already ended.
    #[error("closed stream")]
    ClosedStream,
}

impl From<ClosedStream> for WriteError {
    fn from(_: ClosedStream) -> WriteError {
        WriteError::ClosedStream
    }
}

impl Connection {
    /// Opens a unidirectional stream, writes `chunks` without a copy, and ends it. Streams with a higher `priority` go
    /// first. The connection is locked once for all of this, unless there is no room for so much.
    ///
    /// # Errors
    /// The connection is over, or the peer has stopped the stream.
    pub async fn send_uni(&self, priority: i32, chunks: Vec<Bytes>) -> Result<(), WriteError> {
        let mut writing = Writing::new(chunks, true);
        let begin = |id, connection: &mut noq_proto::Connection| {
            // It has just been opened.
            let _ = connection.send_stream(id).set_priority(priority);
            writing.go_on(id, connection);
            self.0.shared.notify();
        };
        let stream = self.open(Dir::Uni, begin).await?;
        match writing.result.take() {
            Some(result) => result,
            None => SendStream::new(self.clone(), stream).go_on(writing).await,
        }
    }
}

impl SendStream {
    pub(super) fn new(connection: Connection, stream: StreamId) -> SendStream {
        SendStream { connection, stream }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// The stream takes no more.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_chunk(Bytes::copy_from_slice(bytes)).await
    }

    /// Writes all of `chunk` without a copy.
    ///
    /// # Errors
    /// The stream takes no more.
    pub async fn write_chunk(&mut self, chunk: Bytes) -> Result<(), WriteError> {
        self.go_on(Writing::new(vec![chunk], false)).await
    }

    async fn go_on(&mut self, writing: Writing) -> Result<(), WriteError> {
        let mut new = Some(writing);
        poll_fn(|context| self.poll_write(context, &mut new)).await
    }

    /// Writes as much as the stream takes, `new` chunks and earlier ones, until all is written.
    fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        new: &mut Option<Writing>,
    ) -> Poll<Result<(), WriteError>> {
        let held = &self.connection.0;
        let mut connection = held.shared.lock();
        let mut state = held.waiting.state();
        let before = state.writers.remove(&self.stream);
        let Some(mut writing) = new.take().or(before.map(|(_, writing)| writing)) else {
            return Poll::Ready(Ok(()));
        };
        if let (None, Some(error)) = (&writing.result, &state.error) {
            return Poll::Ready(Err(error.clone().into()));
        }
        if !writing.is_over() {
            writing.go_on(self.stream, &mut connection);
            if writing.is_written {
                held.shared.notify();
            }
        }
        match writing.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                let waiting = (context.waker().clone(), writing);
                state.writers.insert(self.stream, waiting);
                Poll::Pending
            }
        }
    }

    /// Ends the stream after the written data.
    ///
    /// # Errors
    /// The stream has already ended.
    pub fn finish(&mut self) -> Result<(), ClosedStream> {
        let shared = &self.connection.0.shared;
        let finished = shared.lock().send_stream(self.stream).finish();
        shared.notify();
        match finished {
            // If the peer has stopped the stream, `stopped` reports it.
            Ok(()) | Err(FinishError::Stopped(_)) => Ok(()),
            Err(FinishError::ClosedStream) => Err(ClosedStream::default()),
        }
    }

    /// Ends the stream at once, and drops the data that were not sent.
    ///
    /// # Errors
    /// The stream has already ended.
    pub fn reset(&mut self, code: VarInt) -> Result<(), ClosedStream> {
        let shared = &self.connection.0.shared;
        let reset = shared.lock().send_stream(self.stream).reset(code);
        shared.notify();
        reset
    }

    /// Sets the stream's priority. Streams with a higher priority go first.
    ///
    /// # Errors
    /// The stream has ended.
    pub fn set_priority(&self, priority: i32) -> Result<(), ClosedStream> {
        let mut connection = self.connection.0.shared.lock();
        connection.send_stream(self.stream).set_priority(priority)
    }

    /// Waits until the peer has everything (`None`), or has stopped the stream (its code).
    ///
    /// # Errors
    /// The connection is over.
    pub async fn stopped(&mut self) -> Result<Option<VarInt>, ConnectionError> {
        poll_fn(|context| {
            let held = &self.connection.0;
            let mut connection = held.shared.lock();
            let mut state = held.waiting.state();
            match connection.send_stream(self.stream).stopped() {
                Err(ClosedStream { .. }) => return Poll::Ready(Ok(None)),
                Ok(Some(code)) => return Poll::Ready(Ok(Some(code))),
                Ok(None) => {}
            }
            if let Some(error) = &state.error {
                return Poll::Ready(Err(error.clone()));
            }
            state.finishing.insert(self.stream, context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Drop for SendStream {
    fn drop(&mut self) {
        let held = &self.connection.0;
        let mut connection = held.shared.lock();
        let mut state = held.waiting.state();
        state.writers.remove(&self.stream);
        state.finishing.remove(&self.stream);
        if state.error.is_some() {
            return;
        }
        drop(state);
        let mut stream = connection.send_stream(self.stream);
        match stream.finish() {
            Ok(()) => {}
            Err(FinishError::Stopped(code)) => _ = stream.reset(code),
            Err(FinishError::ClosedStream) => return,
        }
        drop(connection);
        held.shared.notify();
    }
}
