//! Directories that no other user can change or replace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use files::others;

use super::directory_error::{StudyDirectoryError, system};

/// Makes a directory, if it does not exist, and checks that no other user may write to it or replace it. Returns its
/// path without symbolic links.
///
/// # Errors
///
/// It cannot be made, or another user may write to it or to a directory above it.
pub fn own_directory(directory: &Path) -> Result<PathBuf, StudyDirectoryError> {
    let real = way(directory)?;
    // The records of clients are private. An existing directory keeps its mode.
    files::make_directory(&real, 0o700).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            StudyDirectoryError::Taken(directory.to_owned())
        }
        _ => system(directory, error),
    })?;
    // Another process may have made one of the directories meanwhile.
    if way(&real)? != real {
        return Err(StudyDirectoryError::Taken(real));
    }
    is_own(&real)?;
    Ok(real)
}

/// The path of a directory without symbolic links, if no other user can replace it.
pub(super) fn way(directory: &Path) -> Result<PathBuf, StudyDirectoryError> {
    let path = directory.to_owned();
    others::own_way(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => StudyDirectoryError::Taken(path),
        _ => StudyDirectoryError::Way { path, error },
    })
}

/// Checks that no other user may write to the directory, whose path has no symbolic links.
pub(super) fn is_own(directory: &Path) -> Result<(), StudyDirectoryError> {
    let about = fs::symlink_metadata(directory).map_err(|error| system(directory, error))?;
    if !about.is_dir() {
        return Err(StudyDirectoryError::Taken(directory.to_owned()));
    }
    match others::may_write(&about) {
        Some(why) => Err(StudyDirectoryError::Others {
            path: directory.to_owned(),
            why,
        }),
        None => Ok(()),
    }
}
