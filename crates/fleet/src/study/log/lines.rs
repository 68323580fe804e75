//! A log's lines, one after the other, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use serde::Serialize;

use super::{Format, Request};

/// No line that makes sense is longer.
const LONGEST: u64 = 64 << 10;

/// What was read of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LogCounts {
    /// So many lines it has.
    pub lines: u64,
    /// So many of them make no sense.
    pub damaged: u64,
    /// The first of these, and what is wrong with it.
    pub first_damaged: Option<(u64, String)>,
    /// Why it could not be read to its end.
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
            // An empty one is none.
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

/// The log as text.
fn opened<'s>(source: impl Read + 's) -> io::Result<Box<dyn BufRead + 's>> {
    let mut source = BufReader::new(source);
    if source.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(source))));
    }
    Ok(Box::new(source))
}

/// The next line, and no more of it than one byte too many.
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

/// The rest of a line.
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
