//! The destinations of a transfer's files. No file replaces another of the same transfer, nor an older file unless the
//! receiver's user wants that.
//!
//! Collisions that can be found before the transfer are found then: names that the file system treats as one
//! ([`super::names`]), and existing files. The rest (a subdirectory that ignores case, short names of FAT, a program
//! that writes meanwhile) is noticed when a file gets its name. A name that was free at the start of the transfer is
//! never replaced, and files that the transfer itself has created are known by their inode numbers.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use super::folders::{Folders, obstacle, split};
use super::journal::Key;
use super::names::{Names, Sibling, Siblings};
use super::store::{Fault, Store};
use crate::directory::Identity;
use crate::message::Offered;
use crate::name;
use crate::refusal::Refusal;
use crate::stop::Stop;

/// The destinations of a transfer's files.
pub struct Destinations {
    store: Arc<Store>,
    files: Arc<[Offered]>,
    folders: Folders,
    names: Names,
    /// The files that may replace a file that existed before the transfer.
    replace: HashSet<u32>,
    /// The identities of everything that this transfer has created: directories, and files where some may be replaced.
    made: HashMap<Identity, u32>,
}

impl Destinations {
    /// Finds a name for each of `files` that the file system does not treat as another's.
    pub fn of(
        store: &Arc<Store>,
        files: &Arc<[Offered]>,
        names: Names,
        stop: &Stop,
    ) -> Result<Destinations, Fault> {
        let mut places = Destinations {
            store: store.clone(),
            files: files.clone(),
            folders: Folders::new(store.out().clone()),
            names,
            replace: HashSet::new(),
            made: HashMap::new(),
        };
        places.part_siblings(stop)?;
        Ok(places)
    }

    /// Tests which siblings the file system treats as one, and renames all but the first of them, if renaming is on.
    fn part_siblings(&mut self, stop: &Stop) -> Result<(), Fault> {
        let files = self.files.clone();
        let mut siblings = Siblings::of(&files, &self.names);
        let groups = siblings.groups();
        let mut found: Option<(Sibling<'_>, Sibling<'_>)> = None;
        let mut more = 0;
        for group in &groups {
            let probe = self.store.probe()?;
            for (place, sibling) in group.iter().enumerate() {
                stop.check()?;
                let name = self.names.name(sibling.path);
                let claimed = self.store.disk().claim(&probe, name);
                if claimed.map_err(|error| self.in_the_way(sibling.path, error))? {
                    continue;
                }
                if self.store.renames() {
                    self.rename(&mut siblings, *sibling)?;
                } else if found.is_some() {
                    more += 1;
                } else {
                    let first = self.first_of(&group[..place], *sibling)?;
                    found = Some((first, *sibling));
                }
            }
        }
        if !groups.is_empty() {
            self.store.end_probe()?;
        }
        match found {
            Some((first, second)) => Err(one_name(first.path, second.path, more).into()),
            None => Ok(()),
        }
    }

