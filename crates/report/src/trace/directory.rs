//! What captures show, as a directory of files.

use std::ffi::OsStr;
use std::path::Path;

use capture::Summary;
use capture::connection::Connection;

use super::{connections, html, samples};
use crate::json::pretty;
use crate::page::Origin;
use crate::place::{self, DirectoryError, REPORT, write_table, write_text};

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

/// Checks, before the captures are read, that [`write_dir`] may write to `directory`: it does not exist yet, is empty, or holds
/// what an earlier one wrote.
///
/// # Errors
///
/// There is something else, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    place::prepare(directory, is_ours)
}

/// Writes the summary, its tables and its page as a directory: all of it, or nothing.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and then nothing has changed.
pub fn write_dir(
    directory: &Path,
    summary: &Summary,
    all: &[Connection],
    origin: &Origin,
) -> Result<(), DirectoryError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    place::write(directory, is_ours, |part| {
        write_text(part, "summary.json", &(pretty(summary) + "\n"))?;
        write_table(part, "connections.parquet", connections(summary), &about)?;
        write_table(part, "samples.parquet", samples(all), &about)?;
        write_text(part, REPORT, &html(summary, all, origin))
    })
}
