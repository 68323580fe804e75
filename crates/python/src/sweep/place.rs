//! The directory of results.

use std::fs;
use std::path::Path;

use files::others;
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
    let entries = others::check_links(directory)
        .and_then(|()| files::make_directory(directory, 0o777))
        .and_then(|()| fs::read_dir(directory));
    let mut entries = entries.map_err(|error| error::of_file(directory, &error))?;
    if entries.next().is_some() && !directory.join(runs::FILE).exists() {
        let directory = directory.display();
        return Err(PyOSError::new_err(format!(
            "out: {directory} has files that are not of runs like these; name another directory"
        )));
    }
    Ok(())
}