    /// The first of `earlier` that the file system treats as the same name as `sibling`.
    fn first_of<'a>(
        &self,
        earlier: &[Sibling<'a>],
        sibling: Sibling<'a>,
    ) -> io::Result<Sibling<'a>> {
        let disk = self.store.disk();
        for first in earlier {
            let probe = self.store.probe()?;
            disk.claim(&probe, self.names.name(first.path))?;
            if !disk.claim(&probe, self.names.name(sibling.path))? {
                return Ok(*first);
            }
        }
        Ok(sibling)
    }

    /// Gives the entry `sibling` a free name.
    fn rename(&mut self, siblings: &mut Siblings<'_>, sibling: Sibling<'_>) -> io::Result<()> {
        let parent = self.names.place(split(sibling.path).0).into_owned();
        let folders = &mut self.folders;
        let new = siblings.free_name(sibling, |new| {
            let path = if parent.is_empty() {
                new.to_owned()
            } else {
                format!("{parent}/{new}")
            };
            match folders.entry(&path) {
                Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
                entry => Ok(entry?.is_some()),
            }
        })?;
        self.names.set(sibling.path, new);
        Ok(())
    }

    /// Checks the destinations of the remaining files. Existing files are left alone, replaced, or avoided by other
    /// names.
    pub fn check(&mut self, is_complete: impl Fn(usize) -> bool, stop: &Stop) -> Result<(), Fault> {
        let files = self.files.clone();
        let renames = self.store.renames();
        let mut siblings = renames.then(|| Siblings::of(&files, &self.names));
        // If a directory is missing, so is everything below it.
        let mut there: HashMap<&str, bool> = HashMap::new();
        for (place, file) in files.iter().enumerate() {
            stop.check()?;
            let mut is_reachable = true;
            for path in name::parents(&file.path) {
                is_reachable = match there.get(path) {
                    Some(known) => *known,
                    None => self.look(&mut siblings, path, true)?,
                };
                there.insert(path, is_reachable);
                if !is_reachable {
                    break;
                }
            }
            if is_reachable && !is_complete(place) {
                let is_there = self.look(&mut siblings, &file.path, file.is_directory())?;
                if is_there && !file.is_directory() {
                    self.replace.insert(place as u32);
                }
            }
        }
        Ok(())
    }

    /// True for a directory at `path`, or a file that may be replaced. Anything else there is an obstacle.
    fn look(
        &mut self,
        siblings: &mut Option<Siblings<'_>>,
        path: &str,
        is_directory: bool,
    ) -> Result<bool, Fault> {
        let entry = self.folders.entry(&self.names.place(path));
        let Some(entry) = entry.map_err(|error| self.in_the_way(path, error))? else {
            return Ok(false);
        };
        if is_directory && entry.is_directory {
            return Ok(true);
        }
        if let Some(siblings) = siblings {
            self.rename(siblings, Sibling { path, is_directory })?;
            return Ok(false);
        }
        let name = self.names.place(path).into_owned();
        if is_directory {
            return Err(Refusal::NotADirectory { name }.into());
        }
        if entry.is_directory {
            return Err(Refusal::IsDirectory { name }.into());
        }
        match self.made_before(entry.identity) {
            Some(first) => Err(one_name(first, path, 0).into()),
            None if self.store.overwrites() => Ok(true),
            None => Err(Refusal::Exists { name }.into()),
        }
    }

    /// The path of the entry that this transfer has created with this identity.
    fn made_before(&self, identity: Identity) -> Option<&str> {
        let file = self.made.get(&identity)?;
        Some(&self.files[*file as usize].path)
    }

    /// Records the identity of a file that an earlier attempt of this transfer has created.
    pub fn note(&mut self, file: u32, identity: Identity) {
        self.made.insert(identity, file);
    }

    /// Creates the directory `file`.
    pub fn make(&mut self, file: u32) -> Result<(), Fault> {
        let offered = &self.files.clone()[file as usize];
        let path = offered.path.as_str();
        let place = self.names.place(path).into_owned();
        let made = self.folders.make(&place);
        let identity = made.map_err(|error| self.in_the_way(path, error))?;
        match self.made.insert(identity, file) {
            Some(first) if first != file => {
                Err(one_name(&self.files[first as usize].path, path, 0).into())
            }
            _ => Ok(()),
        }
    }

    /// Gives the part of `file` its name.
    pub fn publish(&mut self, file: u32) -> Result<(), Fault> {
        let offered = &self.files.clone()[file as usize];
        let path = offered.path.as_str();
        let part = Key::of(path).part();
        loop {
            let place = self.names.place(path).into_owned();
            let replaces = self.replace.contains(&file);
            if replaces
                && let Some(entry) = self.folders.entry(&place)?
                && let Some(first) = self.made_before(entry.identity)
            {
                return Err(one_name(first, path, 0).into());
            }
            match self
                .folders
                .publish(self.store.state(), &part, &place, replaces)
            {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    self.evade(file, &place)?;
                    continue;
                }
                published => published.map_err(|error| self.in_the_way(path, error))?,
            }
            if self.store.overwrites()
                && let Some(entry) = self.folders.entry(&place)?
            {
                self.made.insert(entry.identity, file);
            }
            return Ok(());
        }
    }

    /// Handles a name of `file` that has been taken since the start of the transfer: finds another one, or returns the
    /// error.
    fn evade(&mut self, file: u32, place: &str) -> Result<(), Fault> {
        let files = self.files.clone();
        let path = files[file as usize].path.as_str();
        if self.store.renames() {
            let mut siblings = Siblings::of(&files, &self.names);
            let is_directory = false;
            self.rename(&mut siblings, Sibling { path, is_directory })?;
            return Ok(self.save()?);
        }
        let identity = self.folders.entry(place)?.map(|entry| entry.identity);
        for (other, offered) in (0..).zip(files.iter()) {
            let entry = match self.folders.entry(&self.names.place(&offered.path)) {
                Ok(Some(entry)) if other != file => entry,
                _ => continue,
            };
            if Some(entry.identity) == identity {
                return Err(one_name(&offered.path, path, 0).into());
            }
        }
        let name = place.to_owned();
        Err(if self.store.overwrites() {
            Refusal::Appeared { name }.into()
        } else {
            Refusal::Exists { name }.into()
        })
    }

    /// Opens the entry `path` of the offer for reading, at its destination.
    pub fn read(&mut self, path: &str) -> io::Result<File> {
        self.folders.read(&self.names.place(path))
    }

    /// Makes the names durable.
    pub fn sync(&mut self) -> Result<(), Fault> {
        let Err(error) = self.folders.sync() else {
            return Ok(());
        };
        let files = self.files.iter();
        let moved = files.map(|file| self.names.place(&file.path));
        let moved = moved.filter_map(|place| Some(obstacle(self.store.out(), &place)?.to_owned()));
        Err(match (error.kind(), moved.into_iter().next()) {
            (ErrorKind::NotADirectory, Some(name)) => Refusal::NotADirectory { name }.into(),
            _ => error.into(),
        })
    }

    /// The entries of the offer with new names, and their new paths.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, String)> {
        self.names.renamed()
    }

    /// Saves the names, so that another attempt finds the same destinations.
    pub fn save(&self) -> Result<(), Refusal> {
        if self.names.len() == 0 {
            return Ok(());
        }
        self.store.save_names(&self.files, &self.names)
    }

    /// The path on this machine of the entry `path` of the offer.
    pub fn destination(&self, path: &str) -> PathBuf {
        self.store.destination(&self.names.place(path))
    }

    /// The reason why the entry `path` of the offer cannot be created.
    fn in_the_way(&self, path: &str, error: io::Error) -> Fault {
        let name = self.names.place(path).into_owned();
        match error.kind() {
            ErrorKind::AlreadyExists => Refusal::Exists { name }.into(),
            ErrorKind::IsADirectory => Refusal::IsDirectory { name }.into(),
            ErrorKind::NotADirectory => {
                let at = obstacle(self.store.out(), &name).map(str::to_owned);
                let name = at.unwrap_or(name);
                Refusal::NotADirectory { name }.into()
            }
            // The errors of names that a file system cannot store (EINVAL, ENAMETOOLONG, EILSEQ).
            _ if is_unstorable(&error) => Refusal::Unstorable {
                name,
                message: error.to_string(),
            }
            .into(),
            _ => error.into(),
        }
    }
}

