//! What writers leave behind when they are killed: files and directories under the names that ours have until they are
//! whole.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

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

/// What writers that are gone left in the directory. Nothing if it cannot be read: there is nothing to clean up then.
///
/// A writer is gone if there is no process of its number, or that is this one; and if nobody holds it (`hold`), which is
/// asked because numbers mean something else in another container.
pub fn left_behind(directory: &Path) -> Vec<Left> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let (name, pid, what) = parse(&entry.file_name())?;
            let path = entry.path();
            let is_gone = is_gone(pid) && hold(&path).is_some();
            is_gone.then_some(Left { path, name, what })
        })
        .collect()
}

/// Holds a file or directory until the result is dropped or the process ends, however it ends; nothing if somebody else
/// holds it, or if the file system cannot do that.
pub fn hold(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
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
