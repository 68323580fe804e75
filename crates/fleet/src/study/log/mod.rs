//! Access logs of servers: which requests clients sent, how large the answers were, and how long they took.

mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod json;
mod lines;
mod pattern;

use std::fs::File;
use std::net::IpAddr;

pub use format::{Format, FormatError};
pub use lines::LogCounts;

/// A request that a server has answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The client's address.
    pub client: IpAddr,
    /// The client's port.
    pub port: u16,
    /// When it was logged, at the end of the answer, in seconds since 1970.
    pub ended_unix_s: f64,
    /// The size of the answer in bytes.
    pub bytes: u64,
    /// How long it took, in seconds, until the server had given the last byte to the kernel. The acknowledgement comes
    /// later.
    pub took_s: f64,
}

/// The values of a request in a line, as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said<'l> {
    /// The values in the order of [`format::WHAT`].
    values: [&'l str; 5],
}

/// This many seconds since 1970 are in the year 5138. A larger number is in milliseconds.
const LATEST: f64 = 1e11;

/// No request takes longer, in seconds.
const LONGEST: f64 = 1e7;

impl Said<'_> {
    /// The request; or which value is not valid.
    fn request(&self) -> Result<Request, String> {
        let [client, port, time, bytes, took] = self.values;
        // The message does not quote the wrong value, which may be an address.
        let wrong = |what: &str| format!("has no {what} where it should be");
        let bare = client.trim_start_matches('[').trim_end_matches(']');
        let address: IpAddr = bare.parse().map_err(|_| wrong("address"))?;
        let seconds = |what: &str, text: &str, most: f64| {
            let value: Option<f64> = text.parse().ok();
            value
                .filter(|value| (0.0..most).contains(value))
                .ok_or_else(|| wrong(what))
        };
        Ok(Request {
            client: address.to_canonical(),
            port: port.parse().map_err(|_| wrong("port"))?,
            ended_unix_s: seconds("time in seconds since 1970", time, LATEST)?,
            bytes: bytes.parse().map_err(|_| wrong("number of bytes"))?,
            took_s: seconds("time taken in seconds", took, LONGEST)?,
        })
    }
}

impl Format {
    /// Reads a log, which may be compressed with gzip, and gives each request to `each`. Damaged lines are counted.
    pub fn read(&self, file: File, each: impl FnMut(Request)) -> LogCounts {
        lines::read(self, file, each)
    }

    /// The request in a line.
    ///
    /// # Errors
    ///
    /// The line is not valid.
    pub fn request(&self, line: &[u8]) -> Result<Request, String> {
        let line = std::str::from_utf8(line).map_err(|_| "is not text (UTF-8)".to_owned())?;
        match self {
            Format::Pattern(pattern) => pattern.said(line)?.request(),
            Format::Json(keys) => keys.request(line),
        }
    }
}

#[cfg(test)]
mod tests;
