//! Files and directories that are written as a whole or not at all, and files that are safe to read.
//!
//! [`write()`], [`NewFile`] and [`NewDirectory`] make one promise:
//!
//! - **Whole.** A reader sees the old contents or the new ones, however the writer ends: by an error, a full disk, a
//!   kill, a power failure.
//! - **Durable.** After a success, the contents and the name are on the disk.
//! - **Never through a link.** A link in the place of a file is replaced, and its target does not change.
//! - **Nothing left behind.** A writer that fails removes its files. A killed one leaves `NAME.PID.part`. The next
//!   writer of this file removes it; [`sweep`] does so for many files, and [`tidy`] for directories. They keep the
//!   files of living writers.
//!
//! Files that grow, such as journals, and transfers that resume have other guarantees and other code.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("policy.toml");
//! files::write(&path, b"old", files::Readers::Owner)?;
//! files::write(&path, b"new", files::Readers::Owner)?;
//! assert_eq!(std::fs::read(&path)?, b"new");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`make_directory`] makes directories that last, [`regular`] opens files of finite size, and [`others`] tells if other
//! users could change them.

mod directory;
mod file;
mod left;
pub mod others;
pub mod regular;
mod sync;

pub use directory::{CommitError, NewDirectory, make_directory, tidy};
pub use file::{NewFile, Readers, write};
pub use left::sweep;

use std::io;
use std::path::{Path, PathBuf};

/// An error of writing a file or a directory.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// Its path.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl WriteError {
    /// An error of the system, for this path.
    fn of(path: &Path) -> impl Fn(io::Error) -> WriteError {
        |source| WriteError {
            path: path.to_owned(),
            source,
        }
    }
}

/// The parent directory of a path.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
