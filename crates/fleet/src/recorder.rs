//! Connections over time, in Parquet files: bounded on disk and in memory, and readable whatever happens.
//!
//! A Parquet file can be read only when it is whole. So the newest file is written anew every few seconds, beside its old
//! state, and put in its place: a crash costs no more than these seconds. When it has enough rows, the next one begins.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use report::parquet::{WriteError, write};
use report::{PART, beside, left_behind};
use units::{Bytes, Duration};

use crate::connection::{Connection, Moment, Seen};
use crate::fields::fields;

/// So many rows are held: some tens of megabytes.
const ROWS: usize = 1 << 15;

/// So long a file at most.
const FILE: Duration = Duration::from_secs(3600);

/// So long rows are held before they are on the disk.
const HELD: Duration = Duration::from_secs(5);

/// The least to keep: a few full files.
const LEAST: Bytes = Bytes::new(32_000_000);

/// What the names of files begin and end with.
const START: &str = "watch-";
const END: &str = ".parquet";

/// Why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The directory cannot be used.
    #[error("{}: {error}", path.display())]
    Place {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is too little.
    #[error("expected at least {} MB", LEAST.get() / 1_000_000)]
    Little,
    /// A file cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Records connections.
#[derive(Debug)]
pub struct Recorder {
    directory: PathBuf,
    keep: Bytes,
    rows: Vec<Seen>,
    /// The file that they go to.
    file: PathBuf,
    began: Duration,
    written: Duration,
    /// How many of the rows are on the disk.
    safe: usize,
    lost: u64,
}

impl Recorder {
    /// Records into the directory, which is made if it is not there, no more than `keep` of it: the oldest files go. Nothing
    /// else in it is touched.
    ///
    /// # Errors
    ///
    /// It cannot be made or written to, or is a file; or `keep` is too little.
    pub fn new(directory: &Path, keep: Bytes) -> Result<Recorder, RecordError> {
        if keep < LEAST {
            return Err(RecordError::Little);
        }
        let place = |error: io::Error| RecordError::Place {
            path: directory.to_owned(),
            error,
        };
        fs::create_dir_all(directory).map_err(place)?;
        let probe = beside(&directory.join("watch"), PART);
        File::create(&probe)
            .and_then(|_| fs::remove_file(&probe))
            .map_err(place)?;
        for left in left_behind(directory) {
            if is_ours(&left.name.to_string_lossy()) {
                // One that cannot be removed does no harm.
                let _ = fs::remove_file(&left.path);
            }
        }
        Ok(Recorder {
            directory: directory.to_owned(),
            keep,
            rows: Vec::new(),
            file: PathBuf::new(),
            began: Duration::ZERO,
            written: Duration::ZERO,
            safe: 0,
            lost: 0,
        })
    }

    /// Takes in a look: a row for each connection that is new, or did something since the look before.
    ///
    /// # Errors
    ///
    /// A file cannot be written. What is held stays held, as far as there is room, and is tried again.
    pub fn look<'c>(
        &mut self,
        when: Moment,
        connections: impl IntoIterator<Item = &'c Connection>,
    ) -> Result<(), RecordError> {
        let at = when.at;
        let mut outcome = Ok(());
        for connection in connections {
            let is_news = |since: &crate::Since| since.is_active();
            if !connection.seen.since.as_ref().is_none_or(is_news) {
                continue;
            }
            if self.rows.len() >= ROWS {
                outcome = outcome.and(self.next_file());
            }
            if self.rows.len() >= ROWS {
                self.lost += 1;
                continue;
            }
            if self.rows.is_empty() {
                self.name(when);
                self.began = at;
            }
            self.rows.push(connection.seen.clone());
        }
        if at.saturating_sub(self.began) >= FILE {
            outcome = outcome.and(self.next_file());
        } else if at.saturating_sub(self.written) >= HELD {
            self.written = at;
            outcome = outcome.and(self.save());
        }
        outcome
    }

    /// Writes what is held.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.save()
    }

    /// How many rows there was no room for, as files could not be written.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A name that sorts by time, and that no file has.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    fn name(&mut self, when: Moment) {
        let mut millis = (when.unix_s * 1000.0) as u64;
        loop {
            self.file = self.directory.join(format!("{START}{millis:013}{END}"));
            if !self.file.exists() {
                break;
            }
            millis += 1;
        }
    }

    fn next_file(&mut self) -> Result<(), RecordError> {
        self.save()?;
        self.rows.clear();
        self.safe = 0;
        Ok(())
    }

    fn save(&mut self) -> Result<(), RecordError> {
        if self.rows.len() == self.safe {
            return Ok(());
        }
        let part = beside(&self.file, PART);
        let written = self
            .write(&part)
            .and_then(|()| fs::rename(&part, &self.file).map_err(|error| error.to_string()));
        written.map_err(|why| {
            // If there is nothing to remove, nothing was left behind.
            let _ = fs::remove_file(&part);
            RecordError::Write {
                path: self.file.clone(),
                why,
            }
        })?;
        self.safe = self.rows.len();
        self.tidy();
        Ok(())
    }

    fn write(&self, part: &Path) -> Result<(), String> {
        let text = |error: io::Error| error.to_string();
        let mut to = BufWriter::new(File::create(part).map_err(text)?);
        let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
        write(&mut to, &fields(), &self.rows, &about)
            .map_err(|error: WriteError| error.to_string())?;
        let file = to.into_inner().map_err(|error| text(error.into_error()))?;
        file.sync_data().map_err(text)
    }

    /// Removes the oldest files until the rest is no more than is to be kept.
    fn tidy(&self) {
        let entries = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        let mut files: Vec<(String, u64)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let size = entry.metadata().ok()?.len();
                is_ours(&name).then_some((name, size))
            })
            .collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, size)| size).sum();
        for (name, size) in files {
            let path = self.directory.join(name);
            if all <= self.keep.get() || path == self.file {
                break;
            }
            if fs::remove_file(path).is_ok() {
                all -= size;
            }
        }
    }
}

