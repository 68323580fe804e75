//! Receiving streams.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use noq_proto::{ConnectionError, StreamId, VarInt};

use super::Connection;

/// The maximum number of pieces taken at a time: the contents of so many packets. They are copied after the connection
/// is unlocked.
const MAX_PIECES: usize = 64;

/// A stream that is read. When it is dropped before its end, it tells the peer that the rest is not needed.
#[derive(Debug)]
pub struct RecvStream {
    connection: Connection,
    stream: StreamId,
    end: Option<End>,
}

/// The end of a stream.
#[derive(Debug, Clone, Copy)]
enum End {
    Whole,
    Reset(VarInt),
}

/// The received part of a stream that is read to its end.
#[derive(Debug)]
pub(super) struct Gathering {
    pieces: Vec<Bytes>,
    /// The number of bytes in them, and the maximum.
    bytes: usize,
    most: usize,
    end: Option<End>,
    is_closed: bool,
    /// True if the peer may be told that there is room for more.
    is_due: bool,
}

impl Gathering {
    pub(super) fn new(most: usize) -> Gathering {
        Gathering {
            pieces: Vec::new(),
            bytes: 0,
            most,
            end: None,
            is_closed: false,
            is_due: false,
        }
    }

    /// Takes what has arrived. Returns true if there is nothing more to wait for.
    pub(super) fn go_on(&mut self, id: StreamId, connection: &mut noq_proto::Connection) -> bool {
        if self.is_over() {
            return true;
        }
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            self.is_closed = true;
            return true;
        };
        while self.end.is_none() && self.bytes <= self.most {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    self.bytes += chunk.bytes.len();
                    self.pieces.push(chunk.bytes);
                }
                Ok(None) => self.end = Some(End::Whole),
                Err(noq_proto::ReadError::Reset(code)) => self.end = Some(End::Reset(code)),
                Err(noq_proto::ReadError::Blocked) => break,
            }
        }
        self.is_due = chunks.finalize().should_transmit();
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.is_closed || self.end.is_some() || self.bytes > self.most
    }
}

/// The error of a read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The peer has reset the stream.
    #[error("stream reset by peer: error {0}")]
    Reset(VarInt),
    /// The connection is over.
    #[error("connection lost: {0}")]
    ConnectionLost(#[from] ConnectionError),
    /// The stream has already ended.
    #[error("closed stream")]
    ClosedStream,
}

/// The error of a read of an exact length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadExactError {
    /// The stream ended after this many bytes.
    #[error("stream finished early ({0} bytes read)")]
    FinishedEarly(usize),
    /// The stream cannot be read.
    #[error(transparent)]
    ReadError(#[from] ReadError),
}

