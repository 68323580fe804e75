//! A record as a directory of files: everything there is to know of a run.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::html::{Origin, html};
use super::parquet::{self, Column, WriteError};
use super::qlog::qlog;
use crate::record::Record;

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
const REPORT: &str = "report.html";

/// Every report has this in its head, and nothing that people write by hand has.
const MARK: &[u8] = b"<meta name=\"generator\" content=\"fullpipe";
/// How far into a report the mark is looked for.
const HEAD_BYTES: u64 = 4096;

/// Why a record was not written.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// There is something else at this place.
    #[error("{} {reason}; remove it or give another name", .path.display())]
    Taken {
        /// The place.
        path: PathBuf,
        /// What is there.
        reason: String,
    },
    /// The system refuses.
    #[error("cannot write {}: {source}", .path.display())]
    System {
        /// The place.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
}

/// Checks, before the run that is to be recorded, that [`write_dir`] may write to `directory`: it does not exist yet, is
/// empty, or holds an older record and nothing else; and a directory can be made beside it.
///
/// # Errors
///
/// There is something else, or no directory to create it in, or the system refuses.
pub fn check_dir(directory: &Path) -> Result<(), DirectoryError> {
    let taken = |reason: String| {
        Err(DirectoryError::Taken {
            path: directory.to_owned(),
            reason,
        })
    };
    let system = |source| DirectoryError::System {
        path: directory.to_owned(),
        source,
    };
    // It takes the place of what is there, and a directory that somebody stands in has no name to be replaced by.
    if directory.file_name().is_none() {
        return taken("is no name of a directory of its own".to_string());
    }
    let parent = parent(directory);
    if !parent.is_dir() {
        return Err(system(io::Error::new(
            ErrorKind::NotFound,
            format!("there is no directory {}", parent.display()),
        )));
    }
    let part = beside(directory, "part");
    fs::create_dir(&part)
        .and_then(|()| fs::remove_dir(&part))
        .map_err(system)?;
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return taken("is no directory".to_string());
        }
        Err(error) => return Err(system(error)),
    };
    let mut is_empty = true;
    for entry in entries {
        let name = entry.map_err(system)?.file_name();
        is_empty = false;
        if !FILES.iter().any(|file| name == *file) && !is_qlog(&name) {
            return taken(format!("holds {}", name.display()));
        }
    }
    match is_empty || is_report(&directory.join(REPORT)) {
        true => Ok(()),
        false => taken("holds files that are no record of Fullpipe".to_string()),
    }
}

/// The name of the file with a flow's qlog: `flow-0.sqlog`, with the ending that RFC 7464's sequences of JSON have in
/// qlog.
pub fn qlog_file(flow: usize) -> String {
    format!("flow-{flow}.sqlog")
}

fn is_qlog(name: &OsStr) -> bool {
    let flow = name.to_str().and_then(|name| name.strip_prefix("flow-"));
    flow.and_then(|flow| flow.strip_suffix(".sqlog"))
        .is_some_and(|flow| flow.parse::<usize>().is_ok())
}

fn is_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && head.windows(MARK.len()).any(|part| part == MARK)
}

/// Writes the record's [`FILES`] as a directory, and the qlog of the flows that `flows` says; an older record there is
/// replaced.
///
/// All of it, or nothing: the files are written into a directory beside it, which gets its name when it is whole.
///
/// # Errors
///
/// See [`check_dir`]; or the system refuses, and then nothing has changed.
pub fn write_dir(
    directory: &Path,
    record: &Record,
    flows: &[usize],
    origin: &Origin,
) -> Result<(), DirectoryError> {
    check_dir(directory)?;
    let part = beside(directory, "part");
    let written = fs::create_dir(&part)
        .map_err(|source| DirectoryError::System {
            path: part.clone(),
            source,
        })
        .and_then(|()| write_files(&part, record, flows, origin))
        .and_then(|()| put(&part, directory));
    if written.is_err() {
        // If there is nothing to remove, nothing was left behind.
        let _ = fs::remove_dir_all(&part);
    }
    written
}

/// Gives the whole directory its name, and takes the name from an older one.
fn put(part: &Path, directory: &Path) -> Result<(), DirectoryError> {
    let system = |source| DirectoryError::System {
        path: directory.to_owned(),
        source,
    };
    let old = beside(directory, "old");
    let has_old = match fs::rename(directory, &old) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(system(error)),
    };
    if let Err(error) = fs::rename(part, directory) {
        if has_old {
            fs::rename(&old, directory).map_err(system)?;
        }
        return Err(system(error));
    }
    if has_old {
        fs::remove_dir_all(&old).map_err(system)?;
    }
    Ok(())
}

fn write_files(
    directory: &Path,
    record: &Record,
    flows: &[usize],
    origin: &Origin,
) -> Result<(), DirectoryError> {
    let text = |name: &str, text: String| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|source| DirectoryError::System { path, source })
    };
    // Like everything that is written here, in a form for people to read too; plain data, which JSON can always say.
    let summary = serde_json::to_string_pretty(&record.summary).expect("a summary is plain data");
    text("summary.json", summary + "\n")?;
    text("scenario.toml", record.scenario.to_string())?;
    table(
        directory,
        "samples.parquet",
        record,
        parquet::samples(record),
    )?;
    table(
        directory,
        "throughput.parquet",
        record,
        parquet::throughput(record),
    )?;
    table(directory, "queue.parquet", record, parquet::queue(record))?;
    table(
        directory,
        "transfers.parquet",
        record,
        parquet::transfers(record),
    )?;
    for flow in flows {
        if let Some(log) = qlog(record, *flow) {
            text(&qlog_file(*flow), log)?;
        }
    }
    text(REPORT, html(std::slice::from_ref(record), origin))
}

fn table<R>(
    directory: &Path,
    name: &str,
    record: &Record,
    (columns, rows): (Vec<Column<'_, R>>, impl Iterator<Item = R>),
) -> Result<(), DirectoryError> {
    let path = directory.join(name);
    let about = [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_string()),
        ("fullpipe.engine", record.summary.engine.clone()),
        ("fullpipe.seed", record.summary.seed.to_string()),
        ("fullpipe.scenario", record.scenario.to_string()),
        ("fullpipe.is_partial", record.summary.is_partial.to_string()),
        (
            "fullpipe.transfers_every",
            record.transfers.every.to_string(),
        ),
    ];
    let file = File::create(&path).map_err(|source| DirectoryError::System {
        path: path.clone(),
        source,
    })?;
    parquet::write(file, &columns, rows, &about)
        .map_err(|source| DirectoryError::Table { path, source })
}

/// A name of our own beside the directory.
fn beside(directory: &Path, what: &str) -> PathBuf {
    let name = directory.file_name().unwrap_or_default();
    let mut name = name.to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    parent(directory).join(name)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
