//! A stream with a window of it in memory.

use std::io::{self, Read};

use super::windows::{CHUNK_BYTES, MAX_RECORD_BYTES, Window, Windows};

/// A buffer that is longer than this is for a long record. It counts with those of the other files, and does not stay.
const MAX_KEPT_BUFFER_BYTES: usize = 1 << 20;

/// A stream, and its part that was read but not consumed.
pub struct Input<'r> {
    source: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    window: Window,
    start: usize,
    end: usize,
    /// The number of bytes that were consumed.
    taken: u64,
    /// True if the compressed stream ended early.
    is_cut: bool,
}

impl<'r> Input<'r> {
    pub fn new(source: Box<dyn Read + 'r>, windows: &Windows) -> Input<'r> {
        Input {
            source,
            buffer: Vec::new(),
            window: windows.one("long packet"),
            start: 0,
            end: 0,
            taken: 0,
            is_cut: false,
        }
    }

    /// The bytes that were read but not consumed.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The number of bytes that were consumed.
    pub fn position(&self) -> u64 {
        self.taken
    }

    /// Consumes `bytes` of the window.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> &[u8] {
        let from = self.start;
        self.start = self.end.min(from.saturating_add(bytes));
        self.taken += (self.start - from) as u64;
        &self.buffer[from..self.start]
    }

    /// Consumes `bytes`, which need not be in the window. Returns `false` if the stream ends before that.
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

    /// Reads until the window has at least `bytes`. Returns `false` if the stream ends before that, or `bytes` is more than
    /// any record needs.
    pub fn want(&mut self, bytes: usize) -> io::Result<bool> {
        if bytes > MAX_RECORD_BYTES {
            return Ok(false);
        }
        while self.end - self.start < bytes {
            if self.buffer.len() - self.end < CHUNK_BYTES {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
                let room = bytes.max(self.end).saturating_add(CHUNK_BYTES);
                self.fit(room)?;
            }
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.is_cut = true;
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes the buffer at least so long.
    fn fit(&mut self, room: usize) -> io::Result<()> {
        if (room..=MAX_KEPT_BUFFER_BYTES.max(room)).contains(&self.buffer.len()) {
            return Ok(());
        }
        self.window.set(if room > MAX_KEPT_BUFFER_BYTES {
            room as u64
        } else {
            0
        })?;
        self.buffer.truncate(room);
        self.buffer.shrink_to_fit();
        self.buffer.reserve_exact(room - self.buffer.len());
        self.buffer.resize(room, 0);
        Ok(())
    }

    /// True if the compressed stream ended early, as when the compressing program was killed.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::read::compression;

    #[test]
    fn long_records_side_by_side_are_bounded_and_leave_no_buffers() {
        let windows = Windows::default();
        let long = || {
            let mut input = Input::new(Box::new(io::repeat(0)), &windows);
            let read = input.want(MAX_RECORD_BYTES);
            (input, read)
        };
        let mut some: Vec<_> = (0..8).map(|_| long()).collect();
        assert!(some.iter().all(|(_, read)| matches!(read, Ok(true))));
        assert!(long().1.is_err());
        for (input, _) in &mut some {
            assert!(
                input.skip(MAX_RECORD_BYTES + 2 * CHUNK_BYTES).unwrap() && input.want(1).unwrap()
            );
            assert!(input.buffer.capacity() <= MAX_KEPT_BUFFER_BYTES);
        }
        assert!(long().1.is_ok());
    }

    #[test]
    fn what_is_compressed_is_read_as_far_as_it_goes() {
        let mut number = 1_u32;
        let mut chance = || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            number.to_be_bytes()[0]
        };
        let plain: Vec<u8> = (0..1_000_000).map(|_| chance()).collect();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&plain).unwrap();
        let level = ruzstd::encoding::CompressionLevel::Uncompressed;
        let compress = |frame: &[u8]| ruzstd::encoding::compress_to_vec(frame, level);
        let two = plain.chunks(500_000).flat_map(compress).collect();
        for whole in [gzip.finish().unwrap(), compress(&plain), two] {
            let cut = &whole[..whole.len() / 4 * 3];
            let windows = Windows::default();
            let plainly =
                |bytes| Input::new(compression::plain(bytes, &windows).unwrap(), &windows);
            let mut input = plainly(cut);
            assert!(!input.want(plain.len()).unwrap());
            assert!(input.is_cut());
            let read = input.data();
            assert!(
                plain.starts_with(read) && read.len() >= 500_000,
                "{}",
                read.len()
            );
            let mut input = plainly(whole.as_slice());
            assert!(input.want(plain.len()).unwrap() && !input.want(plain.len() + 1).unwrap());
            assert!(!input.is_cut());
        }
    }
}
