//! What comes in.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use noq::{ReadError, ReadExactError, ReadToEndError};
use noq_proto::{ClosedStream, StreamId, VarInt};

use crate::driver::connection::Share;

/// So much is taken from the connection at once: what a burst brings, for one turn of the lock.
const TAKEN: usize = 64 << 10;

/// The receiving side of a stream. Dropped before its end, it is stopped.
pub struct RecvStream {
    conn: Share,
    id: StreamId,
    /// Taken from the connection, and not yet by the application.
    taken: VecDeque<Bytes>,
    end: Option<End>,
}

/// After which nothing comes.
#[derive(Clone, Copy)]
enum End {
    Finished,
    Reset(VarInt),
    Stopped,
}

impl RecvStream {
    pub(in crate::driver) fn new(conn: Share, id: StreamId) -> RecvStream {
        RecvStream {
            conn,
            id,
            taken: VecDeque::new(),
            end: None,
        }
    }

    /// The next piece, of at most `max` bytes; nothing at the end. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// The peer has broken off, or the connection is over.
    pub async fn read_chunk(&mut self, max: usize) -> Result<Option<Bytes>, ReadError> {
        poll_fn(|cx| self.poll_fill(cx)).await?;
        let Some(first) = self.taken.front_mut() else {
            return Ok(None);
        };
        if first.len() > max {
            return Ok(Some(first.split_to(max)));
        }
        Ok(self.taken.pop_front())
    }

    /// Fills `buffer`. If the future is dropped before it is done, what it has read is lost.
    ///
    /// # Errors
    /// The stream ends before, the peer has broken off, or the connection is over.
    pub async fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), ReadExactError> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            let chunk = self.read_chunk(room.len()).await?;
            let Some(mut chunk) = chunk else {
                return Err(ReadExactError::FinishedEarly(filled));
            };
            filled += chunk.len();
            let length = chunk.len();
            if let Some(place) = room.get_mut(..length) {
                chunk.copy_to_slice(place);
            }
        }
        Ok(())
    }

    /// The whole rest of the stream, if it is no longer than `max`.
    ///
    /// # Errors
    /// It is longer, the peer has broken off, or the connection is over.
    pub async fn read_to_end(&mut self, max: usize) -> Result<Vec<u8>, ReadToEndError> {
        let mut read = Vec::new();
        while let Some(chunk) = self.read_chunk(usize::MAX).await? {
            if read.len() + chunk.len() > max {
                return Err(ReadToEndError::TooLong);
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read)
    }

    /// Wants no more.
    ///
    /// # Errors
    /// It is over already.
    pub fn stop(&mut self, code: VarInt) -> Result<(), ClosedStream> {
        self.taken.clear();
        self.end = Some(End::Stopped);
        self.conn.state().inner.recv_stream(self.id).stop(code)?;
        self.conn.attend();
        Ok(())
    }

    /// Waits until something is taken, or the end is known.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ReadError>> {
        if !self.taken.is_empty() {
            return Poll::Ready(Ok(()));
        }
        match self.end {
            Some(End::Finished) => return Poll::Ready(Ok(())),
            Some(End::Reset(code)) => return Poll::Ready(Err(ReadError::Reset(code))),
            Some(End::Stopped) => return Poll::Ready(Err(ReadError::ClosedStream)),
            None => {}
        }
        let mut state = self.conn.state();
        let mut stream = state.inner.recv_stream(self.id);
        let Ok(mut chunks) = stream.read(true) else {
            return Poll::Ready(Err(ReadError::ClosedStream));
        };
        let mut room = TAKEN;
        let mut is_blocked = false;
        while room > 0 && self.end.is_none() && !is_blocked {
            match chunks.next(room) {
                Ok(Some(chunk)) => {
                    room -= chunk.bytes.len();
                    self.taken.push_back(chunk.bytes);
                }
                Ok(None) => self.end = Some(End::Finished),
                Err(noq_proto::ReadError::Reset(code)) => self.end = Some(End::Reset(code)),
                Err(noq_proto::ReadError::Blocked) => is_blocked = true,
            }
        }
        let has_news = chunks.finalize().should_transmit();
        let is_waiting = self.taken.is_empty() && self.end.is_none();
        let result = match (&state.error, self.end) {
            (_, Some(End::Reset(code))) if self.taken.is_empty() => {
                Poll::Ready(Err(ReadError::Reset(code)))
            }
            _ if !is_waiting => Poll::Ready(Ok(())),
            (Some(error), _) => Poll::Ready(Err(error.clone().into())),
            (None, _) => {
                state.readers.insert(self.id, cx.waker().clone());
                Poll::Pending
            }
        };
        drop(state);
        if has_news {
            self.conn.attend();
        }
        result
    }
}

impl Drop for RecvStream {
    fn drop(&mut self) {
        let mut state = self.conn.state();
        state.readers.remove(&self.id);
        if self.end.is_some() || state.error.is_some() {
            return;
        }
        // It fails if the stream is over.
        let _ = state.inner.recv_stream(self.id).stop(VarInt::from_u32(0));
        drop(state);
        self.conn.attend();
    }
}