/// `watch-1700000000000.parquet`
fn is_ours(name: &str) -> bool {
    let inner = name
        .strip_prefix(START)
        .and_then(|rest| rest.strip_suffix(END));
    inner.is_some_and(|digits| {
        digits.len() >= 13 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::connection;

    const KEEP: Bytes = Bytes::new(100_000_000);

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn at(seconds: u32) -> Moment {
        Moment {
            at: Duration::from_secs(seconds.into()),
            unix_s: 1_700_000_000.0 + f64::from(seconds),
        }
    }

    #[test]
    fn a_file_is_whole_every_few_seconds() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        let all = [connection(1), connection(2)];
        let mut sizes = Vec::new();
        for second in 0..20 {
            recorder.look(at(second), &all).unwrap();
            if let [name] = names(directory.path()).as_slice() {
                let bytes = fs::read(directory.path().join(name)).unwrap();
                assert!(bytes.ends_with(b"PAR1"), "{second}");
                sizes.push(bytes.len());
            } else {
                assert!(second < 5, "{second}");
            }
        }
        assert!(
            sizes.len() >= 15 && sizes.is_sorted() && sizes.first() < sizes.last(),
            "{sizes:?}"
        );
        // As a crash would.
        drop(recorder);
        assert_eq!(names(directory.path()), ["watch-1700000000000.parquet"]);
    }

    #[test]
    fn files_follow_each_other_and_the_oldest_go() {
        let directory = tempfile::tempdir().unwrap();
        let mine = directory.path().join("watch-notes.parquet");
        fs::write(&mine, "mine").unwrap();
        let old = directory.path().join("watch-1600000000000.parquet");
        File::create(&old).unwrap().set_len(KEEP.get()).unwrap();
        let dead = directory.path().join(format!(
            "watch-1600000000001.parquet.{}.part",
            std::process::id()
        ));
        fs::write(&dead, "half").unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        assert!(!dead.exists());
        let all: Vec<_> = (0..ROWS as u64 / 2 + 1).map(connection).collect();
        for second in 0..2 {
            recorder.look(at(second), &all).unwrap();
        }
        assert_eq!(recorder.lost(), 0);
        recorder.finish().unwrap();
        let left = names(directory.path());
        assert_eq!(left.len(), 3, "{left:?}");
        assert!(mine.exists() && !old.exists());
    }

    #[test]
    fn what_did_nothing_has_no_row() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(directory.path(), KEEP).unwrap();
        let mut idle = connection(1);
        idle.seen.since = Some(crate::Since::default());
        recorder.look(at(9), &[idle]).unwrap();
        recorder.finish().unwrap();
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn a_directory_that_is_gone_costs_no_more_memory_than_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(&directory.path().join("a/b"), KEEP).unwrap();
        fs::remove_dir_all(directory.path().join("a")).unwrap();
        let all: Vec<_> = (0..1000).map(connection).collect();
        let looks = (0..40).map(|second| recorder.look(at(second), &all).is_ok());
        let failed = looks.filter(|is_fine| !is_fine).count();
        assert!(failed >= 7, "{failed}");
        assert!(recorder.rows.len() <= ROWS && recorder.lost() > 0);
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        recorder.finish().unwrap();
        assert_eq!(names(&directory.path().join("a/b")).len(), 1);
    }

    #[test]
    fn a_place_that_will_not_do_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Recorder::new(&file, KEEP).unwrap_err().to_string();
        assert!(error.contains("file"), "{error}");
        let error = Recorder::new(directory.path(), Bytes::new(1)).unwrap_err();
        assert_eq!(error.to_string(), "expected at least 32 MB");
    }
}
