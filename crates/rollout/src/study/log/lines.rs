//! Reads the lines of a log one by one, in bounded memory.

use std::io::Read;

use serde::Serialize;
use text::{Lines, TextError};

use super::{Format, Request};
use fleet::unzipped;

/// The maximum length of a line in bytes. A longer line is damaged.
const MAX_LINE_BYTES: usize = 64 << 10;

/// The maximum size of a log in bytes, decompressed: more than a billion lines, which take minutes.
const MAX_LOG_BYTES: u64 = 256 << 30;

/// Counts from reading a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LogCounts {
    /// The number of lines.
    pub lines: u64,
    /// The number of damaged lines.
    pub damaged: u64,
    /// The number of the first damaged line, and the damage.
    pub first_damaged: Option<(u64, String)>,
    /// True if its last line has no end, as if the server were still writing it. It is not used: digits may be missing.
    pub is_unfinished: bool,
    /// The reason why the log could not be read to its end.
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
    let read = unzipped(source, MAX_LOG_BYTES)
        .map_err(TextError::from)
        .and_then(|source| {
            let mut lines = Lines::new(source, MAX_LINE_BYTES).without_blank();
            while let Some(line) = lines.next_line()? {
                // An empty line does not count.
                if line.is_ok_and(|line| line.trim().is_empty()) {
                    continue;
                }
                let request = line
                    .map_err(|fault| fault.to_string())
                    .and_then(|line| format.request(line.trim_end()));
                // A complete JSON object shows its own end.
                let is_whole = request.is_ok() && matches!(format, Format::Json(_));
                if lines.is_ended() || is_whole {
                    counts.note(request.map(&mut each));
                } else {
                    counts.is_unfinished = true;
                }
            }
            Ok(())
        });
    counts.broken_off = read.err().map(|error| error.to_string());
    counts
}
