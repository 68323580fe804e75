//! What the receiver keeps on disk of an unfinished transfer, so that it survives a crash of either side.
//!
//! In the output directory's state folder:
//!
//! - `lock`: held while a receiver runs, so that there is one;
//! - `identity`: certificate, key, secret and port, so that the ticket stays valid. Readable by the owner only;
//! - `offer`: the files that the ticket is being used for;
//! - `….part` and `….journal` for each of them ([`super::part`]).
//!
//! Without an `identity` the rest is worthless and is removed. When all files have their names, the folder goes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use super::error::{Error, Refusal};
use super::name::{self, STATE_FOLDER};
use super::part::Part;
use super::wire::{self, MAX_FILES, MAX_TEXT, Offer, Offered};

/// How many names of an unfinished transfer an error lists.
const NAMES_SHOWN: usize = 8;

/// The files in the state folder start with this, so that another version does not misread them.
const HEADER: &[u8] = b"fullpipe-state-1\n";

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

/// The output directory and its state folder, locked.
pub struct Store {
    out: PathBuf,
    state: PathBuf,
    overwrite: bool,
    disk: Box<dyn Disk>,
    _lock: File,
}

impl Store {
    /// Opens the output directory `out`, made if it is missing. With `overwrite`, files in it may be replaced.
    pub fn open(out: &Path, overwrite: bool, disk: Box<dyn Disk>) -> Result<Store, Error> {
        fs::create_dir_all(out).map_err(at(out))?;
        let out = out.canonicalize().map_err(at(out))?;
        let state = out.join(STATE_FOLDER);
        let lock = lock(&out, &state)?;
        let store = Store {
            out,
            state,
            overwrite,
            disk,
            _lock: lock,
        };
        if store.identity()?.is_none() {
            store.forget_files(false)?;
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

    /// Answers an offer: the files' parts with what is verified of each, or why not. Reads and hashes what is there.
    pub fn begin(self: &Arc<Store>, offer: &Offer) -> Result<Vec<Part>, Refusal> {
        check(&offer.files)?;
        let adopted: Option<Vec<Offered>> = self.load("offer").map_err(|e| self.failed(e))?;
        if offer.restart {
            self.forget_files(true).map_err(|e| self.failed(e))?;
        } else if let Some(adopted) = &adopted {
            compare(adopted, &offer.files)?;
        }
        let resume = |file: &Offered| Part::resume(self, file);
        let parts: Vec<Part> = offer.files.iter().map(resume).collect::<Result<_, _>>()?;
        for part in parts.iter().filter(|part| !part.is_published()) {
            self.check_destination(part.name())?;
        }
        let missing = |part: &Part| part.size() - part.verified_bytes();
        let needed = parts.iter().map(missing).fold(0, u64::saturating_add);
        match self.disk.free(&self.out) {
            Some(free) if needed > free => {
                let disk = self.place();
                return Err(Refusal::NoSpace { disk, needed, free });
            }
            _ => {}
        }
        if adopted.as_ref() != Some(&offer.files) {
            self.save("offer", &offer.files)
                .map_err(|e| self.failed(e))?;
        }
        Ok(parts)
    }

    /// Removes an unfinished transfer, its identity included.
    pub fn forget(&self) -> Result<(), Error> {
        // The identity goes first: what is left after a crash right here is removed by the next receiver.
        remove(&self.state.join("identity"))?;
        self.forget_files(false)
    }

    /// Removes everything but the received files: the ticket is spent.
    pub fn clear(&self) -> Result<(), Error> {
        self.forget()?;
        remove(&self.state.join("lock"))?;
        // Not empty if somebody has put something there, and then it stays.
        let _ = fs::remove_dir(&self.state);
        Ok(())
    }

    /// Where the file `name` will appear.
    pub fn destination(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// The path of a file in the state folder that belongs to the file `name`.
    pub fn state_of(&self, name: &str, extension: &str) -> PathBuf {
        // Not the name itself: with an extension it might become too long.
        let key = blake3::hash(name.as_bytes()).to_hex();
        let key = key.get(..32).unwrap_or_default();
        self.state.join(format!("{key}.{extension}"))
    }

    /// Where content is written.
    pub fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// Gives the finished `part` the name `name`.
    pub fn publish(&self, part: &Path, name: &str) -> Result<(), Refusal> {
        self.check_destination(name)?;
        let to = self.destination(name);
        let renamed = if self.overwrite {
            fs::rename(part, &to)
        } else {
            disk::rename_new(part, &to)
        };
        match renamed.and_then(|()| disk::sync_directory(&self.out)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Refusal::Exists {
                name: name.to_owned(),
            }),
            answer => answer.map_err(|error| self.refusal(&error)),
        }
    }

    /// What the sender is told of an error of the file system.
    pub fn refusal(&self, error: &io::Error) -> Refusal {
        let disk = self.place();
        if disk::is_full(error) {
            return Refusal::DiskFull { disk };
        }
        let message = error.to_string();
        Refusal::Disk { disk, message }
    }

    fn failed(&self, error: Error) -> Refusal {
        match error {
            Error::State { source, .. } => self.refusal(&source),
            other => Refusal::Disk {
                disk: self.place(),
                message: shorten(&other.to_string()),
            },
        }
    }

    fn place(&self) -> String {
        shorten(&self.out.to_string_lossy())
    }

    fn check_destination(&self, name: &str) -> Result<(), Refusal> {
        let name = name.to_owned();
        match fs::symlink_metadata(self.destination(&name)) {
            Ok(there) if there.is_dir() => Err(Refusal::IsDirectory { name }),
            Ok(_) if !self.overwrite => Err(Refusal::Exists { name }),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.refusal(&error)),
            _ => Ok(()),
        }
    }

    /// Removes the offer and the parts. With `but_published`, remembers which files have got their
    /// names: a journal without a part says so.
    fn forget_files(&self, but_published: bool) -> Result<(), Error> {
        remove(&self.state.join("offer"))?;
        let mut unfinished = Vec::new();
        for entry in fs::read_dir(&self.state).map_err(at(&self.state))? {
            let path = entry.map_err(at(&self.state))?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            let forget = match extension {
                Some("part" | "new") => true,
                Some("journal") => !but_published || path.with_extension("part").exists(),
                _ => false,
            };
            if forget {
                unfinished.push(path);
            }
        }
        unfinished.iter().try_for_each(|path| remove(path))
    }

    fn load<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, Error> {
        let path = self.state.join(file);
        let content = match fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(at(&path)(error)),
        };
        let body = content.strip_prefix(HEADER);
        let value = body.and_then(|body| wire::decode(body).ok());
        value.map(Some).ok_or(Error::Damaged(path))
    }

