//! Reads the lines of a log one by one, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use serde::Serialize;

use super::{Format, Request};

/// A longer line is damaged.
const LONGEST: u64 = 64 << 10;

/// Counts from reading a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LogCounts {
    /// The number of lines.
    pub lines: u64,
    /// The number of damaged lines.
    pub damaged: u64,
    /// The number of the first damaged line, and what is wrong with it.
    pub first_damaged: Option<(u64, String)>,
    /// Why the log could not be read to its end.
    pub broken_off: Option<String>,
}

impl LogCounts {
    fn note(&mut self, outcome: Result<(), String>) {
        self.lines += 1;
        if let Err(why) = outcome {
            self.damaged += 1;
            self.first_damaged.get_or_insert((self.lines, why));
        }
    }
}

pub fn read(format: &Format, source: impl Read, mut each: impl FnMut(Request)) -> LogCounts {
    let mut counts = LogCounts::default();
    let read = opened(source).and_then(|mut source| {
        let mut line = Vec::new();
        while next(&mut source, &mut line)? {
            // An empty line does not count.
            if line.trim_ascii().is_empty() {
                continue;
            }
            let outcome = if line.len() as u64 > LONGEST {
                Err("is too long".to_owned())
            } else {
                format.request(line.trim_ascii_end()).map(&mut each)
            };
            counts.note(outcome);
        }
        Ok(())
    });
    counts.broken_off = read.err().map(|error| error.to_string());
    counts
}

/// The log as text, decompressed if necessary.
fn opened<'s>(source: impl Read + 's) -> io::Result<Box<dyn BufRead + 's>> {
    let mut source = BufReader::new(source);
    if source.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(source))));
    }
    Ok(Box::new(source))
}

/// Reads the next line, up to one byte over the limit.
fn next(source: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut part = source.take(LONGEST + 1);
    if part.read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.len() as u64 > LONGEST && !line.ends_with(b"\n") {
        skip(source)?;
    }
    Ok(true)
}

/// Skips the rest of a line.
fn skip(source: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let held = source.fill_buf()?;
        let end = held.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(held.len(), |end| end + 1);
        source.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}
