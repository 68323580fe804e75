//! Access logs of servers: what clients asked for, how large it was, and how long it took.

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
    /// The other side.
    pub client: IpAddr,
    /// Its port.
    pub port: u16,
    /// When it was written down, which is when it had been answered: in seconds since 1970.
    pub ended_unix_s: f64,
    /// How many bytes it was answered with.
    pub bytes: u64,
    /// How long it took, in seconds: until the last byte was given to the kernel, not until it was acknowledged.
    pub took_s: f64,
}

/// What a line says of a request, as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said<'l> {
    /// In the order of [`format::WHAT`].
    values: [&'l str; 5],
}

/// So many seconds since 1970 are in the year 5138; milliseconds are more.
const LATEST: f64 = 1e11;

/// Longer than any request takes, in seconds.
const LONGEST: f64 = 1e7;

impl Said<'_> {
    /// The request; or what makes no sense.
    fn request(&self) -> Result<Request, String> {
        let [client, port, time, bytes, took] = self.values;
        // Without what is there instead: it may be an address.
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
    /// Reads a log, which may be compressed by gzip, and gives each request to `each`. What makes no sense is counted.
    pub fn read(&self, file: File, each: impl FnMut(Request)) -> LogCounts {
        lines::read(self, file, each)
    }

    /// The request in a line.
    ///
    /// # Errors
    ///
    /// What makes no sense in it.
    pub fn request(&self, line: &[u8]) -> Result<Request, String> {
        let line = std::str::from_utf8(line).map_err(|_| "is no text (UTF-8)".to_owned())?;
        match self {
            Format::Pattern(pattern) => pattern.said(line)?.request(),
            Format::Json(keys) => keys.request(line),
        }
    }
}

#[cfg(test)]
mod tests;