    fn save(&self, file: &str, value: &impl Serialize) -> Result<(), Error> {
        let path = self.state.join(file);
        let mut content = HEADER.to_vec();
        let body = postcard::to_stdvec(value).map_err(|error| Error::System(error.to_string()))?;
        content.extend(body);
        let new = path.with_extension("new");
        remove(&new)?;
        private_file(&new)
            .and_then(|mut file| file.write_all(&content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| disk::sync_directory(&self.state))
            .map_err(at(&path))
    }
}

/// Whether these files may be received at all.
fn check(files: &[Offered]) -> Result<(), Refusal> {
    if files.is_empty() || files.len() > MAX_FILES {
        let files = files.len() as u64;
        return Err(Refusal::Count { files });
    }
    let mut names = std::collections::HashSet::new();
    for Offered { name, .. } in files {
        let shown = || name.chars().take(100).collect();
        name::check(name).map_err(|problem| Refusal::Name {
            name: shown(),
            problem,
        })?;
        if !names.insert(name) {
            return Err(Refusal::SameName { name: name.clone() });
        }
    }
    Ok(())
}

/// Whether the files now `offered` are those of the unfinished transfer.
fn compare(adopted: &[Offered], offered: &[Offered]) -> Result<(), Refusal> {
    let names =
        |files: &[Offered]| -> Vec<String> { files.iter().map(|file| file.name.clone()).collect() };
    if names(adopted) != names(offered) {
        let mut names = names(adopted);
        names.truncate(NAMES_SHOWN);
        return Err(Refusal::OtherTransfer { names });
    }
    match offered.iter().find(|file| !adopted.contains(file)) {
        Some(file) => Err(Refusal::SourceChanged {
            name: file.name.clone(),
        }),
        None => Ok(()),
    }
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
        #[cfg(unix)]
        keep_private(state, &there)?;
        let file = match disk::open_plain(&path) {
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
#[cfg(unix)]
fn keep_private(state: &Path, there: &fs::Metadata) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Foreign(state.to_owned()));
    }
    if there.mode() & 0o077 != 0 {
        // Best effort: some file systems (FAT) have one mode for everything.
        let _ = fs::set_permissions(state, fs::Permissions::from_mode(0o700));
    }
    Ok(())
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
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

/// Fills `buffer` from `file`; `false` if the file ends before.
pub fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        answer => answer.map(|()| true),
    }
}
