//! What writers leave behind when they are killed: files and directories under the names that ours have until they are
//! whole.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Something that a writer of ours left behind.
#[derive(Debug)]
pub struct Left {
    /// Where it is.
    pub path: PathBuf,
    /// The name that it would have got, or had.
    pub name: OsString,
    /// What it is: `PART` or `OLD`.
    pub what: &'static str,
}

/// What is not whole yet.
pub const PART: &str = "part";
/// What was whole and is being replaced.
pub const OLD: &str = "old";

/// The name that something has until it is whole: `NAME.PID.part`.
pub fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    path.with_file_name(name)
}

/// The directory that a path is in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What writers that are gone left in the directory under names of `is_wanted`: no other file is touched. Nothing if the directory
/// cannot be read: there is nothing to clean up then.
///
/// A writer is gone if there is no process of its number, or that is this one; and if nobody holds it (`hold`), which is
/// asked because numbers mean something else in another container.
pub fn left_behind(directory: &Path, is_wanted: impl Fn(&OsStr) -> bool) -> Vec<Left> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let (name, pid, what) = parse(&entry.file_name())?;
            let path = entry.path();
            let is_gone = is_wanted(&name) && is_gone(pid) && hold(&path).is_some();
            is_gone.then_some(Left { path, name, what })
        })
        .collect()
}

/// Holds a file or directory until the result is dropped or the process ends, however it ends; nothing if somebody else
/// holds it, or if the file system cannot do that. Writers make nothing else: links, pipes and devices are left alone, and
/// nobody waits for the other end of a pipe that takes the place of a file meanwhile.
pub fn hold(path: &Path) -> Option<File> {
    let what = fs::symlink_metadata(path).ok()?;
    if !what.is_file() && !what.is_dir() {
        return None;
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let mut options = File::options();
    let file = options.read(true).custom_flags(flags).open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

fn parse(name: &OsStr) -> Option<(OsString, i32, &'static str)> {
    let name = name.to_str()?;
    let (rest, ending) = name.rsplit_once('.')?;
    let what = [PART, OLD].into_iter().find(|what| *what == ending)?;
    let (name, pid) = rest.rsplit_once('.')?;
    let is_plain = pid.bytes().all(|byte| byte.is_ascii_digit());
    let pid = pid.parse().ok().filter(|_| is_plain && !name.is_empty())?;
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

    /// Greater than any process's number.
    const NOBODY: u32 = i32::MAX as u32;

    #[test]
    fn only_files_and_directories_of_wanted_names_are_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(format!("{name}.{NOBODY}.{PART}"));
        fs::write(path("file"), "").unwrap();
        fs::create_dir(path("directory")).unwrap();
        symlink("file", path("link")).unwrap();
        // Whoever opens it to read waits until somebody writes.
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let left = |is_wanted: fn(&OsStr) -> bool| {
            let left = left_behind(directory.path(), is_wanted).into_iter();
            let mut names: Vec<OsString> = left.map(|left| left.name).collect();
            names.sort();
            names
        };
        assert_eq!(left(|_| true), ["directory", "file"]);
        assert_eq!(left(|name| name == "file"), ["file"]);
        assert!(path("pipe").exists() && path("link").is_symlink());
    }
}
