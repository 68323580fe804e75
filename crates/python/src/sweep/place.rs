//! The directory of results.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use files::{PART, beside};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use studies::runs;

use crate::error;

/// Creates a directory for results, if necessary. A directory with other contents is not used.
///
/// # Errors
///
/// It has other contents, or the system refuses (`OSError`).
pub fn make(directory: &Path) -> PyResult<()> {
    let entries = fs::create_dir_all(directory).and_then(|()| fs::read_dir(directory));
    let mut entries = entries.map_err(|error| error::of_file(directory, &error))?;
    if entries.next().is_some() && !directory.join(runs::FILE).exists() {
        let directory = directory.display();
        return Err(PyOSError::new_err(format!(
            "out: {directory} has files that are not of runs like these; name another directory"
        )));
    }
    Ok(())
}

/// Writes the file, replacing an older one: whole and synced to disk, or not at all.
///
/// # Errors
///
/// The system refuses.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let part = beside(path, PART);
    // An existing file of this name, such as a foreign link, is removed and not followed. If there is nothing to
    // remove, the name is free.
    let _ = fs::remove_file(&part);
    let written = File::create_new(&part).and_then(|mut file| {
        // The lock shows that the writer is alive.
        file.lock()?;
        file.write_all(contents)?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&part, path))
        .inspect_err(|_| {
            // If there is nothing to remove, nothing was left behind.
            let _ = fs::remove_file(&part);
        })
}
