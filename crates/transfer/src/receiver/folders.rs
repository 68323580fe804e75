//! The directories of received files. They are held open one by one from the output directory on, so no symbolic link
//! leads out of it, not even one that is created meanwhile.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, linkat, renameat};
use rustix::io::Errno;

use crate::directory::{Directory, Entry, Identity, identity};
use crate::name;

/// The most directories that are synced one by one; more are synced by one call for the whole file system.
const MAX_SINGLE_SYNCS: usize = 16;

/// The output directory and the directories below it.
pub struct Folders {
    root: Arc<Directory>,
    /// The directory of the latest call: consecutive files mostly share one.
    latest: Option<(String, Directory)>,
    /// The directories with new names since the last [`Folders::sync`].
    touched: BTreeSet<String>,
}

/// Splits `path` into its directory and its last name.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

impl Folders {
    /// The output directory `root`.
    pub fn new(root: Arc<Directory>) -> Folders {
        Folders {
            root,
            latest: None,
            touched: BTreeSet::new(),
        }
    }

    /// Creates the directory `path` and its parents. Returns its identity.
    pub fn make(&mut self, path: &str) -> io::Result<Identity> {
        self.touched
            .extend([split(path).0.to_owned(), path.to_owned()]);
        identity(self.directory(path, true)?)
    }

    /// Moves the file `part` in `state` to the path `to`. Fails with [`ErrorKind::AlreadyExists`] if that exists,
    /// unless it is a file and `replaces` is set.
    pub fn publish(
        &mut self,
        state: &Directory,
        part: &str,
        to: &str,
        replaces: bool,
    ) -> io::Result<()> {
        let (parent, name) = split(to);
        if !self.touched.contains(parent) {
            self.touched.insert(parent.to_owned());
        }
        let directory = self.directory(parent, true)?;
        if replaces {
            Ok(renameat(state, part, directory, name)?)
        } else {
            rename_new(state, part, directory, name)
        }
    }

    /// Opens the file at `path` for reading.
    pub fn read(&mut self, path: &str) -> io::Result<File> {
        let (parent, name) = split(path);
        self.directory(parent, false)?.read(name)
    }

    /// The entry at `path`, if it exists. A parent that is not a directory is [`ErrorKind::NotADirectory`].
    pub fn entry(&mut self, path: &str) -> io::Result<Option<Entry>> {
        let (parent, name) = split(path);
        match self.directory(parent, false) {
            Ok(directory) => directory.entry(name),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes the names durable.
    pub fn sync(&mut self) -> io::Result<()> {
        let touched = std::mem::take(&mut self.touched);
        if touched.len() > MAX_SINGLE_SYNCS && self.root.sync_file_system()? {
            return Ok(());
        }
        touched
            .iter()
            .try_for_each(|path| open(&self.root, path, false)?.sync())
    }

    /// Opens the directory `path`, and creates it and its parents if `make` is set.
    fn directory(&mut self, path: &str, make: bool) -> io::Result<&Directory> {
        let held = match self.latest.take() {
            Some((held, directory)) if held == path => directory,
            _ => open(&self.root, path, make)?,
        };
        Ok(&self.latest.insert((path.to_owned(), held)).1)
    }
}

/// Opens the directory `path` below `root`, and creates it and its parents if `make` is set.
fn open(root: &Directory, path: &str, make: bool) -> io::Result<Directory> {
    let mut directory = root.enter(".")?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        if make {
            match directory.make(name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        directory = directory.enter(name)?;
    }
    Ok(directory)
}

/// The first parent of `path` below `root` that is not a directory, such as a symbolic link.
pub fn obstacle<'a>(root: &Directory, path: &'a str) -> Option<&'a str> {
    let mut directory = root.enter(".").ok()?;
    for parent in name::parents(path) {
        match directory.enter(split(parent).1) {
            Ok(next) => directory = next,
            Err(error) => return (error.kind() == ErrorKind::NotADirectory).then_some(parent),
        }
    }
    None
}

fn rename_new(state: &Directory, part: &str, directory: &Directory, name: &str) -> io::Result<()> {
    match rename_exclusively(state, part, directory, name) {
        // EINVAL: the file system has no exclusive renames. ENOSYS: the kernel has none.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        answer => return Ok(answer?),
    }
    // A hard link fails if the name is taken, like an exclusive rename.
    match linkat(state, part, directory, name, AtFlags::empty()) {
        Ok(()) => return state.remove(part),
        Err(Errno::EXIST) => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => {}
    }
    // Neither is supported (FAT): the name is looked up first. Only a file created in between could be replaced.
    match directory.entry(name)? {
        Some(_) => Err(ErrorKind::AlreadyExists.into()),
        None => Ok(renameat(state, part, directory, name)?),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exclusively(
    state: &Directory,
    part: &str,
    directory: &Directory,
    name: &str,
) -> rustix::io::Result<()> {
    let exclusively = rustix::fs::RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(state, part, directory, name, exclusively)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exclusively(
    _state: &Directory,
    _part: &str,
    _directory: &Directory,
    _name: &str,
) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Creates a state folder with a part that has this content.
    fn part(root: &Path, content: &str) -> Directory {
        fs::write(root.join("part"), content).unwrap();
        Directory::open(root).unwrap()
    }

    fn folders(root: &Path) -> Folders {
        Folders::new(Arc::new(Directory::open(root).unwrap()))
    }

    #[test]
    fn a_new_name_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let mut folders = folders(root);
        let mut publish =
            |content, replaces| folders.publish(&part(root, content), "part", "a/b/c", replaces);
        publish("old", false).unwrap();
        let again = publish("new", false);
        assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(root.join("a/b/c")).unwrap(), b"old");
        publish("new", true).unwrap();
        assert_eq!(fs::read(root.join("a/b/c")).unwrap(), b"new");
        assert_eq!(folders.read("a/b/c").unwrap().metadata().unwrap().len(), 3);
        assert!(
            folders
                .entry("a/b/c")
                .unwrap()
                .is_some_and(|entry| !entry.is_directory)
        );
        assert_eq!(folders.entry("a/x/c").unwrap(), None);
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
        let mut folders = folders(&root);
        for path in ["a/x", "a/b/x"] {
            let error = folders
                .publish(&part(dir.path(), "x"), "part", path, true)
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotADirectory, "{error}");
        }
        assert!(folders.make("a/b").is_err());
        fs::write(outside.join("secret"), "").unwrap();
        assert!(folders.read("a/secret").is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}
