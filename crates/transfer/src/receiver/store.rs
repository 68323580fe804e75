//! What the receiver keeps on disk of an unfinished transfer, so that it survives a crash of either side.
//!
//! In the output directory's state folder:
//!
//! - `lock`: held while a receiver runs, so that there is one;
//! - `identity`: certificate, key, secret and port, so that the ticket stays valid. Readable by the owner only;
//! - `offer`: the files that the ticket is being used for;
//! - `journal`: what was verified of them ([`super::journal`]);
//! - `….part`: the content of each of them that has not got its name yet.
//!
//! Without an `identity` the rest is worthless and is removed. When all files have their names, the folder goes.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::config::ReceiverConfig;
use super::journal::{Key, Records};
use super::offer;
use crate::disk::{self, Disk};
use crate::error::Error;
use crate::limits::MAX_TEXT;
use crate::message::Offered;
use crate::name::STATE_FOLDER;
use crate::refusal::Refusal;
use crate::wire;

/// What the files in the state folder start with, so that another version does not misread them. A CRC-32 follows.
const HEADER: &[u8] = b"fullpipe-state-2\n";

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

/// Why something could not be received: because of what it is, or because of the file system.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Because of what it is.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Because of the file system.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

/// The output directory and its state folder, locked.
pub struct Store {
    out: PathBuf,
    state: PathBuf,
    overwrite: bool,
    /// Whether the ticket is good for many transfers.
    keep: bool,
    disk: Box<dyn Disk>,
    _lock: File,
}

