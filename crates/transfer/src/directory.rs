//! A directory that is held open. All operations stay in it, even if somebody replaces its path by a symbolic link or
//! another directory.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dev, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

/// The identity of a file, whatever its name: its device and its inode number.
pub type Identity = (Dev, u64);

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    /// The path at which it was opened, for errors.
    path: PathBuf,
}

/// An entry of a directory. A symbolic link is the link itself, not its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// True for a directory.
    pub is_directory: bool,
    /// The identity of the file or directory.
    pub identity: Identity,
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Symbolic links are not followed, and opening a named pipe does not wait for its writer.
const PLAIN: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Directory {
    /// Opens the directory `path`.
    pub fn open(path: &Path) -> io::Result<Directory> {
        Ok(Directory {
            handle: openat(CWD, path, DIRECTORY, Mode::empty())?,
            path: path.to_owned(),
        })
    }

    /// Opens the directory `name` in this one. A symbolic link is [`ErrorKind::NotADirectory`].
    pub fn enter(&self, name: &str) -> io::Result<Directory> {
        let opened = openat(self, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        match opened {
            Ok(handle) => Ok(Directory {
                handle,
                path: self.path.join(name),
            }),
            // The error for a symbolic link in its place.
            Err(Errno::LOOP) => Err(ErrorKind::NotADirectory.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the directory `name`, with these permissions less the user's mask.
    pub fn make(&self, name: &str, mode: Mode) -> io::Result<()> {
        Ok(mkdirat(self, name, mode)?)
    }

    /// The path at which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file `name` for reading and writing, and creates it if it is missing, with permission to execute if
    /// `executable` is set. A symbolic link in its place is an error.
    pub fn write(&self, name: &str, executable: bool) -> io::Result<File> {
        let mode = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
        let flags = OFlags::RDWR | OFlags::CREATE | PLAIN;
        Ok(openat(self, name, flags, mode)?.into())
    }

    /// Creates the file `name`, which must be new, with these permissions less the user's mask.
    pub fn create(&self, name: &str, mode: Mode) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | PLAIN;
        Ok(openat(self, name, flags, mode)?.into())
    }

    /// Opens the file `name` to read. A symbolic link in its place is an error.
    pub fn read(&self, name: &str) -> io::Result<File> {
        Ok(openat(self, name, OFlags::RDONLY | PLAIN, Mode::empty())?.into())
    }

    /// The entry at `path`, if it exists.
    pub fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        match statat(self, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Entry {
                is_directory: FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
                identity: (stat.st_dev, stat.st_ino),
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// True if `name` exists.
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_ok_and(|entry| entry.is_some())
    }

    /// Renames `from` to `to`, which is replaced.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(self, from, self, to)?)
    }

    /// Removes `name`, whatever it is; a missing one is fine. Symbolic links are not followed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(self, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(error) => {
                let entry = self.entry(name)?;
                if !entry.is_some_and(|entry| entry.is_directory) {
                    return Err(error.into());
                }
            }
        }
        self.enter(name)?.clear()?;
        self.remove_empty(name)
    }

    /// Removes the directory `name`, which must be empty.
    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(self, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes all entries.
    pub fn clear(&self) -> io::Result<()> {
        self.names()?.iter().try_for_each(|name| self.remove(name))
    }

    /// The names of all entries that are valid Unicode. The receiver creates no others.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self)? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    /// Makes the renames in it durable.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self)?)
    }

    /// Makes all writes to its file system durable; `false` if the system has no such call.
    #[cfg(target_os = "linux")]
    pub fn sync_file_system(&self) -> io::Result<bool> {
        rustix::fs::syncfs(self)?;
        Ok(true)
    }

    /// Other systems have no such call: files are made durable one by one.
    #[cfg(not(target_os = "linux"))]
    pub fn sync_file_system(&self) -> io::Result<bool> {
        Ok(false)
    }
}

/// The identity of the open `file`.
pub fn identity(file: &impl AsFd) -> io::Result<Identity> {
    let stat = rustix::fs::fstat(file)?;
    Ok((stat.st_dev, stat.st_ino))
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_it_is_goes() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::open(dir.path()).unwrap();
        let path = dir.path().join("x");
        directory.remove("x").unwrap();
        fs::write(&path, "").unwrap();
        directory.remove("x").unwrap();
        fs::create_dir_all(path.join("y/z")).unwrap();
        fs::write(path.join("y/file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", path.join("link")).unwrap();
        directory.remove("x").unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_takes_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (there, aside) = (dir.path().join("there"), dir.path().join("aside"));
        fs::create_dir(&there).unwrap();
        let directory = Directory::open(dir.path()).unwrap();
        let held = directory.enter("there").unwrap();
        fs::rename(&there, &aside).unwrap();
        std::os::unix::fs::symlink("/etc", &there).unwrap();
        held.write("x", false).unwrap();
        assert!(aside.join("x").exists());
        let error = directory.enter("there").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
        assert_eq!(held.names().unwrap(), ["x"]);
        assert!(!directory.entry("there").unwrap().unwrap().is_directory);
    }
}
