//! Rows in Parquet files: bounded on disk and in memory, and readable after a crash.
//!
//! A Parquet file can be read only if it is complete. So the newest file is written again every few seconds, and then
//! replaces its old state: a crash costs at most these seconds. A file with enough rows is followed by the next one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use files::{NewFile, Readers, regular};
use tables::parquet::{WriteError, row_count};
use units::{Bytes, Duration};

use crate::connection::Moment;

/// The maximum number of rows in memory, which are some tens of megabytes.
pub const MAX_ROWS: usize = 1 << 15;

/// The maximum time that a file covers.
const MAX_FILE_SPAN: Duration = Duration::from_secs(3600);

/// The maximum time before rows are on the disk.
pub const MAX_DELAY: Duration = Duration::from_secs(5);

/// The minimum size to keep: a few full files.
pub const MIN_KEEP: Bytes = Bytes::new(32_000_000);

/// The latest time of a file's name, in milliseconds since 1970: the year 2264. Nearly as many such names follow.
const MAX_UNIX_MS: u64 = 9_300_000_000_000;

/// The number of digits of a name.
const NAME_DIGITS: usize = 13;

/// The end of files' names.
const EXTENSION: &str = ".parquet";

/// A reason why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The directory cannot be used.
    #[error("{}: {error}", path.display())]
    Place {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Something other than a directory is there.
    #[error("{} is not a directory; give another name", .0.display())]
    Taken(PathBuf),
    /// The size to keep is too small.
    #[error("expected at least {} MB", MIN_KEEP.get() / 1_000_000)]
    Little,
    /// A file cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

/// Writes rows as a Parquet file.
pub type Write<R> = fn(&mut BufWriter<&File>, &[R]) -> Result<(), WriteError>;

/// Files of rows of one kind.
#[derive(Debug)]
pub struct Files<R> {
    directory: PathBuf,
    /// The beginning of the files' names.
    start: &'static str,
    write: Write<R>,
    keep: Bytes,
    rows: Vec<R>,
    /// The file that the rows go to.
    file: PathBuf,
    began: Duration,
    written: Duration,
    /// The number of rows that are on the disk.
    safe: usize,
    lost: u64,
    dropped: u64,
    /// The time in the newest file's name, in milliseconds.
    newest: u64,
}

impl<R> Files<R> {
    /// Writes files into the directory, which is created if necessary. It deletes the oldest ones above a total of
    /// `keep`, and touches no other files.
    pub fn new(
        directory: &Path,
        start: &'static str,
        keep: Bytes,
        write: Write<R>,
    ) -> Result<Files<R>, RecordError> {
        if keep < MIN_KEEP {
            return Err(RecordError::Little);
        }
        let place = |error: io::Error| RecordError::Place {
            path: directory.to_owned(),
            error,
        };
        if directory.exists() && !directory.is_dir() {
            return Err(RecordError::Taken(directory.to_owned()));
        }
        files::make_directory(directory, 0o700).map_err(place)?;
        let tried = NewFile::create(&directory.join(start), Readers::Owner);
        tried.map_err(|error| place(error.source))?;
        let is_ours = |name: &OsStr| name.to_str().and_then(|name| millis(start, name)).is_some();
        files::sweep(directory, is_ours);
        Ok(Files {
            directory: directory.to_owned(),
            start,
            write,
            keep,
            rows: Vec::new(),
            file: PathBuf::new(),
            began: Duration::ZERO,
            written: Duration::ZERO,
            safe: 0,
            lost: 0,
            dropped: 0,
            newest: files(directory, start)
                .iter()
                .filter_map(|(path, _)| millis(start, path.file_name()?.to_str()?))
                .filter(|millis| *millis <= MAX_UNIX_MS)
                .max()
                .unwrap_or(0),
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// A file cannot be written. Rows stay in memory as far as there is room, and the next call tries again.
    pub fn add(
        &mut self,
        when: Moment,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), RecordError> {
        let at = when.at;
        let mut outcome = Ok(());
        for row in rows {
            if self.rows.len() >= MAX_ROWS && outcome.is_ok() {
                outcome = self.next_file();
            }
            if self.rows.len() >= MAX_ROWS {
                self.lost += 1;
                continue;
            }
            if self.rows.is_empty() {
                self.name(when);
                self.began = at;
            }
            self.rows.push(row);
        }
        if at.saturating_sub(self.began) >= MAX_FILE_SPAN {
            outcome = outcome.and(self.next_file());
        } else if at.saturating_sub(self.written) >= MAX_DELAY {
            self.written = at;
            outcome = outcome.and(self.save());
        }
        outcome
    }

    /// The number of rows lost because files could not be written.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of rows that are not on the disk yet.
    pub fn unsaved(&self) -> u64 {
        (self.rows.len() - self.safe) as u64
    }

    /// The number of rows deleted with the oldest files to keep the size.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number of rows in memory.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.rows.len()
    }

    /// A name that sorts after all existing ones, even if the clock was set back: the oldest files are deleted first.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    fn name(&mut self, when: Moment) {
        let millis = (when.unix_s * 1000.0) as u64;
        self.newest = millis.min(MAX_UNIX_MS).max(self.newest.saturating_add(1));
        loop {
            let name = format!("{}{:0NAME_DIGITS$}{EXTENSION}", self.start, self.newest);
            self.file = self.directory.join(name);
            // An existing file is not replaced: its name may not come from a clock.
            if fs::symlink_metadata(&self.file).is_err() {
                break;
            }
            self.newest += 1;
        }
    }

    fn next_file(&mut self) -> Result<(), RecordError> {
        self.save()?;
        self.rows.clear();
        self.safe = 0;
        Ok(())
    }

    /// Writes the rows in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&mut self) -> Result<(), RecordError> {
        if self.rows.len() == self.safe {
            return Ok(());
        }
        self.write().map_err(|why| RecordError::Write {
            path: self.file.clone(),
            why,
        })?;
        self.safe = self.rows.len();
        self.tidy();
        Ok(())
    }

    fn write(&self) -> Result<(), String> {
        let text = |error: files::WriteError| error.source.to_string();
        let new = NewFile::create(&self.file, Readers::Owner).map_err(text)?;
        let mut to = BufWriter::new(new.file());
        (self.write)(&mut to, &self.rows).map_err(|error| error.to_string())?;
        to.flush().map_err(|error| error.to_string())?;
        drop(to);
        new.commit().map_err(text)
    }

    /// Removes the oldest files above the size to keep.
    fn tidy(&mut self) {
        let files = files(&self.directory, self.start);
        let mut all: u64 = files.iter().map(|(_, size)| size).sum();
        for (path, size) in files {
            if all <= self.keep.get() || path == self.file {
                break;
            }
            let rows = rows(&path);
            if fs::remove_file(path).is_ok() {
                all -= size;
                self.dropped += rows;
            }
        }
    }
}

/// The files of this kind in a directory, the oldest first, with their sizes in bytes.
pub fn files(directory: &Path, start: &str) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<(PathBuf, u64)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let size = entry.metadata().ok()?.len();
            millis(start, &name).map(|_| (entry.path(), size))
        })
        .collect();
    files.sort();
    files
}

