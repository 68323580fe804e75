//! Rows on disk: a directory with a Parquet file for each round, which is there as a whole or not at all and never changes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::row::Row;
use report::parquet::{self, WriteError};

/// A directory with a file for each round.
#[derive(Debug, Clone)]
pub struct Dataset {
    directory: PathBuf,
    next: u64,
}

/// Why rows cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The directory is used for something else.
    #[error("{} has files that are no rounds of probes, such as {name}; name another directory", .directory.display())]
    Taken {
        /// The directory.
        directory: PathBuf,
        /// What is in it.
        name: String,
    },
    /// The system refuses.
    #[error("cannot write {}: {source}", .path.display())]
    System {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A round's file could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
}

impl Dataset {
    /// Opens the directory, or makes it: what is probed is appended to what is there.
    ///
    /// # Errors
    ///
    /// It has something else in it, or cannot be used.
    pub fn open(directory: &Path) -> Result<Dataset, DatasetError> {
        let failed = |source| DatasetError::System {
            path: directory.to_owned(),
            source,
        };
        fs::create_dir_all(directory).map_err(failed)?;
        let mut next = 0;
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            match round_of(&name) {
                Some(round) => next = next.max(round.saturating_add(1)),
                // What a round that was killed has left.
                None if name.starts_with('.') && name.ends_with(".part") => {}
                None => {
                    return Err(DatasetError::Taken {
                        directory: directory.to_owned(),
                        name: name.into_owned(),
                    });
                }
            }
        }
        Ok(Dataset {
            directory: directory.to_owned(),
            next,
        })
    }

    /// The number of the round that comes next.
    pub const fn next_round(&self) -> u64 {
        self.next
    }

    /// Keeps the rows of the next round, with `about` in the file's metadata. Returns when they are on the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or another probing has written one of the same name: nothing has changed then.
    pub fn append(&mut self, rows: &[Row], about: &[(&str, String)]) -> Result<(), DatasetError> {
        let path = self
            .directory
            .join(format!("round-{:06}.parquet", self.next));
        let process = std::process::id();
        let part = self
            .directory
            .join(format!(".round-{:06}.{process}.part", self.next));
        let system = |source| DatasetError::System {
            path: path.clone(),
            source,
        };
        let written = File::create(&part).map_err(system).and_then(|file| {
            parquet::write(&file, &Row::columns(), rows.iter(), about).map_err(|source| {
                DatasetError::Table {
                    path: path.clone(),
                    source,
                }
            })?;
            file.sync_all().map_err(system)?;
            // Unlike a renaming, a link never takes the place of a file that is there.
            fs::hard_link(&part, &path).map_err(system)
        });
        // If there is nothing to remove, nothing was left behind.
        let _ = fs::remove_file(&part);
        written?;
        self.next += 1;
        Ok(())
    }
}

/// The round whose rows the file of this name has.
fn round_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("round-")?.strip_suffix(".parquet")?;
    number.parse().ok()
}
