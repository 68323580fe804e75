//! The receiver's interface to the file system, and operations on files that both sides use.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread};

use crate::directory::Directory;

/// The destination of file content. A trait, so that a test can fill a disk.
pub trait Disk: Send + Sync {
    /// Writes all of `data` at byte `at` of the file.
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()>;

    /// The free space of the file system of `directory` in bytes, if the system reports it.
    fn free(&self, directory: &Directory) -> Option<u64>;

    /// Creates an empty file `name` in `directory`; `false` if the file system treats an existing name as the same.
    fn claim(&self, directory: &Directory, name: &str) -> io::Result<bool> {
        match directory.create(name, Mode::RUSR | Mode::WUSR) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The real file system.
#[derive(Debug)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()> {
        file.write_all_at(data, at)
    }

    fn free(&self, directory: &Directory) -> Option<u64> {
        let stat = rustix::fs::fstatvfs(directory).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// True if `error` means that the disk, or the user's quota, is full.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Removes the content of `file`, if it has any. ext4 flushes a truncated file when it is closed (ext4(5),
/// "auto_da_alloc"), which costs more than everything else about a small file.
pub fn empty(file: &File) -> io::Result<()> {
    match file.metadata()?.len() {
        0 => Ok(()),
        _ => file.set_len(0),
    }
}

/// Opens the file `path` for reading. If a named pipe has taken its place, the call does not wait for a writer.
pub fn read_any(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    options.read(true).custom_flags(flags).open(path)
}

/// Appends `len` bytes of the regular file `file`, from byte `at`, to `buffer`, and returns the number of appended
/// bytes. It is smaller if the file ends earlier, and larger if the file continues and the buffer has spare capacity.
/// A short read has reached the end of the file (read(2)), which saves another call.
pub fn append(file: &File, at: u64, len: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let start = buffer.len();
    loop {
        let count = buffer.len() - start;
        match pread(file, spare_capacity(buffer), at + count as u64) {
            Ok(0) => return Ok(count),
            Ok(more) if count + more >= len => return Ok(count + more),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_some_room() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::open(dir.path()).unwrap();
        assert!(RealDisk.free(&directory).is_none_or(|free| free > 0));
    }

    #[test]
    fn what_a_file_has_is_appended() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"abcdef", 0).unwrap();
        let appended = |at, len, room| {
            let mut buffer = Vec::with_capacity(room);
            let count = append(&file, at, len, &mut buffer).unwrap();
            assert_eq!(count, buffer.len());
            buffer
        };
        assert_eq!(appended(0, 6, 7), b"abcdef");
        assert_eq!(appended(4, 9, 10), b"ef");
        // The file goes on.
        assert_eq!(appended(1, 2, 3), b"bcd");
        assert_eq!(appended(0, 0, 1), b"a");
    }
}