/// The number of rows of a file. A damaged file counts as empty.
fn rows(path: &Path) -> u64 {
    let file = regular::open(path).ok();
    file.and_then(row_count).unwrap_or(0)
}

/// The time in the name of a file of this kind: `watch-1700000000000.parquet`.
fn millis(start: &str, name: &str) -> Option<u64> {
    let digits = name.strip_prefix(start)?.strip_suffix(EXTENSION)?;
    let is_ours = digits.len() == NAME_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    use super::*;

    #[test]
    fn a_name_that_no_clock_gave_stops_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let foreign = [u64::MAX, 9_999_999_999_999, MAX_UNIX_MS].map(|millis| {
            let path = directory.path().join(format!("watch-{millis}{EXTENSION}"));
            fs::write(&path, "kept").unwrap();
            path
        });
        let mut names = std::collections::BTreeSet::new();
        for run in 0..3 {
            let write: Write<u64> = |to, rows| {
                writeln!(to, "{rows:?}").unwrap();
                Ok(())
            };
            let mut files = Files::new(directory.path(), "watch-", MIN_KEEP, write).unwrap();
            for row in 0..3 {
                let when = Moment {
                    at: Duration::from_secs(run * 100 + row * 10),
                    unix_s: 1_700_000_000.0,
                };
                files.add(when, [row]).unwrap();
                files.next_file().unwrap();
                names.insert(files.file.clone());
            }
        }
        assert_eq!(names.len(), 9);
        assert!(names.iter().all(|name| name.exists()));
        for path in foreign {
            assert_eq!(fs::read_to_string(path).unwrap(), "kept");
        }
    }

    #[test]
    fn rows_go_to_no_owner_of_a_file_that_took_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let write: Write<u64> = |to, rows| Ok(writeln!(to, "{rows:?}")?);
        let mut files = Files::new(directory.path(), "watch-", MIN_KEEP, write).unwrap();
        files.add(Moment::default(), [7]).unwrap();
        files.save().unwrap();
        let own = fs::metadata(&files.file).unwrap();
        fs::remove_file(&files.file).unwrap();
        fs::write(&files.file, "").unwrap();
        fs::set_permissions(&files.file, fs::Permissions::from_mode(0o666)).unwrap();
        // Only root can do this. The mode shows it for others.
        let _ = chown(&files.file, Some(65_534), Some(65_534));
        files.add(Moment::default(), [8]).unwrap();
        files.save().unwrap();
        let now = fs::metadata(&files.file).unwrap();
        assert_eq!((now.uid(), now.mode() & 0o777), (own.uid(), 0o600));
        assert_eq!(fs::read_to_string(&files.file).unwrap(), "[7, 8]\n");
    }

    #[test]
    fn what_is_held_and_cannot_be_written_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let write: Write<u64> = |_, rows| match rows.len() {
            1 => Ok(()),
            _ => Err(io::Error::from(io::ErrorKind::StorageFull).into()),
        };
        let mut files = Files::new(directory.path(), "watch-", MIN_KEEP, write).unwrap();
        files.add(Moment::default(), [7]).unwrap();
        assert_eq!(files.unsaved(), 1);
        files.save().unwrap();
        assert_eq!(files.unsaved(), 0);
        files.add(Moment::default(), [8, 9]).unwrap();
        files.save().unwrap_err();
        assert_eq!((files.unsaved(), files.lost()), (2, 0));
    }
}
