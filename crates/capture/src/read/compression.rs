//! Decompresses gzip and zstd.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::windows::{MAX_WINDOW_BYTES, Window, Windows};

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The first bytes of a Zstandard frame (RFC 8878, section 3.1.1).
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// True if this is the start of a skippable frame (RFC 8878, section 3.1.2).
fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The bytes of a compressed file that are read at once.
const CHUNK: usize = 1 << 16;

/// The stream, decompressed if it is compressed.
pub fn plain<'r>(mut source: impl Read + 'r, windows: &Windows) -> io::Result<Box<dyn Read + 'r>> {
    // A pipe may return less than was asked for.
    let mut head = Vec::new();
    source.by_ref().take(4).read_to_end(&mut head)?;
    let is_gzip = head.starts_with(GZIP);
    let is_zstd = head.starts_with(ZSTD) || is_skippable(&head);
    let whole = Cursor::new(head).chain(source);
    if is_gzip {
        let compressed = BufReader::with_capacity(CHUNK, whole);
        return Ok(Box::new(MultiGzDecoder::new(compressed)));
    }
    if is_zstd {
        return Ok(Box::new(Zstd {
            frame: None,
            read: 0,
            size: 0,
            window: windows.one("zstd window"),
            between: Some(Blocks::new(BufReader::with_capacity(CHUNK, whole))),
        }));
    }
    Ok(Box::new(whole))
}

/// A file of consecutive Zstandard frames.
struct Zstd<R: Read> {
    frame: Option<StreamingDecoder<Blocks<R>, FrameDecoder>>,
    /// The part of the frame that was read, and the size of its window.
    read: u64,
    size: u64,
    window: Window,
    /// The rest of the file between two frames.
    between: Option<Blocks<R>>,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                // On an error, the decoder drops what it has decoded in this call. So the calls are small.
                let some = to.len().min(CHUNK);
                let read = frame.read(&mut to[..some]).map_err(cut)?;
                if read > 0 || to.is_empty() {
                    self.read += read as u64;
                    self.window.set(self.read.min(self.size))?;
                    return Ok(read);
                }
                self.between = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut rest) = self.between.take() else {
                return Ok(0);
            };
            if rest.is_cut {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if !rest.begin()? {
                return Ok(0);
            }
            (self.read, self.size) = (0, rest.window);
            let frame = StreamingDecoder::new_with_max_window_size(rest, u64::MAX);
            self.frame = Some(frame.map_err(|error| cut(io::Error::other(error)))?);
        }
    }
}

/// A frame, block by block (RFC 8878, section 3.1.1). A truncated block is replaced by an empty last block, so that the
/// decoder returns the blocks before it.
struct Blocks<R> {
    source: R,
    /// The bytes that can be read.
    ready: Cursor<Vec<u8>>,
    /// True if the frame's checksum follows its blocks.
    has_checksum: bool,
    is_last: bool,
    is_cut: bool,
    /// The memory that the frame's window takes when it is full.
    window: u64,
}

impl<R: Read> Blocks<R> {
    fn new(source: R) -> Blocks<R> {
        Blocks {
            source,
            ready: Cursor::default(),
            has_checksum: false,
            is_last: true,
            is_cut: false,
            window: 0,
        }
    }

    /// Reads this many bytes, or fewer at the end of the file.
    fn some(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut some = Vec::new();
        let most = bytes as u64;
        match self.source.by_ref().take(most).read_to_end(&mut some) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(some),
        }
    }

    /// Reads the header of the next frame (section 3.1.1.1). Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        let mut header = self.some(5)?;
        while is_skippable(&header) {
            header.extend(self.some(3)?);
            let length = header.split_off(4).try_into();
            let length = length.map_err(|_| io::ErrorKind::UnexpectedEof)?;
            let length = u32::from_le_bytes(length).into();
            if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            header = self.some(5)?;
        }
        if header.is_empty() {
            return Ok(false);
        }
        if let [a, b, c, d, descriptor] = header[..]
            && [a, b, c, d] == *ZSTD
        {
            let is_single = descriptor >> 5 & 1;
            let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
            let content = match descriptor >> 6 {
                0 => usize::from(is_single),
                size => 1 << size,
            };
            let window = usize::from(1 - is_single);
            header.extend(self.some(window + dictionary + content)?);
            let (_, fields) = header.split_at(5);
            let field = fields.get(window + dictionary..).unwrap_or_default();
            if field.len() < content {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let bytes = field.iter().rev();
            let number = bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            // Two bytes begin at 256 (section 3.1.1.1.4).
            let number = number.saturating_add(if content == 2 { 256 } else { 0 });
            let of_content = if content > 0 { number } else { u64::MAX };
            // The content is the window of a frame without one (section 3.1.1.1.2).
            let size = |byte: u8| (1 << (10 + (byte >> 3))) / 8 * (8 + u64::from(byte & 7));
            let of_window = match header.get_mut(5).filter(|_| is_single == 0) {
                Some(byte) => {
                    let of_window = size(*byte);
                    // No window holds more than the content. A content that is longer than it says is damage.
                    while *byte >> 3 > 0 && size((*byte >> 3 << 3) - 8) >= of_content {
                        *byte = (*byte >> 3 << 3) - 8;
                    }
                    size(*byte).min(of_window)
                }
                None => of_content,
            };
            self.window = fitting(of_window)?;
            self.has_checksum = descriptor >> 2 & 1 == 1;
            self.is_last = false;
        }
        self.ready = Cursor::new(header);
        Ok(true)
    }

    /// Reads the next block (section 3.1.1.2).
    fn block(&mut self) -> io::Result<Vec<u8>> {
        let mut block = self.some(3)?;
        let mut is_whole = false;
        if let [a, b, c] = block[..] {
            let header = u32::from_le_bytes([a, b, c, 0]);
            // A block that repeats one byte has only that byte.
            let size = match header >> 1 & 3 {
                1 => 1,
                _ => (header >> 3) as usize,
            };
            self.is_last = header & 1 == 1;
            let checksum = usize::from(self.is_last && self.has_checksum) * 4;
            let rest = self.some(size + checksum)?;
            is_whole = rest.len() == size + checksum;
            block.extend(rest);
        }
        if !is_whole {
            (self.is_last, self.is_cut) = (true, true);
            block = vec![1, 0, 0];
            block.resize(3 + usize::from(self.has_checksum) * 4, 0);
        }
        Ok(block)
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.ready.read(to)?;
        if read > 0 || to.is_empty() || self.is_last {
            return Ok(read);
        }
        self.ready = Cursor::new(self.block()?);
        self.ready.read(to)
    }
}

