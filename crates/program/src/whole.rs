//! Files at paths of users: regular files are written completely or not at all, others are written to.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{Error, ErrorKind, Result as IoResult, Write};
use std::iter;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use files::{NewFile, Readers, WriteError, others, parent};
use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::failure::Failure;

/// The most links in a chain that are followed (Linux `MAXSYMLINKS`).
const MAX_LINKS: usize = 40;
/// The directories of open descriptors.
const DESCRIPTORS: [&str; 4] = ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"];

/// Writes the file completely or not at all, as [`files::write`] does. A link stays, and its target is replaced.
/// Anything but a regular file, such as a pipe or `/dev/stdout`, is written to and not replaced.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    write_for(path, contents, Readers::Everybody)
}

/// Like [`write()`], but only its owner can read a new file.
pub fn write_own(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    write_for(path, contents, Readers::AsBefore)
}

fn write_for(path: &Path, contents: &[u8], readers: Readers) -> Result<(), Failure> {
    others::check_links(path).map_err(|error| cannot_write(path, &error))?;
    if is_written_directly(path) {
        let written = open_directly(path).and_then(|mut open| open.write_all(contents));
        return written.map_err(|error| cannot_write(path, &error));
    }
    files::write(&linked(path), contents, readers).map_err(Failure::failed)
}

/// Writes the file under the first free name beside `path`: `NAME-2.html`, `NAME-3.html` and so on. Returns that name.
pub fn write_beside(path: &Path, contents: &[u8]) -> Result<PathBuf, Failure> {
    write_numbered(path, contents, Readers::Everybody, |_| Ok(()))
}

/// Like [`write_beside`], but with the owner, group and mode of the file at `path`.
pub fn keep_beside(path: &Path, contents: &[u8]) -> Result<PathBuf, Failure> {
    let old = fs::metadata(path).map_err(|error| cannot_write(path, &error))?;
    write_numbered(path, contents, Readers::Owner, |file| file.take_after(&old))
}

fn write_numbered(
    path: &Path,
    contents: &[u8],
    readers: Readers,
    prepare: impl Fn(&NewFile) -> Result<(), WriteError>,
) -> Result<PathBuf, Failure> {
    let write = |free: &Path| {
        let file = NewFile::create(free, readers)?;
        prepare(&file)?;
        file.write_all(contents)?;
        file.commit_new()
    };
    let mut number = 1_u64;
    loop {
        number += 1;
        let free = numbered(path, number);
        if fs::symlink_metadata(&free).is_ok() {
            continue;
        }
        match write(&free) {
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {}
            written => return written.map(|()| free).map_err(Failure::failed),
        }
    }
}

/// Checks before the work that [`write()`] can write the file.
///
/// # Errors
///
/// The path is a directory, or a link to a directory or without a target; or another user has laid a link on the way to
/// it; or nothing can be written beside it; or the file is read-only for this user; or it is a device or a descriptor that cannot be written to.
pub fn check(path: &Path) -> IoResult<()> {
    others::check_links(path)?;
    if is_written_directly(path) {
        // A reader takes the end of the only writer for the end of the contents.
        let is_pipe = fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
        return if is_pipe {
            Ok(())
        } else {
            open_directly(path).map(drop)
        };
    }
    // `file_name` ignores a slash at the end, but the system then takes the path for a directory.
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
    check_end(path)?;
    let path = &linked(path);
    let directory = parent(path);
    if !directory.is_dir() {
        let reason = format!("there is no directory {}", directory.display());
        return Err(Error::new(ErrorKind::NotFound, reason));
    }
    // The new file takes the old one's place, which its own mode does not prevent.
    match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(Errno::ACCESS) => {
            let reason = "is read-only for this user; give another name, or let this user write it";
            return Err(Error::new(ErrorKind::PermissionDenied, reason));
        }
        Err(error) => return Err(error.into()),
    }
    try_at(path)
}

/// True if the path names an open descriptor, a device, a pipe or a socket.
pub(crate) fn is_written_directly(path: &Path) -> bool {
    let is_other = |about: Metadata| !about.is_file() && !about.is_dir();
    DESCRIPTORS.iter().any(|of| path.starts_with(of)) || fs::metadata(path).is_ok_and(is_other)
}

