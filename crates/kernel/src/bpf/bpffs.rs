//! The BPF file system, which keeps a controller that no process holds.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use crate::requirement::Requirement;
use crate::{Algorithm, Error};

/// The usual mount point.
const MOUNT: &str = "/sys/fs/bpf";

/// The lock file of processes that load or unload. Only root can open it, so no other user can hold the lock.
const LOCK: &str = "/run/fullpipe-kernel.lock";

/// True if the BPF file system is mounted.
pub(super) fn is_mounted() -> bool {
    statfs(MOUNT).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// The file that keeps a controller.
pub(super) fn pin(algorithm: Algorithm) -> PathBuf {
    file(algorithm.kernel_name())
}

/// The directory of all files.
pub(super) fn directory() -> PathBuf {
    Path::new(MOUNT).join("fullpipe")
}

pub(super) fn file(name: &str) -> PathBuf {
    directory().join(name)
}

/// Mounts the BPF file system if necessary, and makes the directory of pins.
pub(super) fn prepare() -> Result<(), Error> {
    if !is_mounted() {
        mount(
            Some("bpf"),
            MOUNT,
            Some("bpf"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
            Some("mode=700"),
        )
        .map_err(|source| {
            Error::system(
                format!("cannot mount the BPF file system at {MOUNT}"),
                source,
            )
        })?;
    }
    let directory = directory();
    let cannot = |source| Error::system(format!("cannot make {}", directory.display()), source);
    match DirBuilder::new().mode(0o700).create(&directory) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => return Err(cannot(source)),
        _ => {}
    }
    is_there().map(drop)
}

/// True if there is a directory of pins.
///
/// # Errors
///
/// Another user may write to the directory, and could remove a controller, or make a link to a program.
pub(super) fn is_there() -> Result<bool, Error> {
    let directory = directory();
    let found = match fs::symlink_metadata(&directory) {
        Ok(found) => found,
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(false),
        Err(source) => {
            let what = format!("cannot look at {}", directory.display());
            return Err(Error::system(what, source));
        }
    };
    if !found.is_dir() || found.uid() != 0 || found.mode() & 0o022 != 0 {
        return Err(Error::Lacking(format!(
            "{} is not root's alone: remove it",
            directory.display()
        )));
    }
    Ok(is_mounted())
}

/// The lock of a process that mounts, loads or unloads, so that no other process sees an intermediate state.
///
/// # Errors
///
/// Another process has held it for ten seconds.
pub(super) fn lock() -> Result<Flock<File>, Error> {
    let cannot = |source| Error::system(format!("cannot lock {LOCK}"), source);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(LOCK)
        .map_err(cannot)?;
    for _ in 0..100 {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, Errno::EWOULDBLOCK)) => file = back,
            Err((_, source)) => return Err(cannot(source.into())),
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(Error::Lacking(
        "another command is loading or unloading a controller or a policy: try again".to_owned(),
    ))
}

/// Removes the directory of pins if it is empty.
pub(super) fn tidy() {
    let _ = fs::remove_dir(directory());
}

/// The place where the BPF file system is, or can be, mounted.
pub(super) fn requirement() -> Requirement {
    let lack = "no /sys/fs/bpf: mount /sys, in a kernel with CONFIG_BPF_SYSCALL";
    let is_there = is_mounted() || Path::new(MOUNT).is_dir();
    Requirement::new("BPF file system", (!is_there).then_some(lack))
}
