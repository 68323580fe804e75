//! Streams that are written.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use noq_proto::{ClosedStream, ConnectionError, FinishError, StreamId, VarInt};

use super::Connection;

/// A stream that is written. Dropped, it ends after what was written.
#[derive(Debug)]
pub struct SendStream {
    connection: Connection,
    stream: StreamId,
}

/// Nothing more can be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The peer does not want more of it.
    #[error("sending stopped by peer: error {0}")]
    Stopped(VarInt),
    /// The connection is over.
    #[error("connection lost: {0}")]
    ConnectionLost(#[from] ConnectionError),
    /// The stream has been ended.
    #[error("closed stream")]
    ClosedStream,
}

impl From<ClosedStream> for WriteError {
    fn from(_: ClosedStream) -> WriteError {
        WriteError::ClosedStream
    }
}

impl SendStream {
    pub(super) fn new(connection: Connection, stream: StreamId) -> SendStream {
        SendStream { connection, stream }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// The stream takes no more.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_chunk(Bytes::copy_from_slice(bytes)).await
    }

    /// Writes all of it, without a copy.
    ///
    /// # Errors
    /// The stream takes no more.
    pub async fn write_chunk(&mut self, chunk: Bytes) -> Result<(), WriteError> {
        self.write_all_chunks(&mut [chunk]).await
    }

    /// Writes all of them, without a copy.
    ///
    /// # Errors
    /// The stream takes no more.
    pub async fn write_all_chunks(&mut self, mut chunks: &mut [Bytes]) -> Result<(), WriteError> {
        poll_fn(|context| self.poll_write(context, &mut chunks)).await
    }

    /// Writes as much as the stream takes, until all is written.
    fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        chunks: &mut &mut [Bytes],
    ) -> Poll<Result<(), WriteError>> {
        let held = &self.connection.0;
        let mut connection = held.line.lock();
        let mut is_written = false;
        let result = loop {
            if chunks.is_empty() {
                break Poll::Ready(Ok(()));
            }
            let mut state = held.waiting.state();
            if let Some(error) = &state.error {
                break Poll::Ready(Err(error.clone().into()));
            }
            match connection.send_stream(self.stream).write_chunks(chunks) {
                Ok(_) => is_written = true,
                Err(noq_proto::WriteError::Blocked) => {
                    state.writers.insert(self.stream, context.waker().clone());
                    break Poll::Pending;
                }
                Err(noq_proto::WriteError::Stopped(code)) => {
                    break Poll::Ready(Err(WriteError::Stopped(code)));
                }
                Err(noq_proto::WriteError::ClosedStream) => {
                    break Poll::Ready(Err(WriteError::ClosedStream));
                }
            }
        };
        drop(connection);
        if is_written {
            held.line.call();
        }
        result
    }

    /// Ends the stream after what was written.
    ///
    /// # Errors
    /// It has been ended.
    pub fn finish(&mut self) -> Result<(), ClosedStream> {
        let line = &self.connection.0.line;
        let finished = line.lock().send_stream(self.stream).finish();
        line.call();
        match finished {
            // Whether the peer wants it, `stopped` says.
            Ok(()) | Err(FinishError::Stopped(_)) => Ok(()),
            Err(FinishError::ClosedStream) => Err(ClosedStream::default()),
        }
    }

    /// Ends the stream at once: what was not sent is dropped.
    ///
    /// # Errors
    /// It has been ended.
    pub fn reset(&mut self, code: VarInt) -> Result<(), ClosedStream> {
        let line = &self.connection.0.line;
        let reset = line.lock().send_stream(self.stream).reset(code);
        line.call();
        reset
    }

    /// What has more of it goes first.
    ///
    /// # Errors
    /// The stream has been ended.
    pub fn set_priority(&self, priority: i32) -> Result<(), ClosedStream> {
        let mut connection = self.connection.0.line.lock();
        connection.send_stream(self.stream).set_priority(priority)
    }

    /// Waits until the peer has all of it (then nothing), or does not want more (then its code).
    ///
    /// # Errors
    /// The connection is over.
    pub async fn stopped(&mut self) -> Result<Option<VarInt>, ConnectionError> {
        poll_fn(|context| {
            let held = &self.connection.0;
            let mut connection = held.line.lock();
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
        let mut connection = held.line.lock();
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
        held.line.call();
    }
}
