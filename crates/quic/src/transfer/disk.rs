//! What the receiver asks of the file system beyond the standard library.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Where file content goes. A trait because a test must be able to fill a disk.
pub trait Disk: Send + Sync {
    /// Writes all of `data` at the file's position.
    fn write(&self, file: &mut File, data: &[u8]) -> io::Result<()>;

    /// The bytes that may still be written in `directory`, if the system tells.
    fn free(&self, directory: &Path) -> Option<u64>;
}

/// The real one.
#[derive(Debug)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, file: &mut File, data: &[u8]) -> io::Result<()> {
        file.write_all(data)
    }

    #[cfg(unix)]
    fn free(&self, directory: &Path) -> Option<u64> {
        let stat = rustix::fs::statvfs(directory).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    #[cfg(not(unix))]
    fn free(&self, _directory: &Path) -> Option<u64> {
        None
    }
}

/// Whether `error` says that nothing more fits.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// Opens `path` to read and write, made if it is missing. A symbolic link in its place is an error, not followed: what
/// it leads to was never meant.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, no_follow.cast_signed());
    }
    options.open(path)
}

/// Renames `from` to `to`, and fails with [`ErrorKind::AlreadyExists`] if `to` exists.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusively(from, to) {
        Err(error) if is_unsupported(&error) => {}
        answer => return answer,
    }
    // A second name for the same file fails if that name is taken: as good as an exclusive rename.
    match fs::hard_link(from, to) {
        Ok(()) => return fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    // Neither is known here (FAT): look first. Only a file created in between could be replaced.
    match fs::symlink_metadata(to) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exclusively(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exclusively(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Linux says EINVAL for a file system without exclusive renames, ENOSYS for a kernel without them.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::InvalidInput
    )
}

/// Makes the renames in `directory` last through a power failure, where the system can.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let error = rename_new(&from, &to).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).unwrap(), b"old");
        fs::remove_file(&to).unwrap();
        rename_new(&from, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"new");
        assert!(!from.exists());
    }

    #[test]
    fn a_disk_has_some_room() {
        let dir = tempfile::tempdir().unwrap();
        assert!(RealDisk.free(dir.path()).is_none_or(|free| free > 0));
    }
}
