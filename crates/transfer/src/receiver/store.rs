//! The receiver's state on disk of an unfinished transfer, which survives a crash of either side.
//!
//! In the output directory's state folder:
//!
//! - `lock`: held while a receiver runs, so that there is only one;
//! - `identity`: certificate, key, secret and port, so that the ticket stays valid. Readable by the owner only;
//! - `offer`: the files of the ticket's transfer;
//! - `journal`: the verified blocks and files ([`super::journal`]);
//! - `….names`: the new names of some of them ([`super::names`]);
//! - `….part`: the content of each of them that has not got its name yet.
//!
//! Without an `identity` the rest is useless and is removed. The folder is removed when all files have their names.
//!
//! Both directories are held open: a user who replaces the state folder in the output directory gets nothing of it.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, fchmod, fstat};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::config::ReceiverConfig;
use super::journal::{Key, Records};
use super::names::Names;
use super::offer;
use crate::directory::{self, Directory};
use crate::disk::{self, Disk};
use crate::error::Error;
use crate::limits::MAX_TEXT;
use crate::message::Offered;
use crate::name::STATE_FOLDER;
use crate::refusal::Refusal;
use crate::wire;

/// The header of the files in the state folder, so that another version does not misread them. A CRC-32 follows.
const HEADER: &[u8] = b"fullpipe-state-3\n";

/// The receiver's side of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedIdentity {
    /// The certificate (DER).
    pub certificate: Vec<u8>,
    /// Its private key (PKCS#8).
    pub key: Vec<u8>,
    /// The one-time secret.
    pub secret: [u8; 16],
    /// The UDP port that the ticket names.
    pub port: u16,
}

/// The reason why something could not be received.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The entry itself is the reason.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The file system is the reason.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

/// The output directory and its state folder, locked.
pub struct Store {
    out: Arc<Directory>,
    state: Directory,
    overwrite: bool,
    /// A file whose name is taken gets another one.
    rename: bool,
    /// The ticket is valid for many transfers.
    keep: bool,
    disk: Box<dyn Disk>,
    _lock: File,
}

impl Store {
    /// Opens the output directory of `config`, and creates it if it is missing.
    pub fn open(config: &ReceiverConfig, disk: Box<dyn Disk>) -> Result<Store, Error> {
        let out = config.out.as_path();
        files::make_directory(out, 0o777).map_err(at(out))?;
        let path = out.canonicalize().map_err(at(out))?;
        let out = Directory::open(&path).map_err(at(&path))?;
        let (state, lock) = lock(&out)?;
        let store = Store {
            out: Arc::new(out),
            state,
            overwrite: config.overwrite,
            rename: config.rename,
            keep: config.keep,
            disk,
            _lock: lock,
        };
        if config.fresh || store.identity()?.is_none() {
            store.forget()?;
        }
        Ok(store)
    }

    /// The identity of an unfinished transfer, if there is one.
    pub fn identity(&self) -> Result<Option<SavedIdentity>, Error> {
        self.load("identity")
    }

    /// Saves the identity until [`Store::clear`].
    pub fn save_identity(&self, identity: &SavedIdentity) -> Result<(), Error> {
        self.save("identity", identity)
    }