/// The memory that a window of this size takes: the decoder doubles its buffer.
fn fitting(window: u64) -> io::Result<u64> {
    let memory = window.max(1).checked_next_power_of_two();
    memory.filter(|memory| *memory <= MAX_WINDOW_BYTES).ok_or_else(|| {
        let most = MAX_WINDOW_BYTES >> 20;
        io::Error::other(format!(
            "its zstd window takes more than {most} MiB; decompress it: zstd -dc --long=31 FILE | fullpipe trace -"
        ))
    })
}

/// The decoder does not tell a truncated file from a damaged one. Both are read as far as possible.
fn cut(error: io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::input::Input;
    use crate::read::windows::MAX_OPEN_BYTES;

    /// A frame with this descriptor and these fields of its header, and blocks of 128 KiB of the same byte.
    fn frame(descriptor: u8, fields: &[u8], blocks: u32) -> Vec<u8> {
        let mut file = [ZSTD, &[descriptor], fields].concat();
        for block in 0..blocks {
            let header = (1 << 17) << 3 | 1 << 1 | u32::from(block + 1 == blocks);
            file.extend(&header.to_le_bytes()[..3]);
            file.push(7);
        }
        file
    }

    /// Reads a file. Returns the result, and the most memory that it took.
    fn read(file: &[u8]) -> (io::Result<u64>, u64) {
        let mut result = Ok(0);
        let taken = allocation_counter::measure(|| {
            let plain = plain(file, &Windows::default());
            result = plain.and_then(|mut plain| io::copy(&mut plain, &mut io::sink()));
        });
        (result, taken.bytes_max)
    }

    #[test]
    fn a_window_beyond_the_bound_is_refused_before_it_is_filled() {
        let content = (1_u64 << 40).to_le_bytes();
        for (descriptor, fields) in [
            // A window of 2 TiB, and one of 256 MiB.
            (0, &[31 << 3][..]),
            (0, &[18 << 3]),
            // The content is the window.
            (3 << 6 | 1 << 5, &content),
        ] {
            let (first, taken) = read(&frame(descriptor, fields, 4_000));
            let why = first.expect_err("too large").to_string();
            assert!(why.contains("zstd -dc --long=31"), "{why}");
            assert!(taken < 1 << 20, "{taken}");
            // The same in the second frame, behind one that is skipped.
            let skipped = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9];
            let second = frame(descriptor, fields, 4_000);
            let file = [&frame(0, &[10 << 3], 2)[..], &skipped, &second].concat();
            assert!(read(&file).0.is_err());
        }
    }

    #[test]
    fn no_window_is_larger_than_the_content() {
        // `zstd --long=31` of a short file that says its length.
        let length = (4_u32 << 17).to_le_bytes();
        let fields = [&[21 << 3][..], &length].concat();
        let (whole, taken) = read(&frame(2 << 6, &fields, 4));
        assert_eq!(whole.expect("it fits"), 4 << 17);
        assert!(taken < 4 << 20, "{taken}");
        // Of one that is longer than it says, no more is held.
        let (_, taken) = read(&frame(2 << 6, &fields, 1_000));
        assert!(taken < 4 << 20, "{taken}");
        // Without `--long=31`: 128 MiB.
        let (whole, taken) = read(&frame(0, &[17 << 3], 2_000));
        assert_eq!(whole.expect("it fits"), 2_000 << 17);
        assert!(taken < MAX_OPEN_BYTES * 2, "{taken}");
    }

    #[test]
    fn windows_of_several_files_are_bounded_together() {
        // A window of 64 MiB.
        let file = frame(0, &[16 << 3], 513);
        let windows = Windows::default();
        let read = || {
            let mut one = plain(&file[..], &windows).expect("a frame");
            let read = io::copy(&mut one, &mut io::sink());
            (one, read)
        };
        let (first, second) = (read(), read());
        assert_eq!(first.1.expect("there is memory"), 513 << 17);
        assert!(second.1.is_ok());
        let error = read().1.expect_err("too many").to_string();
        assert!(
            error.starts_with("its zstd window takes 17 MiB or more"),
            "{error}"
        );
        drop(first.0);
        assert!(read().1.is_ok());
    }

    #[test]
    fn a_file_has_room_for_the_largest_window_and_the_longest_record() {
        // `zstd --long=27`, read to where the window is full.
        let file = frame(0, &[17 << 3], 1_200);
        let windows = Windows::default();
        let mut input = Input::new(plain(&file[..], &windows).expect("a frame"), &windows);
        assert!(input.skip(1_100 << 17).expect("it fits"));
        assert!(input.want(80 << 17).expect("it fits"));
    }
}
