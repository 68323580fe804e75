//! A record as a directory of files: everything there is to know of a run.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;
use units::Duration;

use super::columns;
use super::html::html;
use super::json::pretty;
use super::page::Origin;
use super::place::{self, DirectoryError, REPORT, write_table, write_text};
use super::qlog::qlog;
use record::Record;
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

/// What a record's directory has beside its [`FILES`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Also {
    /// The qlog of these flows.
    pub qlog: Vec<usize>,
    /// Every flow at times that are so far apart and the same for all flows.
    pub grid: Option<Duration>,
}

/// Checks, before the run that is to be recorded, that [`write_dir`] may write to `directory`: it does not exist yet, is
/// empty, or holds an older record and nothing else; and a directory can be made beside it.
///
/// # Errors
///
/// There is something else, or no directory to create it in, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    place::prepare(directory, is_ours)
}

/// Removes what was left in a directory of records when their writer was killed.
pub fn tidy(records: &Path) {
    files::tidy(records, None, is_ours);
}

fn is_ours(name: &OsStr) -> bool {
    FILES.iter().any(|file| name == *file) || name == GRID || is_qlog(name)
}

/// The name of the file with a flow's qlog: `flow-0.sqlog`, with the ending that RFC 7464's sequences of JSON have in
/// qlog.
fn qlog_file(flow: usize) -> String {
    format!("flow-{flow}.sqlog")
}

fn is_qlog(name: &OsStr) -> bool {
    let flow = name.to_str().and_then(|name| name.strip_prefix("flow-"));
    flow.and_then(|flow| flow.strip_suffix(".sqlog"))
        .is_some_and(|flow| flow.parse::<usize>().is_ok())
}

/// Writes the record's [`FILES`] as a directory, and what there is to be beside them; an older record there is replaced.
///
/// All of it, or nothing: the files are written into a directory beside it, which gets its name when it is whole.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and then nothing has changed.
pub fn write_dir(
    directory: &Path,
    record: &Record,
    also: &Also,
    origin: &Origin,
) -> Result<(), DirectoryError> {
    write_dir_while(directory, record, also, origin, &|| true)
}

/// As [`write_dir`], as long as `goes_on` says so, which is asked for every row.
///
/// # Errors
///
/// Those of [`write_dir`]; or it does not go on, and then nothing has changed.
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

/// Where tables go, and as long as what.
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

    /// Whether it still goes on.
    fn check(&self) -> Result<(), DirectoryError> {
        if (self.goes_on)() {
            return Ok(());
        }
        Err(DirectoryError::Cancelled {
            path: self.directory.to_owned(),
        })
    }
}
