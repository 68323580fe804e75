//! Access logs of servers: which requests clients sent, how large the answers were, and how long they took.

mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod json;
mod lines;
mod named;
mod pattern;
mod times;

use std::fs::File;
use std::net::{IpAddr, SocketAddr};

pub use format::Format;
pub use lines::LogCounts;
pub use named::FormatError;
use times::{Unit, instant, span};

/// A request that a server has answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The client's address.
    pub client: IpAddr,
    /// The client's port.
    pub port: u16,
    /// The time when it was logged, at the end of the answer, in seconds since 1970.
    pub ended_unix_s: f64,
    /// The resolution of that time, in seconds: the answer ended at most so much later.
    pub resolution_s: f64,
    /// The size of the answer in bytes.
    pub bytes: u64,
    /// The time, in seconds, until the server had given the last byte to the kernel. The acknowledgement comes later.
    pub took_s: f64,
}

/// The values of a request in a line, as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said<'l> {
    /// The values in the order of [`format::WHAT`].
    values: [&'l str; 5],
    /// The unit of the time taken, if it is not in seconds.
    unit: Option<Unit>,
}

impl Said<'_> {
    /// The request; or which value is not valid.
    fn request(&self) -> Result<Request, String> {
        let [client, port, time, bytes, took] = self.values;
        // The message does not quote the wrong value, which may be an address.
        let wrong = |what: &str| format!("has no {what} where it should be");
        let (client, port) = match client.parse::<SocketAddr>() {
            Ok(both) if port.is_empty() => (both.ip(), both.port()),
            _ => {
                let bare = client.trim_start_matches('[').trim_end_matches(']');
                let address = bare.parse().map_err(|_| wrong("address"))?;
                (address, port.parse().map_err(|_| wrong("port"))?)
            }
        };
        let (ended_unix_s, resolution_s) = instant(time).ok_or_else(|| wrong("time"))?;
        Ok(Request {
            client: client.to_canonical(),
            port,
            ended_unix_s,
            resolution_s,
            bytes: bytes.parse().map_err(|_| wrong("number of bytes"))?,
            took_s: span(took, self.unit).ok_or_else(|| wrong("time taken"))?,
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
    pub fn request(&self, line: &str) -> Result<Request, String> {
        match self {
            Format::Pattern(pattern) => pattern.said(line)?.request(),
            Format::Json(keys) => keys.request(line),
        }
    }
}

#[cfg(test)]
mod tests;
