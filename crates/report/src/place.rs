//! Directories of our own files that are written as a whole or not at all, and replace only older ones.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::page;
use files::{CommitError, NewDirectory, WriteError as FileError, others, parent};
use tables::Column;
use tables::parquet::{self, WriteError};

/// The bytes of a file's head in which its mark is searched for.
const HEAD_BYTES: u64 = 4096;

/// The page of every such directory.
pub const REPORT: &str = "report.html";

/// An error of writing a directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// There is something else at this path.
    #[error("{} {reason}; give another name", .path.display())]
    Taken {
        /// The path.
        path: PathBuf,
        /// A description of it.
        reason: String,
    },
    /// The system refuses.
    #[error("cannot write {}: {source}", .path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It was written, but an older one could not be removed.
    #[error(transparent)]
    Left(CommitError),
    /// A table could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Table {
        /// The table's path.
        path: PathBuf,
        /// The reason.
        source: WriteError,
    },
    /// The caller has cancelled it.
    #[error("writing {} was cancelled", .path.display())]
    Cancelled {
        /// The path.
        path: PathBuf,
    },
}

impl From<FileError> for DirectoryError {
    fn from(error: FileError) -> DirectoryError {
        let FileError { path, source } = error;
        DirectoryError::System { path, source }
    }
}

impl From<CommitError> for DirectoryError {
    fn from(error: CommitError) -> DirectoryError {
        match error {
            CommitError::Write(error) => error.into(),
            left @ CommitError::Left { .. } => DirectoryError::Left(left),
        }
    }
}

/// Checks that [`write()`] can write to `directory`: it does not exist yet, is empty, or holds only files that satisfy
/// `is_ours`; and a directory can be made beside it.
///
/// # Errors
///
/// There is something else, there is no directory to create it in, or the system refuses.
pub fn check(directory: &Path, is_ours: impl Fn(&OsStr) -> bool) -> Result<(), DirectoryError> {
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
    // It replaces the existing directory. A process's working directory (`.`) has no name to replace.
    if directory.file_name().is_none() {
        return taken("is not a name of a directory of its own".to_string());
    }
    others::check_links(directory).map_err(system)?;
    if directory.is_symlink() {
        return taken("is a symbolic link, which would be replaced".to_string());
    }
    let parent = parent(directory);
    if !parent.is_dir() {
        return Err(system(io::Error::new(
            ErrorKind::NotFound,
            format!("there is no directory {}", parent.display()),
        )));
    }
    NewDirectory::create(directory).map(drop)?;
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return taken("is not a directory".to_string());
        }
        Err(error) => return Err(system(error)),
    };
    let mut is_empty = true;
    for entry in entries {
        let name = entry.map_err(system)?.file_name();
        is_empty = false;
        if !is_ours(&name) {
            return taken(format!("holds {}", name.display()));
        }
    }
    if is_empty || is_ours_by(&directory.join(REPORT), page::MARK).unwrap_or(false) {
        Ok(())
    } else {
        taken("holds files that are no record of Fullpipe".to_string())
    }
}

/// Does [`tidy`](files::tidy) and [`check`], before the work whose results are to be written.
pub fn prepare(directory: &Path, is_ours: impl Fn(&OsStr) -> bool) -> Result<(), DirectoryError> {
    if let Some(name) = directory.file_name() {
        files::tidy(parent(directory), Some(name), &is_ours);
    }
    check(directory, is_ours)
}

/// Writes a directory, and replaces an older one of ours. It writes everything or nothing: `files` writes into a
/// directory beside it, which gets its name when it is complete.
///
/// # Errors
///
/// See [`check`]; or the system refuses, and nothing has changed.
pub fn write(
    directory: &Path,
    is_ours: impl Fn(&OsStr) -> bool,
    files: impl FnOnce(&Path) -> Result<(), DirectoryError>,
) -> Result<(), DirectoryError> {
    check(directory, is_ours)?;
    let new = NewDirectory::create(directory)?;
    files(new.part())?;
    Ok(new.commit()?)
}

/// Writes a text as a file of the directory.
pub fn write_text(directory: &Path, name: &str, text: &str) -> Result<(), DirectoryError> {
    let path = directory.join(name);
    fs::write(&path, text).map_err(|source| DirectoryError::System { path, source })
}

/// Writes a value as JSON into a file of the directory, in lines for people, and without all of it in memory.
pub fn write_json(
    directory: &Path,
    name: &str,
    value: &impl Serialize,
) -> Result<(), DirectoryError> {
    let path = directory.join(name);
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&path)?);
        serde_json::to_writer_pretty(&mut file, value)?;
        writeln!(file)?;
        file.flush()
    };
    write().map_err(|source| DirectoryError::System {
        path: path.clone(),
        source,
    })
}

/// Writes a table as a file of the directory.
pub fn write_table<R>(
    directory: &Path,
    name: &str,
    (columns, rows): (Vec<Column<'_, R>>, impl Iterator<Item = R>),
    about: &[(&str, String)],
) -> Result<(), DirectoryError> {
    let path = directory.join(name);
    let file = File::create(&path).map_err(|source| DirectoryError::System {
        path: path.clone(),
        source,
    })?;
    parquet::write(file, &columns, rows, about)
        .map_err(|source| DirectoryError::Table { path, source })
}

/// True if the file has this mark in its head, as only those do that Fullpipe has written.
///
/// # Errors
///
/// It cannot be read.
pub fn is_ours_by(path: &Path, mark: &str) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    let mut parts = head.windows(mark.len());
    Ok(parts.any(|part| part == mark.as_bytes()))
}
