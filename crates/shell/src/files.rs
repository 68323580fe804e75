//! The observations of a command, as a directory of files.

use std::ffi::OsStr;
use std::path::Path;

use units::{Bytes, Duration};

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
fn ways(observed: &Observed) -> (Vec<Column<'static, Row<'_>>>, impl Iterator<Item = Row<'_>>) {
    let bytes = |bytes: Bytes| Some(bytes.get());
    let columns = vec![
        Column::text("direction", |row: &Row<'_>| Some(row.direction.into())),
        Column::real("at_s", |row: &Row<'_>| Some(row.sample.at.as_secs_f64())),
        Column::whole("queue_bytes", move |row: &Row<'_>| bytes(row.sample.queue)),
        Column::real("delay_ms", |row: &Row<'_>| {
            Some(Duration::as_millis_f64(row.sample.delay))
        }),
        Column::whole("delivered_bytes", move |row: &Row<'_>| {
            bytes(row.sample.delivered)
        }),
    ];
    let ways = [("down", &observed.down), ("up", &observed.up)];
    let rows = ways.into_iter().flat_map(|(direction, samples)| {
        samples.iter().map(move |sample| Row { direction, sample })
    });
    (columns, rows)
}
