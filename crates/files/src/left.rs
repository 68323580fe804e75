//! The temporary names of files and directories, and the remains of killed writers under such names.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The ending of incomplete files.
pub(crate) const PART: &str = "part";
/// The ending of older files that are being replaced.
pub(crate) const OLD: &str = "old";

/// The maximum number of names that a writer tries.
pub(crate) const MAX_NAMES: u32 = 1000;

/// The errors of a file system or a kernel that cannot rename with flags.
pub(crate) const NO_SUCH_RENAME: [Errno; 3] = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP];

/// The remains of a writer. Other processes do not remove it during this value's life.
#[derive(Debug)]
pub(crate) struct Left {
    /// Its path.
    pub path: PathBuf,
    /// Its final name.
    pub name: OsString,
    /// Its ending: `PART` or `OLD`.
    pub what: &'static str,
    _held: File,
}

/// The path beside `path`: `NAME.PID.part`, or `NAME.PID-NUMBER.part` after the first.
pub(crate) fn beside(path: &Path, what: &str, number: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    let pid = std::process::id();
    name.push(match number {
        0 => format!(".{pid}.{what}"),
        _ => format!(".{pid}-{number}.{what}"),
    });
    path.with_file_name(name)
}

/// Makes and holds a file or a directory beside `path`, under an unused name.
pub(crate) fn part(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<File>,
) -> io::Result<(PathBuf, File)> {
    for number in 0..MAX_NAMES {
        let part = beside(path, PART, number);
        let file = match make(&part) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                return Err(too_long(path, &part));
            }
            made => made?,
        };
        // Another process may have taken it for abandoned before it was held.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            _ if is_there(&file, &part) => return Ok((part, file)),
            _ => {}
        }
    }
    let part = beside(path, PART, 0);
    let reason = format!("{} and {MAX_NAMES} such names are taken", part.display());
    Err(io::Error::new(ErrorKind::AlreadyExists, reason))
}

/// The error that the file system has no name as long as that of the part.
fn too_long(path: &Path, part: &Path) -> io::Error {
    let length = |path: &Path| path.file_name().unwrap_or_default().len();
    let (own, more) = (length(path), length(part) - length(path));
    let reason = format!(
        "the name is too long: it has {own} bytes, and its temporary name has {more} more; give a shorter one"
    );
    io::Error::new(ErrorKind::InvalidFilename, reason)
}

/// True if the path leads to the open file.
fn is_there(file: &File, path: &Path) -> bool {
    let number = |about: io::Result<Metadata>| about.ok().map(|of| (of.dev(), of.ino()));
    number(file.metadata()) == number(fs::symlink_metadata(path))
}

/// Removes the remains of killed writers in a directory, as far as `is_wanted` accepts their names.
pub fn sweep(directory: &Path, is_wanted: impl Fn(&OsStr) -> bool) {
    for left in left_behind(directory, is_wanted) {
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(&left.path);
    }
}

/// Returns the remains of dead writers in a directory, as far as `is_wanted` accepts their names; none if the directory
/// cannot be read.
///
/// A writer is dead if no process has its number, or this process has it, and if no process holds the remains, because
/// a process of another container may have the same number.
pub(crate) fn left_behind(
    directory: &Path,
    is_wanted: impl Fn(&OsStr) -> bool,
) -> impl Iterator<Item = Left> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let (name, pid, what) = parse(&entry.file_name())?;
        let path = entry.path();
        let held = (is_wanted(&name) && is_gone(pid)).then(|| hold(&path))??;
        Some(Left {
            path,
            name,
            what,
            _held: held,
        })
    })
}

/// Holds a file or directory until the result is dropped or the process ends. `None` if another process holds it, or if
/// the file system cannot do that. Writers make nothing else, so links, pipes and devices are ignored. A pipe that
/// replaces a file meanwhile is opened without waiting.
fn hold(path: &Path) -> Option<File> {
    let about = fs::symlink_metadata(path).ok()?;
    if !about.is_file() && !about.is_dir() {
        return None;
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let mut options = File::options();
    let file = options.read(true).custom_flags(flags).open(path).ok()?;
    let is_free = file.try_lock().is_ok();
    (is_free && is_there(&file, path)).then_some(file)
}

/// Parses the name of a writer's remains, the writer's number, and the ending.
fn parse(name: &OsStr) -> Option<(OsString, i32, &'static str)> {
    let name = name.to_str()?;
    let (rest, ending) = name.rsplit_once('.')?;
    let what = [PART, OLD].into_iter().find(|what| *what == ending)?;
    let (name, number) = rest.rsplit_once('.')?;
    let (pid, further) = number.split_once('-').unwrap_or((number, "0"));
    let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_ours = is_plain(pid) && is_plain(further) && !name.is_empty();
    let pid = pid.parse().ok().filter(|_| is_ours)?;
    Some((name.into(), pid, what))
}

fn is_gone(pid: i32) -> bool {
    let Some(process) = Pid::from_raw(pid) else {
        return false;
    };
    u32::try_from(pid) == Ok(std::process::id()) || test_kill_process(process) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::{NewDirectory, NewFile, Readers};

    /// Greater than any process's number.
    const NOBODY: u32 = i32::MAX as u32;

    #[test]
    fn a_name_without_room_for_the_part_is_refused_by_its_length() {
        let directory = tempfile::tempdir().unwrap();
        let made = |length| {
            let path = directory.path().join("x".repeat(length));
            let file = NewFile::create(&path, Readers::Owner).map(drop);
            let new = NewDirectory::create(&path).map(drop);
            [file, new].map(|made| made.map_err(|error| error.source.to_string()))
        };
        assert_eq!(made(200), [Ok(()), Ok(())]);
        for refused in made(250) {
            let reason = refused.unwrap_err();
            assert!(
                reason.starts_with("the name is too long: it has 250 bytes"),
                "{reason}"
            );
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_files_and_directories_of_wanted_names_are_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(format!("{name}.{NOBODY}.{PART}"));
        fs::write(path("file"), "").unwrap();
        fs::create_dir(path("directory")).unwrap();
        symlink("file", path("link")).unwrap();
        // A reader of it waits for a writer.
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let left = |is_wanted: fn(&OsStr) -> bool| {
            let left = left_behind(directory.path(), is_wanted);
            let mut names: Vec<OsString> = left.map(|left| left.name).collect();
            names.sort();
            names
        };
        assert_eq!(left(|_| true), ["directory", "file"]);
        assert_eq!(left(|name| name == "file"), ["file"]);
        assert!(path("pipe").exists() && path("link").is_symlink());
    }
}
