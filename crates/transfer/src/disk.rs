//! What the receiver asks of the file system beyond the standard library.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

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

    fn free(&self, directory: &Path) -> Option<u64> {
        let stat = rustix::fs::statvfs(directory).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Whether `error` says that nothing more fits.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// Opens `path` to read and write, made if it is missing, with permission to execute if that is wanted. A symbolic link in
/// its place is an error, not followed: what it leads to was never meant.
pub fn open_plain(path: &Path, executable: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(NO_FOLLOW.bits().cast_signed())
        .mode(if executable { 0o777 } else { 0o666 })
        .open(path)
}

/// Removes the content of `file`, if it has any: ext4 writes a file that was truncated to the disk when it is closed
/// (ext4(5), "auto_da_alloc"), which costs more than all the rest of a small one.
pub fn empty(file: &File) -> io::Result<()> {
    match file.metadata()?.len() {
        0 => Ok(()),
        _ => file.set_len(0),
    }
}

/// Opens `path` to read, where a file was a moment ago. If a named pipe has taken its place, its writer is not waited for.
pub fn read_any(path: &Path) -> io::Result<File> {
    read_with(path, OFlags::NONBLOCK)
}

/// Opens `path` to read. A symbolic link in its place is an error.
pub fn read_plain(path: &Path) -> io::Result<File> {
    read_with(path, NO_FOLLOW)
}

/// Neither is a symbolic link followed, nor waited for whoever writes to a named pipe.
const NO_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

fn read_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Removes `path`, whatever it is; a missing one is fine. Symbolic links are not followed.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_file(path) {
        Err(_) if fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) => {
            fs::remove_dir_all(path)
        }
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Fills `buffer` from `file`; `false` if the file ends before.
pub fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        answer => answer.map(|()| true),
    }
}

/// Makes everything that was written to the file system of `directory` last through a power failure; `false` if the
/// system has no such call.
#[cfg(target_os = "linux")]
pub fn sync_file_system(directory: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(directory)?)?;
    Ok(true)
}

/// Elsewhere files are made to last one by one.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_directory: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Makes the renames in `directory` last through a power failure.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_it_is_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        remove(&path).unwrap();
        fs::write(&path, "").unwrap();
        remove(&path).unwrap();
        fs::create_dir_all(path.join("y")).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_disk_has_some_room() {
        let dir = tempfile::tempdir().unwrap();
        assert!(RealDisk.free(dir.path()).is_none_or(|free| free > 0));
    }
}
