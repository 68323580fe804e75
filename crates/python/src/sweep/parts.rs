//! The results of some runs, as a Parquet file from the worker that ran them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use files::{NewFile, Readers, regular};
use record::Summary;
use studies::runs::MAX_RESULT_BYTES;
use tables::stored;

/// The directory of the files, among a sweep's results.
pub const DIRECTORY: &str = "parts";

/// The extension of a file, and that of a damaged one. Damage is reported once, and the file is kept for inspection.
const EXTENSION: &str = "parquet";
const DAMAGED_EXTENSION: &str = "parquet.damaged";

tables::stored! {
    /// The result of a run.
    pub struct Row, texts up to MAX_RESULT_BYTES {
        /// the key of the run
        key: String = "key", needed;
        /// the displayed name of the run
        run: String = "run", needed;
        /// the summary of the run's record as JSON
        summary: String = "summary", needed;
        /// the checksum of the row
        check: String = "check", needed;
    }
}

impl Row {
    /// The result of the run with this key and displayed name: the record's summary as JSON.
    pub fn new(key: String, run: String, summary: String) -> Row {
        let mut row = Row {
            key,
            run,
            summary,
            check: String::new(),
        };
        row.check = row.checksum();
        row
    }

    /// A checksum of the row, which a changed file does not match.
    fn checksum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.key.as_bytes());
        hasher.update(self.summary.as_bytes());
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// Writes the rows into `directory`, as a file named after the first of them: whole or not at all.
///
/// # Errors
///
/// There are no rows, a summary is too long, or the system refuses.
pub fn write_part(directory: &Path, rows: &[Row]) -> io::Result<PathBuf> {
    let first = rows.first().ok_or(io::ErrorKind::InvalidInput)?;
    let path = directory.join(format!("{}.{EXTENSION}", first.key));
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    let mut file = Vec::new();
    stored::write(&mut file, rows, &about).map_err(io::Error::other)?;
    // There may be many files, and `read_all` sweeps.
    let written = NewFile::create_unswept(&path, Readers::Everybody).and_then(|new| {
        new.write_all(&file)?;
        new.commit()
    });
    written.map_err(|error| error.source)?;
    Ok(path)
}

/// Reads the files in `directory`, if there are any, and removes remainders of lost workers. `note` gets the result of
/// each run. Returns the number of damaged files; those with names of ours are renamed.
///
/// # Errors
///
/// The system refuses.
pub fn read_all(directory: &Path, mut note: impl FnMut(String, Summary)) -> io::Result<usize> {
    if directory.is_symlink() {
        let reason = "is a symbolic link; what it leads to is left alone";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    files::sweep(directory, |name| is_ours(Path::new(name)));
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut damaged = 0;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|is| is != EXTENSION) {
            continue;
        }
        let file = match regular::open(&path) {
            // A pipe, a device or a dangling link has no results.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.raw_os_error().is_none() => None,
            file => Some(file?),
        };
        if let Some(rows) = file.and_then(read) {
            rows.into_iter().for_each(|(key, of)| note(key, of));
            continue;
        }
        damaged += 1;
        if is_ours(&path) {
            // A file that keeps its name is reported again.
            let _ = fs::rename(&path, path.with_extension(DAMAGED_EXTENSION));
        }
    }
    Ok(damaged)
}

/// Whether the file is named after a run's key, as by [`write_part`].
fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
    stem.len() >= 16 && stem.iter().all(u8::is_ascii_hexdigit)
}

/// The rows of a file. Nothing if [`write_part`] did not write it.
fn read(file: File) -> Option<Vec<(String, Summary)>> {
    let rows: Vec<Row> = stored::rows(file).ok()?;
    let result = |row: Row| {
        let is_whole = row.check == row.checksum();
        let summary = serde_json::from_str(&row.summary).ok();
        Some((row.key, summary.filter(|_| is_whole)?))
    };
    rows.into_iter().map(result).collect()
}
