//! Where results are kept.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use report::{PART, beside};
use studies::runs;

use crate::error;

/// Makes a directory for results, if need be. One that is used for something else is left alone.
///
/// # Errors
///
/// It is, or the system refuses (`OSError`).
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

/// Writes the file, in place of an older one: all of it, which is on the disk then, or nothing.
///
/// # Errors
///
/// The system refuses.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let part = beside(path, PART);
    // What has its name, such as a link that somebody laid there, is removed and not followed. If there is nothing to
    // remove, the name is free.
    let _ = fs::remove_file(&part);
    let written = File::create_new(&part).and_then(|mut file| {
        // So that nobody takes it for what a writer left that is gone.
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