impl Store {
    /// Opens the output directory of `config`, made if it is missing.
    pub fn open(config: &ReceiverConfig, disk: Box<dyn Disk>) -> Result<Store, Error> {
        let out = config.out.as_path();
        fs::create_dir_all(out).map_err(at(out))?;
        let out = out.canonicalize().map_err(at(out))?;
        let state = out.join(STATE_FOLDER);
        let lock = lock(&out, &state)?;
        let store = Store {
            out,
            state,
            overwrite: config.overwrite,
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

    /// Keeps the identity until [`Store::clear`].
    pub fn save_identity(&self, identity: &SavedIdentity) -> Result<(), Error> {
        self.save("identity", identity)
    }

    /// Takes over an offer: as the ticket's transfer, or as the continuation of that. With `restart` an unfinished one is
    /// forgotten, but not which files have got their names.
    pub fn adopt(&self, files: &[Offered], restart: bool) -> Result<(), Refusal> {
        offer::check(files)?;
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

    /// Whether `needed` bytes fit on the disk.
    pub fn check_room(&self, needed: u64) -> Result<(), Refusal> {
        match self.disk.free(&self.out) {
            Some(free) if needed > free => {
                let disk = self.place();
                Err(Refusal::NoSpace { disk, needed, free })
            }
            _ => Ok(()),
        }
    }

    /// Forgets a transfer that is complete; others, unfinished ones, stay.
    pub fn finished(&self) -> Result<(), Error> {
        remove(&self.state_file("offer"))?;
        let journal = self.state_file("journal");
        let mut records = Records::read(&journal).map_err(at(&journal))?;
        records.retain(|key| self.state_file(&key.part()).exists());
        self.replace("journal", &records.encode())
    }

    /// Removes an unfinished transfer, its identity included. Looks at nothing that it removes: it may be damaged.
    pub fn forget(&self) -> Result<(), Error> {
        // The identity goes first: what is left after a crash right here is removed by the next receiver.
        remove(&self.state_file("identity"))?;
        for entry in fs::read_dir(&self.state).map_err(at(&self.state))? {
            let path = entry.map_err(at(&self.state))?.path();
            if is_state(&path) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes everything but the received files: the ticket is spent.
    pub fn clear(&self) -> Result<(), Error> {
        self.forget()?;
        remove(&self.state_file("lock"))?;
        // Not empty if somebody has put something there, and then it stays.
        let _ = fs::remove_dir(&self.state);
        Ok(())
    }

    /// The output directory.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Whether files in it may be replaced.
    pub fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// Whether the ticket is good for many transfers.
    pub fn keeps(&self) -> bool {
        self.keep
    }

    /// Where the file `path` will appear.
    pub fn destination(&self, path: &str) -> PathBuf {
        self.out.join(path)
    }

    /// The path of a file in the state folder.
    pub fn state_file(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    /// Where content is written.
    pub fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// What the sender is told of a fault.
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

    /// What the sender is told of a file in the state folder that cannot be used.
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
        shorten(&self.out.to_string_lossy())
    }

    /// Whether a file may appear at `path`.
    pub fn check_destination(&self, path: &str) -> Result<(), Fault> {
        let name = path.to_owned();
        match fs::symlink_metadata(self.destination(&name)) {
            Ok(there) if there.is_dir() => Err(Refusal::IsDirectory { name }.into()),
            Ok(_) if !self.overwrite => Err(Refusal::Exists { name }.into()),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Removes the offer and the parts: all, or for a receiver that is kept those of `files`. The journal keeps the
    /// files that have got their names.
    fn forget_parts(&self, files: &[Offered]) -> Result<(), Error> {
        let journal = self.state_file("journal");
        let given: HashSet<String> = files
            .iter()
            .map(|file| Key::of(&file.path).part())
            .collect();
        let goes = |part: &str| !self.keep || given.contains(part);
        let mut records = Records::read(&journal).unwrap_or_default();
        records.retain(|key| !goes(&key.part()) || !self.state_file(&key.part()).exists());
        // It may be damaged beyond being replaced.
        remove(&journal)?;
        remove(&self.state_file("offer"))?;
        self.replace("journal", &records.encode())?;
        for entry in fs::read_dir(&self.state).map_err(at(&self.state))? {
            let path = entry.map_err(at(&self.state))?.path();
            let name = name_of(&path);
            if name.ends_with(".part") && goes(name) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    fn load<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, Error> {
        let path = self.state_file(file);
        let mut content = Vec::new();
        let read = disk::read_plain(&path).and_then(|mut file| file.read_to_end(&mut content));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // A directory or a link in its place, or a disk that does not give it back.
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

    /// Replaces a file in the state folder: all of it, or nothing.
    fn replace(&self, file: &str, content: &[u8]) -> Result<(), Error> {
        let path = self.state_file(file);
        let new = path.with_extension("new");
        remove(&new)?;
        private_file(&new)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| disk::sync_directory(&self.state))
            .map_err(at(&path))
    }
}

/// The name of a file in the state folder; that of a foreign one may be no text.
fn name_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Whether a file in the state folder belongs to an unfinished transfer, one of an earlier version included.
fn is_state(path: &Path) -> bool {
    let name = name_of(path);
    let endings = [".part", ".journal", ".new"];
    ["offer", "journal"].contains(&name) || endings.iter().any(|ending| name.ends_with(ending))
}

/// The state folder's lock. Its file may be removed by a receiver that ends, so it must still be there afterwards.
fn lock(out: &Path, state: &Path) -> Result<File, Error> {
    let path = state.join("lock");
    loop {
        match private_directory(state) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(at(state)(error)),
            _ => {}
        }
        let there = fs::symlink_metadata(state).map_err(at(state))?;
        if !there.is_dir() {
            return Err(at(state)(ErrorKind::NotADirectory.into()));
        }
        keep_private(state, &there)?;
        let file = match disk::open_plain(&path, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.map_err(at(&path))?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(out.to_owned())),
            // A file system without locks is used without.
            Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
                return Err(at(&path)(error));
            }
            _ => {}
        }
        if is_at(&file, &path) {
            return Ok(file);
        }
    }
}

/// Nobody else may look into the state folder `state`, nor have made it: that would be their identity and their parts.
fn keep_private(state: &Path, there: &fs::Metadata) -> Result<(), Error> {
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Foreign(state.to_owned()));
    }
    if there.mode() & 0o077 != 0 {
        // Best effort: some file systems (FAT) have one mode for everything.
        let _ = fs::set_permissions(state, fs::Permissions::from_mode(0o700));
    }
    Ok(())
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

fn remove(path: &Path) -> Result<(), Error> {
    disk::remove(path).map_err(at(path))
}

/// Names `path` in an error.
fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::State {
        path: path.clone(),
        source,
    }
}

/// `text` as long as a message may carry it.
fn shorten(text: &str) -> String {
    text.chars().take(MAX_TEXT / 4).collect()
}
