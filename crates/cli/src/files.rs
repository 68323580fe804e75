//! Files that are there as a whole or not at all.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// Writes the file, in place of an older one: all of it, or nothing.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let mut part = path.to_owned().into_os_string();
    part.push(format!(".{}.part", std::process::id()));
    fs::write(&part, contents)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| {
            // If there is nothing to remove, nothing was left behind.
            let _ = fs::remove_file(&part);
            Failure::failed(format_args!("cannot write {}: {error}", path.display()))
        })
}
