//! What goes out.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use noq::WriteError;
use noq_proto::{ClosedStream, FinishError, StreamId, VarInt};

use crate::driver::connection::Share;

/// The sending side of a stream. Dropped, it is finished.
pub struct SendStream {
    conn: Share,
    id: StreamId,
}

impl SendStream {
    pub(in crate::driver) fn new(conn: Share, id: StreamId) -> SendStream {
        SendStream { conn, id }
    }

    /// Writes all of `bytes`. If the future is dropped before it is done, some of them may have been written.
    ///
    /// # Errors
    /// The peer wants no more, or the connection is over.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_chunk(Bytes::copy_from_slice(bytes)).await
    }

    /// Like [`write_all`](Self::write_all), without a copy.
    ///
    /// # Errors
    /// The peer wants no more, or the connection is over.
    pub async fn write_chunk(&mut self, bytes: Bytes) -> Result<(), WriteError> {
        let mut chunks = [bytes];
        self.write_all_chunks(&mut chunks).await
    }

    /// Writes all of `chunks`, which are empty then.
    ///
    /// # Errors
    /// The peer wants no more, or the connection is over.
    pub async fn write_all_chunks(&mut self, mut chunks: &mut [Bytes]) -> Result<(), WriteError> {
        while !chunks.is_empty() {
            poll_fn(|cx| self.poll_write(cx, &mut chunks)).await?;
        }
        Ok(())
    }

    fn poll_write(
        &self,
        cx: &mut Context<'_>,
        chunks: &mut &mut [Bytes],
    ) -> Poll<Result<usize, WriteError>> {
        let mut state = self.conn.state();
        if let Some(error) = state.error.clone() {
            return Poll::Ready(Err(error.into()));
        }
        let written = match state.inner.send_stream(self.id).write_chunks(chunks) {
            Ok(written) => written,
            Err(noq_proto::WriteError::Blocked) => {
                state.writers.insert(self.id, cx.waker().clone());
                return Poll::Pending;
            }
            Err(noq_proto::WriteError::Stopped(code)) => {
                return Poll::Ready(Err(WriteError::Stopped(code)));
            }
            Err(noq_proto::WriteError::ClosedStream) => {
                return Poll::Ready(Err(WriteError::ClosedStream));
            }
        };
        drop(state);
        self.conn.attend();
        Poll::Ready(Ok(written))
    }

    /// Says that there is no more.
    ///
    /// # Errors
    /// That, or a reset, has been said before.
    pub fn finish(&mut self) -> Result<(), ClosedStream> {
        let finished = self.conn.state().inner.send_stream(self.id).finish();
        match finished {
            Ok(()) => self.conn.attend(),
            // Nobody wants to know.
            Err(FinishError::Stopped(_)) => {}
            Err(FinishError::ClosedStream) => return Err(ClosedStream::default()),
        }
        Ok(())
    }

    /// Breaks off: what has not been delivered is not.
    ///
    /// # Errors
    /// It is over already.
    pub fn reset(&mut self, code: VarInt) -> Result<(), ClosedStream> {
        self.conn.state().inner.send_stream(self.id).reset(code)?;
        self.conn.attend();
        Ok(())
    }

    /// Which of the streams with something to send goes first: the one with the highest number.
    ///
    /// # Errors
    /// It is over already.
    pub fn set_priority(&self, priority: i32) -> Result<(), ClosedStream> {
        let mut state = self.conn.state();
        state.inner.send_stream(self.id).set_priority(priority)
    }

    /// Waits until the peer has everything, wants no more, or the connection is over.
    pub async fn stopped(&self) {
        let over = self.conn.wait(|state| {
            let stopped = state.inner.send_stream(self.id).stopped();
            let is_open = matches!(stopped, Ok(None)) && state.error.is_none();
            (!is_open).then_some(())
        });
        over.await;
    }
}

impl Drop for SendStream {
    fn drop(&mut self) {
        let mut state = self.conn.state();
        state.writers.remove(&self.id);
        if state.error.is_some() {
            return;
        }
        let mut stream = state.inner.send_stream(self.id);
        if let Err(FinishError::Stopped(code)) = stream.finish() {
            // It is open as long as it is neither finished nor reset.
            let _ = stream.reset(code);
        }
        drop(state);
        self.conn.attend();
    }
}
