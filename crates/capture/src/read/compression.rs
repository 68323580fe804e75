//! What is compressed with gzip or zstd is read as what it is of.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The first bytes of a Zstandard frame (RFC 8878, section 3.1.1).
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How much of a compressed file is read at once.
const CHUNK: usize = 1 << 16;

/// The stream without its compression, if it has one.
pub fn plain<'r>(mut source: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    // A pipe may give less than it will.
    let mut head = Vec::new();
    source.by_ref().take(4).read_to_end(&mut head)?;
    let is_gzip = head.starts_with(GZIP);
    let is_zstd = head.starts_with(ZSTD);
    let whole = Cursor::new(head).chain(source);
    if is_gzip {
        let compressed = BufReader::with_capacity(CHUNK, whole);
        return Ok(Box::new(MultiGzDecoder::new(compressed)));
    }
    if is_zstd {
        return Ok(Box::new(Zstd {
            frame: None,
            between: Some(BufReader::with_capacity(CHUNK, whole)),
        }));
    }
    Ok(Box::new(whole))
}

/// A file of Zstandard frames, one behind the other.
struct Zstd<R: Read> {
    frame: Option<StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>>,
    /// The rest of the file while no frame is being read.
    between: Option<BufReader<R>>,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                // With an error, the decoder gives nothing of what it has decoded for this call: so it is asked for little.
                let some = to.len().min(CHUNK);
                let read = frame.read(&mut to[..some]).map_err(cut)?;
                if read > 0 || to.is_empty() {
                    return Ok(read);
                }
                self.between = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut rest) = self.between.take() else {
                return Ok(0);
            };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(rest);
            self.frame = Some(frame.map_err(|error| cut(io::Error::other(error)))?);
        }
    }
}

/// The decoder does not tell a file that was cut from one that is damaged: both are read as far as they go.
fn cut(error: io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, error)
}
