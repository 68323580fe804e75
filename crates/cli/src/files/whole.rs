//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use report::{PART, beside, left_behind, parent};

use crate::failure::Failure;

/// Writes the file, in place of an older one: all of it, or nothing. A link stays, and what it leads to is replaced. Removes
/// what earlier writers of the file left when they were killed.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let path = &linked(path);
    for left in left_behind(parent(path)) {
        if path.ends_with(&left.name) {
            // One that cannot be removed does not hinder the one that is written now.
            let _ = fs::remove_file(&left.path);
        }
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

/// Checks, before the work whose result it is to have, that [`write()`] can write the file.
///
/// # Errors
///
/// It is a directory, or nothing can be written beside it.
pub fn check(path: &Path) -> IoResult<()> {
    if path.file_name().is_none() || path.is_dir() {
        return Err(Error::new(
            ErrorKind::IsADirectory,
            "is a directory; give the name of a file",
        ));
    }
    let path = &linked(path);
    let directory = parent(path);
    if !directory.is_dir() {
        let reason = format!("there is no directory {}", directory.display());
        return Err(Error::new(ErrorKind::NotFound, reason));
    }
    try_in(&beside(path, PART))
}

/// Makes the directory that `option` names, if need be, and checks that files can be written into it.
pub fn make_directory(option: &str, directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory)
        .and_then(|()| try_in(&beside(&directory.join("fullpipe"), PART)))
        .map_err(|error| Failure::usage(format_args!("{option} {}: {error}", directory.display())))
}

/// Where a link leads to; other paths, and those that lead nowhere, as they are.
fn linked(path: &Path) -> PathBuf {
    let end = path.is_symlink().then(|| fs::canonicalize(path).ok());
    end.flatten().unwrap_or_else(|| path.to_owned())
}

/// Makes a file, and removes it.
fn try_in(part: &Path) -> IoResult<()> {
    File::create(part)?;
    fs::remove_file(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_and_its_end_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let [file, link] = ["file", "link"].map(|name| directory.path().join(name));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        check(&link).expect("can be replaced");
        write(&link, b"new").expect("written");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");
    }

    #[test]
    fn a_place_is_tried_and_left_as_it_was() {
        let directory = tempfile::tempdir().expect("a directory");
        let names = || fs::read_dir(directory.path()).expect("readable").count();
        check(&directory.path().join("new")).expect("free");
        make_directory("--out", directory.path()).expect("there already");
        assert_eq!(names(), 0);
        let file = directory.path().join("file");
        fs::write(&file, "old").expect("written");
        check(&file).expect("can be replaced");
        assert_eq!(fs::read_to_string(&file).expect("there"), "old");
        check(directory.path()).expect_err("a directory");
        check(&directory.path().join("none/file")).expect_err("no such directory");
        make_directory("--out", &file).expect_err("a file");
        // Nobody writes there, root included.
        check(Path::new("/proc/report.html")).expect_err("no place for files");
        assert_eq!(names(), 1);
    }
}