fn open_directly(path: &Path) -> IoResult<File> {
    if fs::metadata(path)?.file_type().is_block_device() {
        let reason = "is a block device; give the name of a file";
        return Err(Error::new(ErrorKind::InvalidInput, reason));
    }
    // A pipe that nobody reads is an error instead of an endless wait.
    let without_waiting = OFlags::NONBLOCK.bits() as i32;
    let mut options = File::options();
    let file = options
        .append(true)
        .custom_flags(without_waiting)
        .open(path)?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Checks that a link leads to something.
pub(crate) fn check_end(path: &Path) -> IoResult<()> {
    match fs::metadata(path) {
        Err(error) if path.is_symlink() => Err(match error.kind() {
            ErrorKind::NotFound => {
                let end = last_link(path);
                let reason = format!("leads to {}, which does not exist", end.display());
                Error::new(ErrorKind::NotFound, reason)
            }
            _ => error,
        }),
        _ => Ok(()),
    }
}

/// The target of a link. Other paths, and links without a target, are returned unchanged.
pub fn linked(path: &Path) -> PathBuf {
    let end = path.is_symlink().then(|| fs::canonicalize(path).ok());
    end.flatten().unwrap_or_else(|| path.to_owned())
}

/// The path that the last link of a chain names, whether the path exists or not.
fn last_link(path: &Path) -> PathBuf {
    let next = |at: &PathBuf| Some(parent(at).join(fs::read_link(at).ok()?));
    let ends = iter::successors(Some(path.to_owned()), next);
    ends.take(1 + MAX_LINKS).last().unwrap_or_default()
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

/// Makes a file beside the path, and removes it.
pub(crate) fn try_at(path: &Path) -> IoResult<()> {
    let tried = NewFile::create(path, Readers::Owner);
    tried.map(drop).map_err(|error| error.source)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

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
    fn a_link_that_another_user_has_laid_is_not_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let [file, link, way] = ["file", "link", "way"].map(|name| directory.path().join(name));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        std::os::unix::fs::symlink(directory.path(), &way).expect("linked");
        fs::set_permissions(directory.path(), Permissions::from_mode(0o1777)).expect("set");
        check(&link).expect("an own link");
        if [&link, &way].map(|link| lchown(link, Some(65_534), None).is_err()) != [false; 2] {
            skipping::skip!("a link of another user: this takes root");
            return;
        }
        for path in [&link, &way.join("file")] {
            let error = check(path).expect_err("another user's link").to_string();
            assert!(
                error.contains("is a symbolic link in a directory"),
                "{error}"
            );
            write(path, b"new").expect_err("another user's link");
            assert_eq!(fs::read_to_string(&file).expect("there"), "old");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_written_to_and_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let [pipe, socket] = ["pipe", "socket"].map(|name| directory.path().join(name));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("made");
        check(&pipe).expect("can be written to");
        write(&pipe, b"nobody reads it").expect_err("no reader");
        let reader = thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).expect("read")
        });
        while write(&pipe, b"new").is_err() {
            thread::yield_now();
        }
        assert_eq!(reader.join().expect("no panic"), b"new");
        let _listener = UnixListener::bind(&socket).expect("bound");
        check(&socket).expect_err("a socket");
        for device in ["/dev/null", "/dev/stderr"] {
            check(Path::new(device)).expect("can be written to");
            write(Path::new(device), b"").expect("written");
        }
        let file = File::create(directory.path().join("file")).expect("made");
        let descriptor = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        write(&descriptor, b"one, ").expect("written");
        write(&descriptor, b"two").expect("written");
        let text = fs::read_to_string(directory.path().join("file")).expect("there");
        assert_eq!(text, "one, two");
        assert!(fs::metadata(&pipe).expect("there").file_type().is_fifo());
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 3);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused_by_its_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let [link, next] = ["link", "next"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink("next", &link).expect("linked");
        std::os::unix::fs::symlink("gone", &next).expect("linked");
        let error = check(&link).expect_err("nothing there").to_string();
        assert!(error.ends_with("/gone, which does not exist"), "{error}");
        fs::remove_file(&next).expect("removed");
        std::os::unix::fs::symlink("link", &next).expect("linked");
        check(&link).expect_err("links in a circle");
        assert!(link.is_symlink() && next.is_symlink());
    }

    #[test]
    fn the_owner_of_what_is_replaced_or_kept_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        if chown(&file, Some(65_534), Some(65_533)).is_err() {
            skipping::skip!("a file of another user: this takes root");
            return;
        }
        let kept = keep_beside(&file, b"old").expect("kept");
        write(&file, b"new").expect("written");
        for (path, contents) in [(&kept, "old"), (&file, "new")] {
            assert_eq!(fs::read_to_string(path).expect("there"), contents);
            let about = fs::metadata(path).expect("there");
            let mode = about.mode() & 0o777;
            assert_eq!((about.uid(), about.gid(), mode), (65_534, 65_533, 0o640));
        }
    }

    #[test]
    fn each_copy_has_a_name_of_its_own_and_the_mode() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a.toml");
        for number in 2..5 {
            let text = number.to_string();
            fs::write(&file, &text).expect("written");
            fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("set");
            let kept = keep_beside(&file, text.as_bytes()).expect("kept");
            assert_eq!(kept, directory.path().join(format!("a-{number}.toml")));
        }
        for number in 2..5 {
            let kept = directory.path().join(format!("a-{number}.toml"));
            let text = fs::read_to_string(&kept).expect("there");
            assert_eq!(text, number.to_string());
            assert_eq!(fs::metadata(&kept).expect("there").mode() & 0o777, 0o600);
        }
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
    fn a_read_only_file_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o440)).expect("set");
        if File::options().write(true).open(&file).is_ok() {
            check(&file).expect("root may write it");
            skipping::skip!("a read-only file: root may write each");
            return;
        }
        let error = check(&file).expect_err("read-only").to_string();
        assert!(error.starts_with("is read-only for this user"), "{error}");
    }

    #[test]
    fn a_place_is_tried_and_left_as_it_was() {
        let directory = tempfile::tempdir().expect("a directory");
        let names = || fs::read_dir(directory.path()).expect("readable").count();
        check(&directory.path().join("new")).expect("free");
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
        // Nobody can write there, not even root.
        check(Path::new("/proc/report.html")).expect_err("no place for files");
        assert_eq!(names(), 1);
    }
}
