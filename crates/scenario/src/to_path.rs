//! The conversion of a path for `path`, and its capacity.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use document::DocumentError;
use path::{Buffer, Capacity, Change, LinkConfig, PathConfig, Trace};
use units::{Bytes, Duration, Time};

use super::buffer::BufferSpec;
use super::link_spec::LinkSpec;
use super::path_spec::PathSpec;

/// The maximum size of a trace's file, in bytes. An hour at 100 Mbit/s has about 240 MB of text, so a larger file is
/// probably no trace.
const MAX_TRACE_BYTES: u64 = 1 << 28;

impl PathSpec {
    /// Returns the path for an engine: each direction with its part of the RTprop, the bottleneck and its effects in
    /// the direction of data, ACK loss and aggregation in the other. Reads the trace, if there is one.
    ///
    /// # Errors
    ///
    /// The fields are inconsistent, or the trace cannot be read.
    pub fn config(&self) -> Result<PathConfig, DocumentError> {
        self.config_at("path")
    }

    /// Does as [`PathSpec::config`] for the path with this name in the scenario.
    pub fn config_at(&self, name: &str) -> Result<PathConfig, DocumentError> {
        self.config_of(name).map_err(|error| error.within(name))
    }

    fn config_of(&self, name: &str) -> Result<PathConfig, DocumentError> {
        self.check_fields(name)?;
        let data = self.data.config(self.rtt, |rtt| self.forward(rtt))?;
        let back = |rtt: Duration| rtt.saturating_sub(self.forward(rtt));
        let acks = self.acks().config(self.rtt, back);
        Ok(PathConfig {
            forward: data,
            reverse: acks.map_err(|error| error.within("uplink"))?,
        })
    }
}

impl LinkSpec {
    /// The capacity between two times, if the link has a rate.
    pub fn capacity(&self, from: Duration, to: Duration) -> Option<Bytes> {
        Some(self.transmitted()?.between(from, to))
    }

    /// The maximum bytes that policer and rate admit between two times, if the link has either. The policer's bucket is
    /// assumed to be full at first.
    pub fn admitted(&self, from: Duration, to: Duration) -> Option<Bytes> {
        let policed = self.policed(to.saturating_sub(from));
        let limits = [self.capacity(from, to), policed];
        limits.into_iter().flatten().min()
    }

    /// The maximum bytes that the policer admits in a time that begins with a full bucket, if the link has one.
    pub(crate) fn policed(&self, span: Duration) -> Option<Bytes> {
        let policer = self.effects.policer?;
        Some(policer.burst + policer.rate.bytes_in(span))
    }

    /// Returns the link for an engine, on a path with this RTprop, of which its delay is a `part`. Reads the trace, if
    /// there is one.
    fn config(
        &self,
        rtt: Duration,
        part: impl Fn(Duration) -> Duration,
    ) -> Result<LinkConfig, DocumentError> {
        let capacity = match (&self.trace, self.rate) {
            (Some(file), _) => Capacity::Trace(read_trace(file)?),
            (None, Some(rate)) => Capacity::Rate(rate),
            (None, None) => Capacity::Unlimited,
        };
        self.settings(rtt, part, capacity)
    }

    /// Does as [`LinkSpec::config`] with this capacity.
    pub(super) fn settings(
        &self,
        rtt: Duration,
        part: impl Fn(Duration) -> Duration,
        capacity: Capacity,
    ) -> Result<LinkConfig, DocumentError> {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|change| change.at);
        let changes = changes.iter().map(|change| Change {
            at: Time::ZERO + change.at,
            rate: change.rate,
            delay: change.rtt.map(&part),
            mtu: change.mtu,
        });
        let link = LinkConfig {
            delay: part(rtt),
            capacity,
            buffer: match (self.buffer, self.buffer_bytes(rtt)) {
                (Some(BufferSpec::Packets(packets)), _) => Buffer::Packets(packets),
                (Some(_), Some(bytes)) => Buffer::Bytes(bytes),
                _ => Buffer::Unlimited,
            },
            effects: self.effects,
            changes: changes.collect(),
        };
        link.validate()?;
        Ok(link)
    }
}

/// Opens a trace's file, if it is a regular one.
#[cfg(unix)]
fn open(file: &Path) -> io::Result<File> {
    files::regular::open(file)
}

/// In a browser, there is none.
#[cfg(not(unix))]
fn open(file: &Path) -> io::Result<File> {
    File::open(file)
}

fn read_trace(file: &Path) -> Result<Trace, DocumentError> {
    let wrong = |reason: &dyn fmt::Display| {
        DocumentError::new("trace", format!("{}: {reason}", file.display()))
    };
    let mut text = String::new();
    let opened = open(file).map_err(|error| wrong(&error))?;
    // One byte above the maximum distinguishes a file that is too large from one that just fits.
    opened
        .take(MAX_TRACE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| wrong(&error))?;
    if text.len() as u64 > MAX_TRACE_BYTES {
        return Err(wrong(&"larger than 256 MiB; give a shorter trace"));
    }
    text.parse()
        .map_err(|error: path::TraceError| wrong(&error))
}
