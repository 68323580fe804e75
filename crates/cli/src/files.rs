//! Files that are there as a whole or not at all.

use std::fs;
use std::path::Path;

use lab::report::{PART, beside, left_behind};

use crate::failure::Failure;

/// Writes the file, in place of an older one: all of it, or nothing. Removes what earlier writers of it left when they
/// were killed.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let left = left_behind(parent.unwrap_or(Path::new(".")));
    for left in left.iter().filter(|left| path.ends_with(&left.name)) {
        // One that cannot be removed does not hinder the one that is written now.
        let _ = fs::remove_file(&left.path);
    }
    let part = beside(path, PART);
    fs::write(&part, contents)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| {
            // If there is nothing to remove, nothing was left behind.
            let _ = fs::remove_file(&part);
            Failure::failed(format_args!("cannot write {}: {error}", path.display()))
        })
}
