//! A stream of which a window is in memory.

use std::io::{self, Read};

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// No record is longer.
pub const LONGEST: usize = 1 << 24;

/// A stream, and the part of it that was read and not yet taken.
pub struct Input<'r> {
    source: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that were taken.
    taken: u64,
}

impl<'r> Input<'r> {
    pub fn new(source: Box<dyn Read + 'r>) -> Input<'r> {
        Input {
            source,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            taken: 0,
        }
    }

    /// What was read and not yet taken.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// How much of the stream was taken.
    pub fn position(&self) -> u64 {
        self.taken
    }

    /// Takes `bytes` that are there.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> &[u8] {
        let from = self.start;
        self.start = self.end.min(from.saturating_add(bytes));
        self.taken += (self.start - from) as u64;
        &self.buffer[from..self.start]
    }

    /// Takes `bytes`, whether they are there yet or not; `false` if the stream ends before.
    pub fn skip(&mut self, bytes: usize) -> io::Result<bool> {
        let mut left = bytes;
        loop {
            left -= self.take(left).len();
            if left == 0 {
                return Ok(true);
            }
            if !self.want(1)? {
                return Ok(false);
            }
        }
    }

    /// Reads until at least `bytes` are there; `false` if the stream ends before, or nobody needs so many.
    pub fn want(&mut self, bytes: usize) -> io::Result<bool> {
        if bytes > LONGEST {
            return Ok(false);
        }
        while self.end - self.start < bytes {
            if self.buffer.len() - self.end < CHUNK {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
                let room = bytes.max(self.end).saturating_add(CHUNK);
                if self.buffer.len() < room {
                    self.buffer.resize(room, 0);
                }
            }
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