/// The error of a read to the stream's end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadToEndError {
    /// The stream has more bytes.
    #[error("stream too long")]
    TooLong,
    /// The stream cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl RecvStream {
    pub(super) fn new(connection: Connection, stream: StreamId) -> RecvStream {
        RecvStream {
            connection,
            stream,
            end: None,
        }
    }

    /// Fills `to`.
    ///
    /// # Errors
    /// The stream ends before, or fails.
    pub async fn read_exact(&mut self, mut to: &mut [u8]) -> Result<(), ReadExactError> {
        let mut count = 0;
        let mut pieces = Vec::new();
        while !to.is_empty() {
            if !self.read_pieces(to.len(), MAX_PIECES, &mut pieces).await? {
                return Err(ReadExactError::FinishedEarly(count));
            }
            for piece in pieces.drain(..) {
                // A piece is no longer than the room.
                let (start, rest) = to.split_at_mut(piece.len());
                start.copy_from_slice(&piece);
                (to, count) = (rest, count + piece.len());
            }
        }
        Ok(())
    }

    /// Reads the next piece, of at most `most` bytes. Returns `None` at the end.
    ///
    /// # Errors
    /// The stream fails.
    pub async fn read_chunk(&mut self, most: usize) -> Result<Option<Bytes>, ReadError> {
        let mut pieces = Vec::new();
        self.read_pieces(most, 1, &mut pieces).await?;
        Ok(pieces.pop())
    }

    /// Reads everything until the end, at most `most` bytes. The task is not woken before.
    ///
    /// # Errors
    /// There are more bytes, or the stream fails.
    pub async fn read_to_end(&mut self, most: usize) -> Result<Vec<u8>, ReadToEndError> {
        let pieces = poll_fn(|context| self.poll_to_end(context, most)).await?;
        let mut all = Vec::with_capacity(pieces.iter().map(Bytes::len).sum());
        pieces.iter().for_each(|piece| all.extend_from_slice(piece));
        Ok(all)
    }

    fn poll_to_end(
        &mut self,
        context: &mut Context<'_>,
        most: usize,
    ) -> Poll<Result<Vec<Bytes>, ReadToEndError>> {
        match self.end {
            Some(End::Whole) => return Poll::Ready(Ok(Vec::new())),
            Some(End::Reset(code)) => return Poll::Ready(Err(ReadError::Reset(code).into())),
            None => {}
        }
        let held = &self.connection.0;
        let mut connection;
        let mut state = held.waiting.state();
        let gathering = match state.gathering.remove(&self.stream) {
            // The driver's thread takes the data, so the connection is not locked.
            Some((_, gathering)) => gathering,
            None => {
                drop(state);
                // The connection stays locked until the driver's thread knows of the task.
                connection = held.shared.lock();
                let mut gathering = Gathering::new(most);
                gathering.go_on(self.stream, &mut connection);
                if gathering.is_due {
                    held.shared.notify();
                }
                state = held.waiting.state();
                gathering
            }
        };
        self.end = gathering.end;
        Poll::Ready(match (gathering.end, &state.error) {
            _ if gathering.is_closed => Err(ReadError::ClosedStream.into()),
            _ if gathering.bytes > most => Err(ReadToEndError::TooLong),
            (Some(End::Whole), _) => Ok(gathering.pieces),
            (Some(End::Reset(code)), _) => Err(ReadError::Reset(code).into()),
            (None, Some(error)) => Err(ReadError::from(error.clone()).into()),
            (None, None) => {
                let waiting = (context.waker().clone(), gathering);
                state.gathering.insert(self.stream, waiting);
                return Poll::Pending;
            }
        })
    }

    /// Reads the next pieces, of at most `most` bytes together. Returns false at the stream's end.
    async fn read_pieces(
        &mut self,
        bytes: usize,
        count: usize,
        to: &mut Vec<Bytes>,
    ) -> Result<bool, ReadError> {
        poll_fn(|context| self.poll_pieces(context, bytes, count, to)).await
    }

    fn poll_pieces(
        &mut self,
        context: &mut Context<'_>,
        mut bytes: usize,
        count: usize,
        to: &mut Vec<Bytes>,
    ) -> Poll<Result<bool, ReadError>> {
        match self.end {
            Some(End::Whole) => return Poll::Ready(Ok(false)),
            Some(End::Reset(code)) => return Poll::Ready(Err(ReadError::Reset(code))),
            None => {}
        }
        let held = &self.connection.0;
        let mut connection = held.shared.lock();
        let mut stream = connection.recv_stream(self.stream);
        let Ok(mut chunks) = stream.read(true) else {
            return Poll::Ready(Err(ReadError::ClosedStream));
        };
        while bytes > 0 && to.len() < count && self.end.is_none() {
            match chunks.next(bytes) {
                Ok(Some(chunk)) => {
                    bytes -= chunk.bytes.len();
                    to.push(chunk.bytes);
                }
                Ok(None) => self.end = Some(End::Whole),
                Err(noq_proto::ReadError::Reset(code)) => self.end = Some(End::Reset(code)),
                Err(noq_proto::ReadError::Blocked) => break,
            }
        }
        let is_due = chunks.finalize().should_transmit();
        let mut state = held.waiting.state();
        let read = match (self.end, &state.error) {
            _ if !to.is_empty() => Poll::Ready(Ok(true)),
            (Some(End::Whole), _) => Poll::Ready(Ok(false)),
            (Some(End::Reset(code)), _) => Poll::Ready(Err(ReadError::Reset(code))),
            (None, Some(error)) => Poll::Ready(Err(error.clone().into())),
            (None, None) => {
                state.readers.insert(self.stream, context.waker().clone());
                Poll::Pending
            }
        };
        drop(state);
        drop(connection);
        if is_due {
            held.shared.notify();
        }
        read
    }
}

impl Drop for RecvStream {
    fn drop(&mut self) {
        if self.end.is_some() {
            return;
        }
        let held = &self.connection.0;
        let mut connection = held.shared.lock();
        let mut state = held.waiting.state();
        state.readers.remove(&self.stream);
        let gathering = state.gathering.remove(&self.stream);
        if gathering.is_some_and(|(_, gathering)| gathering.end.is_some()) {
            return;
        }
        if state.error.is_some() {
            return;
        }
        drop(state);
        // This fails if the stream has ended.
        let _ = connection
            .recv_stream(self.stream)
            .stop(VarInt::from_u32(0));
        drop(connection);
        held.shared.notify();
    }
}
