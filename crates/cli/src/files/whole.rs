//! Files that are there as a whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result as IoResult, Write};
use std::iter;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use report::{PART, beside, left_behind, parent};

use crate::failure::Failure;

/// So many links in a row are followed (Linux `MAXSYMLINKS`).
const MOST_LINKS: usize = 40;
/// The mode of a new file, before the umask.
const NEW: u32 = 0o666;

/// Writes the file, in place of an older one, whose mode it keeps: all of it, or nothing. A link stays, and what it leads to
/// is replaced. Removes what earlier writers of the file left when they were killed.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let path = &linked(path);
    for left in left_behind(parent(path), |name| path.ends_with(name)) {
        // One that cannot be removed does not hinder the one that is written now.
        let _ = fs::remove_file(&left.path);
    }
    let part = beside(path, PART);
    write_part(&part, path, contents)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| {
            // If there is nothing to remove, nothing was left behind.
            let _ = fs::remove_file(&part);
            cannot_write(path, &error)
        })
}

/// Writes the file under the first free name beside `path`: `NAME-2.html`, `NAME-3.html` and so on. Gives that name.
pub fn write_beside(path: &Path, contents: &[u8]) -> Result<PathBuf, Failure> {
    let mut number = 2_u64;
    loop {
        let free = numbered(path, number);
        // Whoever creates the file has the name, so nobody's is taken from here on.
        match File::create_new(&free) {
            Ok(_) => {
                write(&free, contents).inspect_err(|_| {
                    // An empty file that cannot be removed does no harm.
                    let _ = fs::remove_file(&free);
                })?;
                return Ok(free);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(cannot_write(&free, &error)),
        }
    }
}

/// Checks, before the work whose result it is to have, that [`write()`] can write the file.
///
/// # Errors
///
/// It is or names a directory, a link that leads nowhere, or nothing can be written beside it.
pub fn check(path: &Path) -> IoResult<()> {
    // `file_name` passes over a slash at the end; the system takes it for a directory's.
    let ends_with = |name: &OsStr| {
        let path = path.as_os_str().as_encoded_bytes();
        path.ends_with(name.as_encoded_bytes())
    };
    if !path.file_name().is_some_and(ends_with) || path.is_dir() {
        return Err(Error::new(
            ErrorKind::IsADirectory,
            "names a directory; give the name of a file",
        ));
    }
    if path.is_symlink()
        && let Err(error) = fs::metadata(path)
    {
        let end = last_link(path);
        let reason = format!("leads to {}, which is not there", end.display());
        return Err(match error.kind() {
            ErrorKind::NotFound => Error::new(ErrorKind::NotFound, reason),
            _ => error,
        });
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
pub fn linked(path: &Path) -> PathBuf {
    let end = path.is_symlink().then(|| fs::canonicalize(path).ok());
    end.flatten().unwrap_or_else(|| path.to_owned())
}

/// What the last of a row of links names, whether or not it is there.
fn last_link(path: &Path) -> PathBuf {
    let next = |at: &PathBuf| Some(parent(at).join(fs::read_link(at).ok()?));
    let ends = iter::successors(Some(path.to_owned()), next);
    ends.take(1 + MOST_LINKS).last().unwrap_or_default()
}

/// Writes what is to replace `path`. Nobody who cannot read that can read this at any moment.
fn write_part(part: &Path, path: &Path, contents: &[u8]) -> IoResult<()> {
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    let mode = old.as_ref().map_or(NEW, PermissionsExt::mode);
    let mut file = create(part, mode)?;
    if let Some(old) = old {
        // The umask may have taken something from it.
        file.set_permissions(old)?;
    }
    file.write_all(contents)
}

/// `NAME-NUMBER.EXTENSION` beside the file.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn cannot_write(path: &Path, error: &Error) -> Failure {
    Failure::failed(format_args!("cannot write {}: {error}", path.display()))
}

/// Makes a file, and removes it.
fn try_in(part: &Path) -> IoResult<()> {
    create(part, NEW)?;
    fs::remove_file(part)
}

/// A new file. What has its name, such as a link that somebody laid there, is removed and not followed.
fn create(part: &Path, mode: u32) -> IoResult<File> {
    // If there is nothing to remove, the name is free; what stays is told by what follows.
    let _ = fs::remove_file(part);
    let mut options = File::options();
    options.write(true).create_new(true).mode(mode).open(part)
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
    fn a_link_with_the_name_of_a_part_is_not_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let [file, other] = ["file", "other"].map(|name| directory.path().join(name));
        fs::write(&other, "theirs").expect("written");
        let lay = || std::os::unix::fs::symlink(&other, beside(&file, PART)).expect("linked");
        lay();
        check(&file).expect("can be written");
        lay();
        write(&file, b"new").expect("written");
        assert_eq!(fs::read_to_string(&other).expect("there"), "theirs");
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");
        assert!(!file.is_symlink());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused_by_its_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let [link, next] = ["link", "next"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink("next", &link).expect("linked");
        std::os::unix::fs::symlink("gone", &next).expect("linked");
        let error = check(&link).expect_err("nothing there").to_string();
        assert!(error.ends_with("/gone, which is not there"), "{error}");
        fs::remove_file(&next).expect("removed");
        std::os::unix::fs::symlink("link", &next).expect("linked");
        check(&link).expect_err("links in a circle");
        assert!(link.is_symlink() && next.is_symlink());
    }

    #[test]
    fn the_mode_of_what_is_replaced_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        let mode = |file: &Path| fs::metadata(file).expect("there").permissions().mode() & 0o777;
        // One that a usual umask widens, one that it narrows, and one that forbids to write.
        for kept in [0o600, 0o666, 0o400] {
            fs::write(&file, "old").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(kept)).expect("set");
            write(&file, b"new").expect("written");
            assert_eq!(fs::read_to_string(&file).expect("there"), "new");
            assert_eq!(mode(&file), kept);
            fs::remove_file(&file).expect("removed");
        }
        let plain = directory.path().join("plain");
        fs::write(&plain, "").expect("written");
        write(&file, b"new").expect("written");
        assert_eq!(mode(&file), mode(&plain));
    }

    #[test]
    fn a_free_name_is_nobodys() {
        let directory = tempfile::tempdir().expect("a directory");
        let [first, second, third] =
            ["a.b.html", "a.b-2.html", "a.b-3.html"].map(|name| directory.path().join(name));
        fs::write(&first, "mine").expect("written");
        std::os::unix::fs::symlink("gone", &second).expect("linked");
        assert_eq!(write_beside(&first, b"new").expect("written"), third);
        assert_eq!(fs::read_to_string(&third).expect("there"), "new");
        assert!(second.is_symlink());
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 3);
        let lost = directory.path().join("none/a.html");
        write_beside(&lost, b"new").expect_err("no such directory");
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
        for name in ["new/", "new//", "new/.", "new/./", "file/", ".."] {
            check(&directory.path().join(name)).expect_err(name);
        }
        for name in ["./new", ".new", "new."] {
            check(&directory.path().join(name)).expect(name);
        }
        check(&directory.path().join("none/file")).expect_err("no such directory");
        make_directory("--out", &file).expect_err("a file");
        // Nobody writes there, root included.
        check(Path::new("/proc/report.html")).expect_err("no place for files");
        assert_eq!(names(), 1);
    }
}
