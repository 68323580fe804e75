//! Files that must be regular ones. A named pipe would keep its reader waiting for ever, and a device may have no end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file for reading, also through a symbolic link.
///
/// # Errors
///
/// It cannot be opened, or is a directory, a pipe or a device.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path, OFlags::empty())
}

/// Opens a file of our own for reading and writing, or makes one. A symbolic link is not followed: what it names would be
/// overwritten.
///
/// # Errors
///
/// It cannot be opened, or is a symbolic link, a directory, a pipe or a device.
pub fn open_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    own(options.read(true).write(true).truncate(false), path)
}

/// Opens a file to append to, also through a symbolic link, or makes one, which nobody else may read.
///
/// # Errors
///
/// It cannot be opened, or is a directory, a pipe or a device.
pub fn append_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    open_with(&mut options, path, OFlags::empty())
}

fn own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let opened = open_with(options.create(true), path, OFlags::NOFOLLOW);
    opened.map_err(|error| match rustix::io::Errno::from_io_error(&error) {
        Some(rustix::io::Errno::LOOP) => {
            io::Error::other("is a symbolic link; put the file itself there")
        }
        _ => error,
    })
}

fn open_with(options: &mut OpenOptions, path: &Path, flags: OFlags) -> io::Result<File> {
    // Opening a pipe that nobody writes to must not wait; regular files know no such flag.
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("is no regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn pipes_directories_and_devices_are_refused_and_nobody_waits() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            assert_eq!(open(path).unwrap_err().to_string(), "is no regular file");
            assert_eq!(
                open_own(path).unwrap_err().to_string(),
                "is no regular file"
            );
        }
        assert!(open(directory.path()).is_err() && open_own(directory.path()).is_err());
    }

    #[test]
    fn links_are_followed_to_read_and_never_to_write() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "mine").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(io::read_to_string(open(&link).unwrap()).unwrap(), "mine");
        let error = open_own(&link).unwrap_err().to_string();
        assert!(error.starts_with("is a symbolic link"), "{error}");
        assert!(open_own(&file).is_ok() && open_own(&directory.path().join("new")).is_ok());
    }
}
