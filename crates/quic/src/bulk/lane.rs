//! One stripe under way: its payload as written, and the receiver's report.

use bytes::Bytes;
use noq_proto::{Connection, ReadError, StreamId, VarInt, WriteError};

use super::BulkError;
use super::payload::{PIECE_BYTES, Payload, Stripe};
use super::report::{REPORT_SIZE, Report};

/// A stripe with its stream.
pub(super) struct Lane {
    stream: StreamId,
    offsets: Box<dyn Iterator<Item = u64> + Send>,
    /// The piece that the stream has not taken whole.
    rest: Bytes,
    /// Bytes that the stream has taken.
    written: u64,
    /// True if the stream takes no more for now.
    is_blocked: bool,
    /// True if all of it is written, or it was cut off.
    is_written: bool,
    heard: Vec<u8>,
    pub(super) report: Option<Report>,
}

impl Lane {
    pub(super) fn new(stream: StreamId, stripe: Stripe) -> Lane {
        Lane {
            stream,
            offsets: Box::new(stripe.offsets()),
            rest: Bytes::new(),
            written: 0,
            is_blocked: false,
            is_written: false,
            heard: Vec::new(),
            report: None,
        }
    }

    pub(super) fn is(&self, stream: StreamId) -> bool {
        self.stream == stream
    }

    pub(super) fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// Writes the next piece, or ends the stream after the last one. Returns the number of written bytes; `None` if the
    /// stream takes none.
    pub(super) fn write(
        &mut self,
        payload: &Payload,
        connection: &mut Connection,
    ) -> Result<Option<usize>, BulkError> {
        if self.is_blocked || self.is_written {
            return Ok(None);
        }
        let mut stream = connection.send_stream(self.stream);
        if self.rest.is_empty() {
            self.rest = self.next(payload);
        }
        let mut written = 0;
        if !self.rest.is_empty() {
            let rest = std::slice::from_mut(&mut self.rest);
            match stream.write_chunks(&mut { rest }) {
                Ok(count) => {
                    written = count;
                    self.written += count as u64;
                }
                Err(WriteError::Blocked) => {
                    self.is_blocked = true;
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
            if self.rest.is_empty() {
                self.rest = self.next(payload);
            }
        }
        // The stream ends with the last bytes, and not in a packet after them.
        if self.rest.is_empty() {
            self.is_written = true;
            if let Err(error) = stream.finish() {
                return Err(BulkError::Finish(error));
            }
        }
        Ok(Some(written))
    }

    fn next(&mut self, payload: &Payload) -> Bytes {
        let offset = self.offsets.next();
        offset.map_or_else(Bytes::new, |offset| payload.piece(offset, PIECE_BYTES))
    }

    /// Cuts the stripe off. This fails only if everything has been acknowledged already; the report is then under way
    /// all the same.
    pub(super) fn cut_off(&mut self, connection: &mut Connection) {
        self.is_written = true;
        if self.report.is_none() {
            let _ = connection
                .send_stream(self.stream)
                .reset(VarInt::from_u32(0));
        }
    }

    /// Reads what has arrived of the report.
    pub(super) fn read(&mut self, connection: &mut Connection) -> Result<(), BulkError> {
        if self.report.is_some() {
            return Ok(());
        }
        let mut stream = connection.recv_stream(self.stream);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(_) => return Err(BulkError::Report),
        };
        let is_ended = loop {
            match chunks.next(REPORT_SIZE + 1) {
                Ok(Some(chunk)) if self.heard.len() <= REPORT_SIZE => {
                    self.heard.extend_from_slice(&chunk.bytes);
                }
                Ok(Some(_)) => return Err(BulkError::Report),
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(error) => return Err(error.into()),
            }
        };
        if is_ended || self.heard.len() >= REPORT_SIZE {
            let report = Report::decode(&self.heard)?;
            if !report.may_be(self.written) {
                return Err(BulkError::Report);
            }
            self.report = Some(report);
        }
        Ok(())
    }
}
