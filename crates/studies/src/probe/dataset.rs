//! Rows on disk: a directory with a Parquet file for each round. A file is written whole or not at all, and never
//! changes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::row::Row;
use files::{NewFile, Readers};
use report::DirectoryError;
use tables::parquet;

/// The beginning of the name of a round that an earlier version was writing: `.round-000001.PID.part`.
const EARLIER: &str = ".round-";

/// A directory with a file for each round.
#[derive(Debug, Clone)]
pub struct Dataset {
    directory: PathBuf,
    next: u64,
}

impl Dataset {
    /// Opens or creates the directory. Further rounds are appended.
    ///
    /// # Errors
    ///
    /// The directory has other files, or cannot be used.
    pub fn open(directory: &Path) -> Result<Dataset, DirectoryError> {
        let failed = |source| DirectoryError::System {
            path: directory.to_owned(),
            source,
        };
        files::make_directory(directory, 0o777).map_err(failed)?;
        let is_round = |name: &OsStr| {
            let name = name.to_string_lossy();
            round_of(&name).is_some() || name.starts_with(EARLIER)
        };
        files::sweep(directory, is_round);
        let mut next = 0;
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            match round_of(&name) {
                Some(round) => next = next.max(round.saturating_add(1)),
                // A round that another process is writing.
                None if name.ends_with(".part")
                    && (name.starts_with("round-") || name.starts_with(EARLIER)) => {}
                None => {
                    return Err(DirectoryError::Taken {
                        path: directory.to_owned(),
                        reason: format!("has files that are not rounds of probes, such as {name}"),
                    });
                }
            }
        }
        let dataset = Dataset {
            directory: directory.to_owned(),
            next,
        };
        // Before the work, not after it: a directory that cannot be written to.
        NewFile::create(&dataset.path(), Readers::Everybody)?;
        Ok(dataset)
    }

    /// The file of the next round.
    fn path(&self) -> PathBuf {
        self.directory
            .join(format!("round-{:06}.parquet", self.next))
    }

    /// The number of the next round.
    pub const fn next_round(&self) -> u64 {
        self.next
    }

    /// Writes the rows of the next round, with `about` in the file's metadata. Returns when they are on disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or another process wrote this round. Nothing has changed then.
    pub fn append(&mut self, rows: &[Row], about: &[(&str, String)]) -> Result<(), DirectoryError> {
        let path = self.path();
        let new = NewFile::create(&path, Readers::Everybody)?;
        parquet::write(new.file(), &Row::columns(), rows.iter(), about)
            .map_err(|source| DirectoryError::Table { path, source })?;
        new.commit_new()?;
        self.next += 1;
        Ok(())
    }
}

/// The round of a file by its name.
fn round_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("round-")?.strip_suffix(".parquet")?;
    number.parse().ok()
}
