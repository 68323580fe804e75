//! A record as a directory of files.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;
use units::Duration;

use super::html::html;
use super::json::pretty;
use super::page::Origin;
use super::place::{self, DirectoryError, REPORT, write_table, write_text};
use super::qlog::qlog;
use record::{Record, columns};
use tables::Column;

/// The files of a record's directory.
pub const FILES: [&str; 7] = [
    "summary.json",
    "scenario.toml",
    "samples.parquet",
    "throughput.parquet",
    "queue.parquet",
    "transfers.parquet",
    REPORT,
];

/// The name of the table of flows at [common times](Also::grid).
const GRID: &str = "grid.parquet";

/// The contents of a record's directory in addition to its [`FILES`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Also {
    /// The qlog of these flows.
    pub qlog: Vec<usize>,
    /// The interval of common times at which every flow is written.
    pub grid: Option<Duration>,
}

/// Checks, before the run, that [`write_dir`] can write to `directory`: it does not exist yet, is empty, or holds only
/// an older record; and a directory can be made beside it.
///
/// # Errors
///
/// There is something else, there is no directory to create it in, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    place::prepare(directory, is_ours)
}

/// Removes the remains of killed writers in a directory of records.
pub fn tidy(records: &Path) {
    files::tidy(records, None, is_ours);
}

fn is_ours(name: &OsStr) -> bool {
    FILES.iter().any(|file| name == *file) || name == GRID || is_qlog(name)
}

/// The name of the file with a flow's qlog: `flow-0.sqlog`, with qlog's ending for JSON text sequences (RFC 7464).
fn qlog_file(flow: usize) -> String {
    format!("flow-{flow}.sqlog")
}

fn is_qlog(name: &OsStr) -> bool {
    let flow = name.to_str().and_then(|name| name.strip_prefix("flow-"));
    flow.and_then(|flow| flow.strip_suffix(".sqlog"))
        .is_some_and(|flow| flow.parse::<usize>().is_ok())
}

/// Writes the record's [`FILES`] and the additional files as a directory. An older record there is replaced.
///
/// It writes everything or nothing: the files go into a directory beside it, which gets its name when it is complete.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and nothing has changed.
pub fn write_dir(
    directory: &Path,
    record: &Record,
    also: &Also,
    origin: &Origin,
) -> Result<(), DirectoryError> {
    write_dir_while(directory, record, also, origin, &|| true)
}

/// Does as [`write_dir`] while `goes_on` returns true. It is called for every row.
///
/// # Errors
///
/// Those of [`write_dir`]; or `goes_on` has returned false, and nothing has changed.
pub fn write_dir_while(
    directory: &Path,
    record: &Record,
    also: &Also,
    origin: &Origin,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), DirectoryError> {
    place::write(directory, is_ours, |part| {
        write_files(part, record, also, origin, goes_on)
    })
}

fn write_files(
    directory: &Path,
    record: &Record,
    also: &Also,
    origin: &Origin,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), DirectoryError> {
    let about = [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_string()),
        ("fullpipe.engine", record.summary.engine.clone()),
        ("fullpipe.seed", record.summary.seed.to_string()),
        ("fullpipe.scenario", record.scenario.to_string()),
        ("fullpipe.is_partial", record.summary.is_partial.to_string()),
        (
            "fullpipe.validity",
            json!(record.summary.validity).to_string(),
        ),
        (
            "fullpipe.transfers_every",
            record.transfers.every.to_string(),
        ),
    ];
    write_text(directory, "summary.json", &(pretty(&record.summary) + "\n"))?;
    write_text(directory, "scenario.toml", &record.scenario.to_string())?;
    let table = Tables {
        directory,
        about: &about,
        goes_on,
    };
    table.write("samples.parquet", columns::samples(record))?;
    table.write("throughput.parquet", columns::throughput(record))?;
    table.write("queue.parquet", columns::queue(record))?;
    table.write("transfers.parquet", columns::transfers(record))?;
    if let Some(step) = also.grid {
        table.write(GRID, columns::grid(record, step))?;
    }
    for flow in &also.qlog {
        if let Some(log) = qlog(record, *flow) {
            write_text(directory, &qlog_file(*flow), &log)?;
            table.check()?;
        }
    }
    let page = html(std::slice::from_ref(record), origin);
    write_text(directory, REPORT, &page)?;
    table.check()
}

/// The directory of the tables, and the condition to continue.
struct Tables<'a> {
    directory: &'a Path,
    about: &'a [(&'a str, String)],
    goes_on: &'a dyn Fn() -> bool,
}

impl Tables<'_> {
    fn write<'c, R>(
        &self,
        name: &str,
        (columns, rows): (Vec<Column<'c, R>>, impl Iterator<Item = R>),
    ) -> Result<(), DirectoryError> {
        let rows = rows.take_while(|_| (self.goes_on)());
        write_table(self.directory, name, (columns, rows), self.about)?;
        self.check()
    }

    /// Returns an error if the writer must stop.
    fn check(&self) -> Result<(), DirectoryError> {
        if (self.goes_on)() {
            return Ok(());
        }
        Err(DirectoryError::Cancelled {
            path: self.directory.to_owned(),
        })
    }
}
