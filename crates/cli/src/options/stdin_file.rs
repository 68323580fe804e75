//! The data of stdin as a file that can be sent.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use program::failure::Failure;
use tempfile::TempDir;

/// A copy of stdin in a temporary directory, which is removed with this value. A file can be read again after an
/// outage, and its size is known.
pub struct StdinFile {
    /// The file.
    pub path: PathBuf,
    _directory: TempDir,
}

impl StdinFile {
    /// Reads stdin to its end. The file gets the name `name`.
    pub async fn read(name: &str) -> Result<StdinFile, Failure> {
        let directory = tempfile::tempdir().map_err(cannot)?;
        let path = directory.path().join(name);
        let mut file = File::create(&path).map_err(cannot)?;
        let copying = tokio::task::spawn_blocking(move || {
            io::copy(&mut io::stdin().lock(), &mut file).and_then(|_| file.sync_data())
        });
        copying
            .await
            .map_err(io::Error::other)
            .and_then(|copied| copied)
            .map_err(cannot)?;
        Ok(StdinFile {
            path,
            _directory: directory,
        })
    }
}

fn cannot(error: io::Error) -> Failure {
    let directory = std::env::temp_dir();
    Failure::failed(format_args!(
        "cannot keep stdin in {}: {error}; TMPDIR chooses another directory",
        directory.display()
    ))
}
