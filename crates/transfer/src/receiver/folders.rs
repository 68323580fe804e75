//! The directories in which files appear: held open one by one from the output directory on, so that no symbolic link
//! leads out of it, not even one that somebody puts there in the meantime.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdirat, openat, renameat, statat};
use rustix::io::Errno;

use crate::disk;

/// More directories than this are made to last with one call for the whole file system.
const FEW: usize = 16;

/// The output directory, with what is below it.
pub struct Folders {
    root: PathBuf,
    /// The directory that was asked for last: consecutive files mostly share one.
    latest: Option<(String, OwnedFd)>,
    /// Where names have appeared since the last [`Folders::sync`].
    touched: BTreeSet<String>,
}

/// The directory and the name of the file at `path`.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

impl Folders {
    /// The output directory `root`.
    pub fn new(root: &Path) -> Folders {
        Folders {
            root: root.to_owned(),
            latest: None,
            touched: BTreeSet::new(),
        }
    }

    /// Makes the directory `path`, and those that lead to it.
    pub fn make(&mut self, path: &str) -> io::Result<()> {
        self.touched
            .extend([split(path).0.to_owned(), path.to_owned()]);
        self.directory(path).map(|_| ())
    }

    /// Gives the file `part` the path `to`. Fails with [`ErrorKind::AlreadyExists`] if that exists, unless it is a file
    /// and `overwrite` is set.
    pub fn publish(&mut self, part: &Path, to: &str, overwrite: bool) -> io::Result<()> {
        let (parent, name) = split(to);
        if !self.touched.contains(parent) {
            self.touched.insert(parent.to_owned());
        }
        let directory = self.directory(parent)?;
        if overwrite {
            Ok(renameat(CWD, part, directory, name)?)
        } else {
            rename_new(part, directory, name)
        }
    }

    /// Opens the file at `path` to read.
    pub fn read(&self, path: &str) -> io::Result<File> {
        let (parent, name) = split(path);
        read(&open(&self.root, parent, false)?, name)
    }

    /// Makes the names last through a power failure.
    pub fn sync(&mut self) -> io::Result<()> {
        let touched = std::mem::take(&mut self.touched);
        if touched.len() > FEW && disk::sync_file_system(&self.root)? {
            return Ok(());
        }
        touched
            .iter()
            .try_for_each(|path| disk::sync_directory(&self.root.join(path)))
    }

    fn directory(&mut self, path: &str) -> io::Result<&OwnedFd> {
        let held = match self.latest.take() {
            Some((held, handle)) if held == path => handle,
            _ => open(&self.root, path, true)?,
        };
        Ok(&self.latest.insert((path.to_owned(), held)).1)
    }
}

/// Opens the directory `path` below `root`; makes what is missing of it if `make` is set.
fn open(root: &Path, path: &str, make: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, root, flags, Mode::empty())?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        if make {
            match mkdirat(&directory, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        directory = match openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            // That is what a symbolic link in its place gives.
            Err(Errno::LOOP) => return Err(ErrorKind::NotADirectory.into()),
            opened => opened?,
        };
    }
    Ok(directory)
}

fn read(directory: &OwnedFd, name: &str) -> io::Result<File> {
    // Nor is waited for whoever writes to a named pipe.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(openat(directory, name, flags, Mode::empty())?.into())
}

fn rename_new(part: &Path, directory: &OwnedFd, name: &str) -> io::Result<()> {
    match rename_exclusively(part, directory, name) {
        // Linux says EINVAL for a file system without exclusive renames, ENOSYS for a kernel without them.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        answer => return Ok(answer?),
    }
    // A second name for the same file fails if that name is taken: as good as an exclusive rename.
    match linkat(CWD, part, directory, name, AtFlags::empty()) {
        Ok(()) => return std::fs::remove_file(part),
        Err(Errno::EXIST) => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => {}
    }
    // Neither is known here (FAT): look first. Only a file created in between could be replaced.
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(Errno::NOENT) => Ok(renameat(CWD, part, directory, name)?),
        Err(error) => Err(error.into()),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exclusively(part: &Path, directory: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(
        CWD,
        part,
        directory,
        name,
        rustix::fs::RenameFlags::NOREPLACE,
    )
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exclusively(_part: &Path, _directory: &OwnedFd, _name: &str) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn part(root: &Path, content: &str) -> PathBuf {
        let part = root.join("part");
        fs::write(&part, content).unwrap();
        part
    }

    #[test]
    fn a_new_name_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let mut folders = Folders::new(root);
        folders.publish(&part(root, "old"), "a/b/c", false).unwrap();
        let again = folders.publish(&part(root, "new"), "a/b/c", false);
        assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(root.join("a/b/c")).unwrap(), b"old");
        folders.publish(&part(root, "new"), "a/b/c", true).unwrap();
        assert_eq!(fs::read(root.join("a/b/c")).unwrap(), b"new");
        assert_eq!(folders.read("a/b/c").unwrap().metadata().unwrap().len(), 3);
        assert!(folders.read("a/x/c").is_err() && !root.join("a/x").exists());
        folders.make("a/empty").unwrap();
        assert!(root.join("a/empty").is_dir());
        folders.sync().unwrap();
    }

    #[test]
    fn no_link_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
        let mut folders = Folders::new(&root);
        for path in ["a/x", "a/b/x"] {
            let error = folders
                .publish(&part(dir.path(), "x"), path, true)
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotADirectory, "{error}");
        }
        assert!(folders.make("a/b").is_err());
        fs::write(outside.join("secret"), "").unwrap();
        assert!(folders.read("a/secret").is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}
