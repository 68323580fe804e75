//! Files that may be compressed with gzip, in bounded memory and time.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use text::TextError;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The content of a file, decompressed if necessary. Reading fails behind `most` bytes: 1 MB can have 1 GB of content.
pub fn unzipped<'s>(source: impl Read + 's, most: u64) -> io::Result<Box<dyn BufRead + 's>> {
    let mut source = BufReader::new(source);
    let is_gzip = source.fill_buf()?.starts_with(GZIP);
    let plain: Box<dyn Read + 's> = if is_gzip {
        Box::new(MultiGzDecoder::new(source))
    } else {
        Box::new(source)
    };
    let left = most;
    Ok(Box::new(BufReader::new(AtMost { plain, left, most })))
}

/// A reader that fails beyond a maximum size.
struct AtMost<R> {
    plain: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            // This tells a source that ends here from a longer one.
            return match self.plain.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(TextError::Large(self.most).to_string())),
            };
        }
        let read = (&mut self.plain).take(self.left).read(to)?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_bound_is_for_the_content_and_not_for_the_file() {
        let content = vec![b'x'; 1 << 20];
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&content).unwrap();
        let zipped = gzip.finish().unwrap();
        assert!(zipped.len() < 2000);
        let read = |bytes: &[u8], most| io::read_to_string(unzipped(bytes, most).unwrap());
        for bytes in [&content[..], &zipped] {
            assert_eq!(read(bytes, 1 << 20).unwrap().len(), 1 << 20);
            let error = read(bytes, 1000).unwrap_err().to_string();
            assert_eq!(error, "is larger than 1000 bytes");
        }
        assert!(read(&zipped[..zipped.len() / 2], 1 << 20).is_err());
    }
}
