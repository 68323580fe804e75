//! What came of some runs, as a Parquet file that the worker writes that ran them.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use record::Summary;
use report::left_behind;
use report::parquet::Column;
use scenario::regular;

use super::place::write;

/// The directory of the files, among a sweep's results.
pub const DIRECTORY: &str = "parts";

/// The ending of a file's name, and what is added to it if it is damaged: it is told once, and kept for whoever asks why.
const ENDING: &str = "parquet";
const DAMAGED: &str = "parquet.damaged";

/// What came of a run.
pub struct Row {
    /// Its key.
    pub key: String,
    /// What people call it.
    pub run: String,
    /// Its record's summary as JSON.
    pub summary: String,
}

impl Row {
    /// What a file that was changed has not: a checksum of the row.
    fn check(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.key.as_bytes());
        hasher.update(self.summary.as_bytes());
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// Writes the rows into `directory`, as a file that is called like the first of them: all of it, or nothing.
///
/// # Errors
///
/// There are none, or the system refuses.
pub fn write_part(directory: &Path, rows: &[Row]) -> io::Result<PathBuf> {
    let first = rows.first().ok_or(io::ErrorKind::InvalidInput)?;
    let path = directory.join(format!("{}.{ENDING}", first.key));
    let text = |name, of: fn(&Row) -> Cow<'_, str>| {
        Column::text(name, move |place: &usize| Some(of(&rows[*place])))
    };
    let columns = [
        text("key", |row| Cow::Borrowed(&row.key)),
        text("run", |row| Cow::Borrowed(&row.run)),
        text("summary", |row| Cow::Borrowed(&row.summary)),
        text("check", |row| Cow::Owned(row.check())),
    ];
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    let mut file = Vec::new();
    report::parquet::write(&mut file, &columns, 0..rows.len(), &about).map_err(io::Error::other)?;
    write(&path, &file)?;
    Ok(path)
}

/// Reads the files in `directory`, if there is one; removes what workers left that are gone. `note` gets what came of each
/// run. Returns how many files are damaged; those of our names get another one.
///
/// # Errors
///
/// The system refuses.
pub fn read_all(directory: &Path, mut note: impl FnMut(String, Summary)) -> io::Result<usize> {
    if directory.is_symlink() {
        let reason = "is a symbolic link; what it leads to is left alone";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    for left in left_behind(directory, |name| is_ours(Path::new(name))) {
        // One that cannot be removed does no harm.
        let _ = fs::remove_file(&left.path);
    }
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut damaged = 0;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|is| is != ENDING) {
            continue;
        }
        let file = match regular::open(&path) {
            // A pipe, a device or a link that leads nowhere has no results.
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
            // One that keeps its name is told again.
            let _ = fs::rename(&path, path.with_extension(DAMAGED));
        }
    }
    Ok(damaged)
}

/// Whether the file is called like a run's key, as [`write_part`] calls it.
fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
    stem.len() >= 16 && stem.iter().all(u8::is_ascii_hexdigit)
}

/// The rows of a file; nothing if it is not what [`write_part`] wrote.
fn read(file: File) -> Option<Vec<(String, Summary)>> {
    let rows = || -> Result<Vec<Row>, ParquetError> {
        let reader = SerializedFileReader::new(file)?;
        let rows = reader.get_row_iter(None)?;
        rows.map(|row| {
            let row = row?;
            let [key, run, summary, check] = [0, 1, 2, 3].map(|place| row.get_string(place));
            let read = Row {
                key: key?.clone(),
                run: run?.clone(),
                summary: summary?.clone(),
            };
            if *check? == read.check() {
                Ok(read)
            } else {
                Err(ParquetError::General("a checksum is wrong".into()))
            }
        })
        .collect()
    };
    let rows = rows().ok()?.into_iter();
    rows.map(|row| Some((row.key, serde_json::from_str(&row.summary).ok()?)))
        .collect()
}
