//! The observations of a command, as a directory of files.

use std::ffi::OsStr;
use std::path::Path;

use super::page::page;
use super::watch::WaySample;
use super::{Observed, text};
use report::place::{self, REPORT, write_table, write_text};
use report::{DirectoryError, Origin};
use tables::Column;

/// The files of the directory.
pub const FILES: [&str; 4] = ["summary.json", "summary.txt", "ways.parquet", REPORT];

/// Checks, before the command runs, that [`write_dir`] may write to `directory`. It must not exist yet, be empty, or
/// hold only earlier results; and a directory can be created beside it.
///
/// # Errors
///
/// There are other files, or no parent directory, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    place::prepare(directory, is_ours)
}

fn is_ours(name: &OsStr) -> bool {
    FILES.iter().any(|file| name == *file)
}

/// Writes the [`FILES`] as a directory, whole or not at all. Earlier results are replaced.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and then nothing has changed.
pub fn write_dir(
    directory: &Path,
    observed: &Observed,
    origin: &Origin,
) -> Result<(), DirectoryError> {
    let about = [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_string()),
        ("fullpipe.command", origin.command.clone()),
        ("fullpipe.seed", observed.summary.seed.to_string()),
    ];
    let summary = report::pretty(&observed.summary);
    place::write(directory, is_ours, |part| {
        write_text(part, "summary.json", &(summary + "\n"))?;
        write_text(part, "summary.txt", &text::table(&observed.summary, None))?;
        write_table(part, "ways.parquet", ways(observed), &about)?;
        write_text(part, REPORT, &page(observed, origin))
    })
}

/// A sample of one direction.
struct Row<'o> {
    direction: &'static str,
    sample: &'o WaySample,
}

/// `ways.parquet`: one row for each sample of a direction, direction by direction.
fn ways(observed: &Observed) -> (Vec<Column<'_, Row<'_>>>, impl Iterator<Item = Row<'_>>) {
    let ways = [("down", &observed.down), ("up", &observed.up)];
    let rows = ways.into_iter().flat_map(|(direction, samples)| {
        samples.iter().map(move |sample| Row { direction, sample })
    });
    (columns(), rows)
}

fn columns<'o>() -> Vec<Column<'o, Row<'o>>> {
    tables::columns!(Row<'o> {
        /// `down` or `up`
        "direction": |row| row.direction,
        /// the time
        "at_s": |row| row.sample.at,
        /// the bytes that wait in the bottleneck's buffer
        "queue_bytes": |row| row.sample.queue,
        /// how long a packet that arrived now would wait
        "delay_ms": |row| row.sample.delay,
        /// the bytes that the path has delivered so far
        "delivered_bytes": |row| row.sample.delivered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_columns() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/shell.md");
        tables::page::assert_has(&page, "ways", &tables::page::table(&columns()));
    }
}
