//! The results of captures as a directory of files.

use std::ffi::OsStr;
use std::path::Path;

use serde::Serialize;
use trace::quic::QuicSummary;
use trace::{ConnectionSummary, Counts, Summary, Timeline};

use super::{connections, html, samples};
use crate::page::Origin;
use crate::place::{self, DirectoryError, REPORT, write_json, write_table, write_text};

/// The maximum number of TCP connections, and of QUIC connections, in the summary: those with the most payload.
pub const MAX_SUMMARIZED: usize = 10_000;

/// The written part of the summary.
#[derive(Serialize)]
struct Written<'s> {
    start_s: Option<f64>,
    read: &'s Counts,
    evicted: u64,
    /// The number of connections that only the table has.
    left_out: usize,
    connections: &'s [ConnectionSummary],
    quic: &'s [QuicSummary],
}

impl<'s> Written<'s> {
    fn of(summary: &'s Summary) -> Written<'s> {
        let (connections, quic) = (&summary.connections, &summary.quic);
        let written = [connections.len(), quic.len()].map(|all| all.min(MAX_SUMMARIZED));
        let [tcp, udp] = written;
        Written {
            start_s: summary.start_s,
            read: &summary.read,
            evicted: summary.evicted,
            left_out: connections.len() + quic.len() - tcp - udp,
            connections: &connections[..tcp],
            quic: &quic[..udp],
        }
    }
}

/// The files.
pub const FILES: [&str; 4] = [
    "summary.json",
    "connections.parquet",
    "samples.parquet",
    REPORT,
];

fn is_ours(name: &OsStr) -> bool {
    FILES.iter().any(|file| name == *file)
}

/// Checks, before the captures are read, that [`write_dir`] can write to `directory`: it does not exist yet, is empty,
/// or holds only an older result.
///
/// # Errors
///
/// There is something else, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    place::prepare(directory, is_ours)
}

/// Writes the summary, its tables and its page as a directory: everything or nothing.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and nothing has changed.
pub fn write_dir(
    directory: &Path,
    summary: &Summary,
    all: &[Timeline],
    origin: &Origin,
) -> Result<(), DirectoryError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    place::write(directory, is_ours, |part| {
        write_json(part, "summary.json", &Written::of(summary))?;
        write_table(part, "connections.parquet", connections(summary), &about)?;
        write_table(part, "samples.parquet", samples(all), &about)?;
        write_text(part, REPORT, &html(summary, all, origin))
    })
}
