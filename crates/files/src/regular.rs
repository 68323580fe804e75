//! Regular files. A named pipe could block its reader for ever, and a device may have no end.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use text::TextError;

use crate::others;

/// Opens a file for reading, also through a symbolic link.
///
/// # Errors
///
/// The file cannot be opened, or is a directory, a pipe or a device.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path, OFlags::empty())
}

/// Reads the text of a regular file of at most `max_bytes`.
///
/// # Errors
///
/// The file cannot be opened, is not regular, is larger, or is not UTF-8.
pub fn text(path: &Path, max_bytes: u64) -> Result<String, TextError> {
    text::read(open(path)?, max_bytes)
}

/// Opens a file of our own for reading and writing, or makes one. A symbolic link is not followed, since its target
/// would be overwritten.
///
/// # Errors
///
/// The file cannot be opened, or is a symbolic link, a directory, a pipe or a device.
pub fn open_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    own(options.read(true).write(true).truncate(false), path)
}

/// Removes a file, or a symbolic link, if it is there.
///
/// # Errors
///
/// The file cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Opens a file for reading that other users cannot have written, as far as its mode shows, also through a symbolic
/// link.
///
/// # Errors
///
/// The file cannot be opened, is a directory, a pipe or a device, or other users can write to it or could have made the
/// link.
pub fn open_trusted(path: &Path) -> io::Result<File> {
    trusted(OpenOptions::new().read(true), path)
}

/// Opens such a file to append and to read, or makes one that only its owner may read.
///
/// # Errors
///
/// As for [`open_trusted`].
pub fn append_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    trusted(&mut options, path)
}

fn trusted(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // If there was no link, none may come meanwhile.
    let file = open_with(options, &others::real(path)?, OFlags::NOFOLLOW)?;
    match others::may_write(&file.metadata()?) {
        Some(why) => Err(io::Error::other(format!(
            "{why}, who could write what he likes there"
        ))),
        None => Ok(file),
    }
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
    // Opening a pipe without a writer must not block. Regular files ignore the flag.
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn pipes_directories_and_devices_are_refused_and_nobody_waits() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            assert_eq!(open(path).unwrap_err().to_string(), "is not a regular file");
            assert_eq!(
                open_own(path).unwrap_err().to_string(),
                "is not a regular file"
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

    #[test]
    fn what_others_could_write_or_lay_there_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        append_own(&file).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        symlink("file", &link).unwrap();
        let both = |path: &Path| [append_own(path), open_trusted(path)].map(|file| file.err());
        let refused = |path: &Path, part: &str| {
            for error in both(path) {
                let error = error.unwrap().to_string();
                assert!(error.contains(part), "{error}");
            }
        };
        for path in [&file, &link] {
            assert!(both(path).iter().all(Option::is_none));
        }
        set(directory.path(), 0o777);
        refused(
            &link,
            "is a symbolic link in a directory that is open to every user",
        );
        assert!(both(&file).iter().all(Option::is_none));
        set(&file, 0o620);
        refused(&file, "is open to its group");
        set(&file, 0o600);
        if chown(&file, Some(65_534), None).is_err() {
            skipping::skip!("a file of another user: this takes root");
            return;
        }
        refused(&file, "belongs to another user (65534)");
    }
}