    /// Accepts an offer as the ticket's transfer, or as its continuation. With `restart` an unfinished transfer is
    /// discarded, but not the list of files that have their names.
    pub fn adopt(&self, files: &[Offered], restart: bool) -> Result<(), Refusal> {
        if restart {
            self.forget_parts(files).map_err(|e| self.failed(e))?;
        } else {
            match self.load::<Vec<Offered>>("offer") {
                Ok(Some(adopted)) if adopted == files => return Ok(()),
                Ok(Some(adopted)) if !self.keep => offer::compare(&adopted, files)?,
                Err(Error::Damaged(_)) if !self.keep => return Err(self.damaged("offer")),
                Ok(_) | Err(Error::Damaged(_)) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        self.save("offer", &files).map_err(|e| self.failed(e))
    }

    /// Checks that the file system accepts files as large as `files`. Holes take no room, but sizes may be limited.
    pub fn check_sizes(&self, files: &[Offered]) -> Result<(), Fault> {
        let largest = files.iter().max_by_key(|file| file.size);
        // Every file system has smaller files, and some (FAT) would fill the test file with zeros.
        let Some(largest) = largest.filter(|file| file.size > u64::from(u32::MAX)) else {
            return Ok(());
        };
        self.state.remove(PROBE)?;
        let grown = self.state.write(PROBE, false);
        let grown = grown.and_then(|file| file.set_len(largest.size));
        self.state.remove(PROBE)?;
        grown.map_err(|error| self.unwritten(largest, error))
    }

    /// The error of writing `file`. A file that is larger than the file system's limit is no failure of the disk.
    pub fn unwritten(&self, file: &Offered, error: io::Error) -> Fault {
        if error.kind() != ErrorKind::FileTooLarge {
            return error.into();
        }
        Refusal::TooLarge {
            name: file.path.clone(),
            size: file.size,
            disk: self.place(),
        }
        .into()
    }

    /// Checks that `needed` bytes fit on the disk.
    pub fn check_room(&self, needed: u64) -> Result<(), Refusal> {
        match self.disk.free(&self.out) {
            Some(free) if needed > free => {
                let disk = self.place();
                Err(Refusal::NoSpace { disk, needed, free })
            }
            _ => Ok(()),
        }
    }

    /// Discards the state of a complete transfer; that of unfinished ones stays.
    pub fn finished(&self) -> Result<(), Error> {
        if let Ok(Some(files)) = self.load::<Vec<Offered>>("offer") {
            self.remove(&names_file(&files))?;
        }
        self.remove("offer")?;
        let records = Records::read(&self.state, "journal");
        let mut records = records.map_err(at(&self.state_file("journal")))?;
        records.retain(|key| self.state.has(&key.part()));
        self.replace("journal", &records.encode())
    }

    /// Removes an unfinished transfer with its identity. It reads no file, because any may be damaged.
    pub fn forget(&self) -> Result<(), Error> {
        // The identity goes first: after a crash at this point, the next receiver removes the rest.
        self.remove("identity")?;
        let names = self.state_names()?;
        let mut old = names.iter().filter(|name| is_state(name));
        old.try_for_each(|name| self.remove(name))
    }

    /// Removes everything but the received files. The ticket is then invalid.
    pub fn clear(&self) -> Result<(), Error> {
        self.forget()?;
        self.remove("lock")?;
        // The folder stays if somebody has put something into it.
        let _ = self.out.remove_empty(STATE_FOLDER);
        Ok(())
    }

    pub fn out(&self) -> &Arc<Directory> {
        &self.out
    }

    pub fn state(&self) -> &Directory {
        &self.state
    }

    /// True if existing files may be replaced.
    pub fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// True if a file whose name is taken gets another one.
    pub fn renames(&self) -> bool {
        self.rename
    }

    /// True if the ticket is valid for many transfers.
    pub fn keeps(&self) -> bool {
        self.keep
    }

    /// The destination of the file `path`.
    pub fn destination(&self, path: &str) -> PathBuf {
        self.out.path().join(path)
    }

    /// The path of a file in the state folder, for errors.
    fn state_file(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// The new names of some of `files`.
    pub fn names(&self, files: &[Offered]) -> Result<Names, Refusal> {
        let file = names_file(files);
        match self.load(&file) {
            Ok(names) => Ok(names.unwrap_or_default()),
            Err(Error::Damaged(_)) => Err(self.damaged(&file)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Saves these names until the transfer of `files` is finished.
    pub fn save_names(&self, files: &[Offered], names: &Names) -> Result<(), Refusal> {
        let saved = self.save(&names_file(files), names);
        saved.map_err(|error| self.failed(error))
    }

    /// Creates an empty directory in which the file system is tested for names that it treats as one.
    pub fn probe(&self) -> io::Result<Directory> {
        self.state.remove(PROBE)?;
        self.state.make(PROBE, Mode::RWXU)?;
        self.state.enter(PROBE)
    }

    /// Removes the test directory ([`Store::probe`]).
    pub fn end_probe(&self) -> io::Result<()> {
        self.state.remove(PROBE)
    }

    pub fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// The refusal for a fault.
    pub fn refused(&self, fault: Fault) -> Refusal {
        let disk = self.place();
        match fault {
            Fault::Refused(refusal) => refusal,
            Fault::Disk(error) if disk::is_full(&error) => Refusal::DiskFull { disk },
            Fault::Disk(error) => Refusal::Disk {
                disk,
                message: shorten(&error.to_string()),
            },
        }
    }

    /// The refusal for a file in the state folder that cannot be used.
    pub fn damaged(&self, name: &str) -> Refusal {
        Refusal::Damaged {
            path: shorten(&self.state_file(name).to_string_lossy()),
        }
    }

    fn failed(&self, error: Error) -> Refusal {
        match error {
            Error::State { source, .. } => self.refused(source.into()),
            other => Refusal::Disk {
                disk: self.place(),
                message: shorten(&other.to_string()),
            },
        }
    }

    fn place(&self) -> String {
        shorten(&self.out.path().to_string_lossy())
    }

    /// Removes the offer and the parts: all, or with `keep` those of `files`. The journal keeps the files that have
    /// their names.
    fn forget_parts(&self, files: &[Offered]) -> Result<(), Error> {
        let given: HashSet<String> = files
            .iter()
            .map(|file| Key::of(&file.path).part())
            .collect();
        let goes = |part: &str| !self.keep || given.contains(part);
        let mut records = Records::read(&self.state, "journal").unwrap_or_default();
        records.retain(|key| !goes(&key.part()) || !self.state.has(&key.part()));
        // A damaged journal may be impossible to replace.
        self.remove("journal")?;
        self.remove("offer")?;
        let names = names_file(files);
        if self.load::<Names>(&names).is_err() {
            self.remove(&names)?;
        }
        self.replace("journal", &records.encode())?;
        let names = self.state_names()?;
        let mut parts = names.iter();
        parts.try_for_each(|name| {
            if name.ends_with(".part") && goes(name) {
                self.remove(name)?;
            }
            Ok(())
        })
    }

    fn load<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, Error> {
        let path = self.state_file(file);
        let mut content = Vec::new();
        let opened = self.state.read(file);
        let read = opened.and_then(|mut file| file.read_to_end(&mut content));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // A directory or a link in its place, or a disk that cannot read it.
            Err(_) => return Err(Error::Damaged(path)),
            Ok(_) => {}
        }
        let value = content.strip_prefix(HEADER).and_then(|rest| {
            let (checksum, body) = rest.split_first_chunk()?;
            let is_whole = crc32fast::hash(body).to_le_bytes() == *checksum;
            is_whole.then(|| wire::decode(body).ok())?
        });
        value.map(Some).ok_or(Error::Damaged(path))
    }

    fn save(&self, file: &str, value: &impl Serialize) -> Result<(), Error> {
        let body = postcard::to_stdvec(value).map_err(|error| Error::System(error.to_string()))?;
        let checksum = crc32fast::hash(&body).to_le_bytes();
        self.replace(file, &[HEADER, &checksum, &body].concat())
    }

    /// Replaces a file in the state folder, wholly or not at all.
    fn replace(&self, file: &str, content: &[u8]) -> Result<(), Error> {
        let (state, new) = (&self.state, "replacement.new");
        let replaced = || {
            state.remove(new)?;
            let mut to = state.create(new, Mode::RUSR | Mode::WUSR)?;
            to.write_all(content)?;
            to.sync_all()?;
            state.rename(new, file)?;
            state.sync()
        };
        replaced().map_err(at(&self.state_file(file)))
    }

    fn remove(&self, file: &str) -> Result<(), Error> {
        let removed = self.state.remove(file);
        removed.map_err(at(&self.state_file(file)))
    }

    fn state_names(&self) -> Result<Vec<String>, Error> {
        self.state.names().map_err(at(self.state.path()))
    }
}

/// The name of the file or directory with which the file system is tested.
const PROBE: &str = "probe";

/// The file with the names of this list of files: a receiver with `keep` may have several unfinished ones.
fn names_file(files: &[Offered]) -> String {
    let paths = files.iter().map(|file| file.path.as_str());
    Key::of_all(paths).text() + ".names"
}

/// True for a file of an unfinished transfer, including those of earlier versions.
fn is_state(name: &str) -> bool {
    let endings = [".part", ".journal", ".names", ".new"];
    ["offer", "journal", PROBE].contains(&name)
        || endings.iter().any(|ending| name.ends_with(ending))
}

/// Opens the state folder in `out`, and its lock. A receiver that ends may remove both, so their existence is checked
/// afterwards.
fn lock(out: &Directory) -> Result<(Directory, File), Error> {
    let path = out.path().join(STATE_FOLDER);
    loop {
        match out.make(STATE_FOLDER, Mode::RWXU) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(at(&path)(error)),
            _ => {}
        }
        let state = match out.enter(STATE_FOLDER) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entered => entered.map_err(at(&path))?,
        };
        keep_private(&state)?;
        let file = match state.write("lock", false) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.map_err(at(&path.join("lock")))?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(out.path().to_owned())),
            // A file system without locks is used without them.
            Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
                return Err(at(&path.join("lock"))(error));
            }
            _ => {}
        }
        if is_in(&state, out, STATE_FOLDER) && is_in(&file, &state, "lock") {
            return Ok((state, file));
        }
    }
}

/// Makes the state folder private. Another user must not be able to read it, nor have created it: it holds the
/// identity and the parts.
fn keep_private(state: &Directory) -> Result<(), Error> {
    let there = fstat(state).map_err(|error| at(state.path())(error.into()))?;
    if there.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Error::Foreign(state.path().to_owned()));
    }
    if Mode::from_raw_mode(there.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        // Best effort: some file systems (FAT) have one mode for everything.
        let _ = fchmod(state, Mode::RWXU);
    }
    Ok(())
}

/// True if `file` is the entry `name` of `directory`.
fn is_in(file: &impl std::os::fd::AsFd, directory: &Directory, name: &str) -> bool {
    match (directory::identity(file), directory.entry(name)) {
        (Ok(file), Ok(Some(entry))) => file == entry.identity,
        _ => false,
    }
}

/// Adds `path` to an error.
fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::State {
        path: path.clone(),
        source,
    }
}

/// Shortens `text` to the limit of a message.
fn shorten(text: &str) -> String {
    text.chars().take(MAX_TEXT / 4).collect()
}