fn is_unstorable(error: &io::Error) -> bool {
    let codes = [Errno::INVAL, Errno::NAMETOOLONG, Errno::ILSEQ];
    let code = error.raw_os_error();
    codes.iter().any(|errno| code == Some(errno.raw_os_error()))
}

/// The refusal of two names that are one.
fn one_name(first: &str, second: &str, more: u64) -> Refusal {
    Refusal::OneName {
        first: first.to_owned(),
        second: second.to_owned(),
        more,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::path::Path;

    use super::*;
    use crate::disk::RealDisk;
    use crate::message::Kind;
    use crate::ranges::Ranges;
    use crate::receiver::ReceiverConfig;

    fn offer(paths: &[&str]) -> Arc<[Offered]> {
        let offered = |path: &&str| Offered {
            path: (*path).to_owned(),
            size: 1,
            kind: Kind::File {
                executable: false,
                sparse: false,
            },
            holes: Ranges::default(),
        };
        paths.iter().map(offered).collect()
    }

    struct Options {
        overwrite: bool,
        rename: bool,
    }

    fn places(
        out: &Path,
        files: &Arc<[Offered]>,
        Options { overwrite, rename }: Options,
    ) -> Destinations {
        let config = ReceiverConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            advertise: Vec::new(),
            out: out.to_owned(),
            overwrite,
            rename,
            fresh: true,
            keep: false,
        };
        let store = Arc::new(Store::open(&config, Box::new(RealDisk)).unwrap());
        let stop = Stop::default();
        let mut places = Destinations::of(&store, files, Names::default(), &stop).unwrap();
        places.check(|_| false, &stop).unwrap();
        places
    }

    /// Gives `file` its name, with its path as content.
    fn publish(places: &mut Destinations, file: u32) -> Result<(), Refusal> {
        let path = places.files[file as usize].path.clone();
        let state = places.store.state().path().join(Key::of(&path).part());
        fs::write(state, path).unwrap();
        places.publish(file).map_err(|fault| match fault {
            Fault::Refused(refusal) => refusal,
            Fault::Disk(error) => panic!("{error}"),
        })
    }

    fn is_one_name(published: Result<(), Refusal>) -> bool {
        matches!(
            published,
            Err(Refusal::OneName { first, second, .. }) if first == "a" && second == "b"
        )
    }

    /// A hard link imitates a file system that treats two names as one.
    #[test]
    fn a_transfer_never_replaces_its_own_file() {
        let files = offer(&["a", "b"]);
        for overwrite in [false, true] {
            for was_there in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let out = dir.path();
                let [a, b] = ["a", "b"].map(|name| out.join(name));
                if was_there && overwrite {
                    fs::write(&b, "old").unwrap();
                }
                let rename = false;
                let mut places = places(out, &files, Options { overwrite, rename });
                publish(&mut places, 0).unwrap();
                let _ = fs::remove_file(&b);
                fs::hard_link(&a, &b).unwrap();
                assert!(is_one_name(publish(&mut places, 1)));
                assert_eq!(fs::read(&a).unwrap(), b"a");
            }
        }
    }

    #[test]
    fn what_appears_meanwhile_is_never_replaced() {
        let files = offer(&["a"]);
        for overwrite in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let rename = false;
            let mut places = places(dir.path(), &files, Options { overwrite, rename });
            fs::write(dir.path().join("a"), "other").unwrap();
            let refusal = publish(&mut places, 0).unwrap_err();
            assert!(
                if overwrite {
                    matches!(refusal, Refusal::Appeared { .. })
                } else {
                    matches!(refusal, Refusal::Exists { .. })
                },
                "{refusal}"
            );
            assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"other");
        }
    }

    #[test]
    fn what_is_taken_gets_another_name() {
        let files = offer(&["a.txt", "d/x", "e", "f.txt"]);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path();
        for name in ["a.txt", "a (2).txt", "d"] {
            fs::write(out.join(name), "mine").unwrap();
        }
        fs::create_dir(out.join("e")).unwrap();
        let (overwrite, rename) = (false, true);
        let mut places = places(out, &files, Options { overwrite, rename });
        // This name is taken after the check.
        fs::write(out.join("f.txt"), "mine").unwrap();
        for file in 0..4 {
            publish(&mut places, file).unwrap();
        }
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        for (name, content) in [
            ("a.txt", "mine"),
            ("a (2).txt", "mine"),
            ("a (3).txt", "a.txt"),
            ("d", "mine"),
            ("d (2)/x", "d/x"),
            ("e (2)", "e"),
            ("f.txt", "mine"),
            ("f (2).txt", "f.txt"),
        ] {
            assert_eq!(read(name), content, "{name}");
        }
        // Another attempt loads them.
        assert_eq!(places.store.names(&files).unwrap(), places.names);
    }
}
