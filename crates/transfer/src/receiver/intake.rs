//! The files of a transfer on their way in.
//!
//! Each is written to a part in the state folder, and recorded in the journal. When it is whole, its content is made to
//! last and it gets its name. Whole files wait for each other for a second, because making many files last together
//! takes little longer than one.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folders::Folders;
use super::journal::{Journal, Key, Record, Records, WHOLE};
use super::part::{self, Blocks, Part};
use super::store::{Fault, Store};
use crate::disk;
use crate::event::{Status, Transferred};
use crate::hashes::Hashes;
use crate::limits::MAX_PARTS;
use crate::message::{Held, Offer, Offered, Progress, State};
use crate::name;
use crate::plan::{self, HASH, Plan, Step};
use crate::ranges::Ranges;
use crate::refusal::Refusal;
use crate::tree;
use crate::tree::Hash;

/// How long a whole file may wait for others before it gets its name.
const GATHER: Duration = Duration::from_secs(1);

/// Up to so many files are made to last one by one, more with one call for the whole file system.
const FEW: usize = 16;

/// The files of a transfer on their way in.
pub struct Intake {
    store: Arc<Store>,
    files: Arc<[Offered]>,
    held: Arc<[Held]>,
    folders: Folders,
    journal: Journal,
    /// The verified blocks of those large files of which a part was there.
    parts: HashMap<u32, Blocks>,
    /// The large file that is being written.
    large: Option<(u32, Part)>,
    /// The files that are whole and wait for their names, and since when.
    whole: Vec<u32>,
    waiting: Option<Instant>,
    hashes: Hashes,
    progress: Progress,
}

impl Intake {
    /// Takes an offer: finds what is verified of its files by reading and hashing it, or says why they cannot be received.
    pub fn begin(store: &Arc<Store>, offer: Offer) -> Result<Intake, Refusal> {
        Intake::of(store, offer).map_err(|fault| store.refused(fault))
    }

    fn of(store: &Arc<Store>, offer: Offer) -> Result<Intake, Fault> {
        let files: Arc<[Offered]> = offer.files.into();
        store.adopt(&files, offer.restart)?;
        let damaged = |_| store.damaged("journal");
        let records = Records::read(&store.state_file("journal")).map_err(damaged)?;
        let mut intake = Intake {
            folders: Folders::new(store.out()),
            journal: Journal::open(&store.state_file("journal")).map_err(damaged)?,
            hashes: Hashes::new(files.len()),
            store: store.clone(),
            held: Arc::new([]),
            files,
            parts: HashMap::new(),
            large: None,
            whole: Vec::new(),
            waiting: None,
            progress: Progress::default(),
        };
        intake.held = intake.find(&records)?.into();
        intake.check_destinations()?;
        let files = intake.files.iter();
        let needed = files.map(|file| file.size - file.holes.bytes(file.size));
        let needed = needed.fold(0, u64::saturating_add);
        store.check_room(needed.saturating_sub(intake.progress.bytes))?;
        Ok(intake)
    }

    /// What is there of each file.
    fn find(&mut self, records: &Records) -> Result<Vec<Held>, Fault> {
        let mut held = Vec::new();
        if records.is_empty() {
            return Ok(held);
        }
        for (file, offered) in (0..).zip(self.files.clone().iter()) {
            let key = Key::of(&offered.path);
            let records = records.of(key);
            if offered.is_directory() || records.is_empty() {
                continue;
            }
            let state = match disk::read_plain(&self.part(offered)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.complete(file, offered, records)
                }
                Err(_) => return Err(self.store.damaged(&key.part()).into()),
                // A small one just comes again.
                Ok(_) if offered.is_small() || self.parts.len() == MAX_PARTS => None,
                Ok(mut part) => {
                    let verified = part::verified(&mut part, offered, records)?;
                    self.resume(file, offered, verified)
                }
            };
            held.extend(state.map(|state| Held { file, state }));
        }
        Ok(held)
    }

    /// Whether a file has got its name in this transfer.
    fn complete(&mut self, file: u32, offered: &Offered, records: &[Record]) -> Option<State> {
        let hash = records.iter().rfind(|record| record.index == WHOLE)?.hash;
        let there = self.folders.read(&offered.path).ok()?;
        let metadata = there.metadata().ok()?;
        if !metadata.is_file() || metadata.len() != offered.size {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(there).ok()?;
        if *hasher.finalize().as_bytes() != hash {
            return None;
        }
        self.progress.bytes += offered.size;
        self.progress.files += 1;
        self.hashes.set(file, hash);
        Some(State::Complete { hash })
    }

    /// Takes over the verified blocks of a part. Drops the few that do not fit into a message.
    fn resume(&mut self, file: u32, offered: &Offered, mut verified: Blocks) -> Option<State> {
        let blocks = Ranges::of(verified.keys().copied());
        verified.retain(|index, _| blocks.contains(*index));
        if verified.is_empty() {
            return None;
        }
        let mut digest = blake3::Hasher::new();
        for hash in verified.values() {
            digest.update(hash);
        }
        self.progress.bytes += blocks.bytes(offered.size);
        self.parts.insert(file, verified);
        let digest = *digest.finalize().as_bytes();
        Some(State::Part { blocks, digest })
    }

    /// Whether the files that are to come may get their names.
    fn check_destinations(&self) -> Result<(), Fault> {
        // Below what is missing nothing is in the way.
        let mut there: HashMap<&str, bool> = HashMap::new();
        for (place, file) in self.files.iter().enumerate() {
            let mut reachable = true;
            for parent in name::parents(&file.path) {
                reachable = match there.get(parent) {
                    Some(known) => *known,
                    None => self.is_directory(parent)?,
                };
                there.insert(parent, reachable);
                if !reachable {
                    break;
                }
            }
            let state = plan::state(&self.held, place);
            if !reachable || matches!(state, Some(State::Complete { .. })) {
                continue;
            }
            if file.is_directory() {
                self.is_directory(&file.path)?;
            } else {
                self.store.check_destination(&file.path)?;
            }
        }
        Ok(())
    }

    /// Whether there is a directory at `path`; anything else there is in the way.
    fn is_directory(&self, path: &str) -> Result<bool, Fault> {
        match fs::symlink_metadata(self.store.destination(path)) {
            Ok(there) if there.is_dir() => Ok(true),
            Ok(_) => Err(Refusal::NotADirectory {
                name: path.to_owned(),
            }
            .into()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What the sender is told.
    pub fn held(&self) -> Arc<[Held]> {
        self.held.clone()
    }

    /// What comes now.
    pub fn plan(&self) -> Plan {
        Plan::new(self.files.clone(), self.held.clone())
    }

    /// What both sides know now.
    pub fn status(&self) -> Status {
        Status::of(&self.files, &self.progress)
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Takes what a step of the plan has brought.
    pub fn take(&mut self, step: &Step, bytes: &[u8]) -> Result<(), Refusal> {
        let files = self.files.clone();
        let file = |file: u32| (file, &files[file as usize]);
        let taken = match step {
            Step::Batch(places) => self.take_batch(places.iter().map(|place| file(*place)), bytes),
            Step::Block { file: of, index } => self.take_block(file(*of), *index, bytes),
            Step::Root { file: of } => self.take_root(file(*of), bytes),
        };
        taken.map_err(|fault| self.store.refused(fault))?;
        match self.waiting {
            Some(since) if since.elapsed() >= GATHER => self.publish(),
            _ => Ok(()),
        }
    }

    fn take_batch<'a>(
        &mut self,
        batch: impl Iterator<Item = (u32, &'a Offered)> + Clone,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let mut records = Vec::new();
        let files = batch.clone().filter(|(_, file)| !file.is_directory());
        let hashes = files.count() * HASH;
        let (mut hashes, mut contents) = bytes.split_at_checked(hashes).unwrap_or_default();
        for (file, offered) in batch {
            if offered.is_directory() {
                let made = self.folders.make(&offered.path);
                made.map_err(|error| in_the_way(offered, error))?;
                self.progress.files += 1;
                continue;
            }
            let corrupt = || offered.corrupt();
            let (hash, later) = hashes.split_first_chunk::<HASH>().ok_or_else(corrupt)?;
            let content = contents.split_at_checked(offered.size as usize);
            let (content, rest) = content.ok_or_else(corrupt)?;
            (hashes, contents) = (later, rest);
            if blake3::hash(content) != *hash {
                return Err(corrupt().into());
            }
            let mut part = disk::open_plain(&self.part(offered), offered.is_executable())?;
            disk::empty(&part)?;
            self.store.disk().write(&mut part, content)?;
            records.push(Record::of(offered, WHOLE, *hash));
            self.set_whole(file, *hash);
            self.progress.bytes += offered.size;
        }
        Ok(self.journal.append(&records)?)
    }

    fn take_block(
        &mut self,
        (file, offered): (u32, &Offered),
        index: u64,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let block = bytes.split_first_chunk::<HASH>();
        let (hash, data) = block.ok_or_else(|| offered.corrupt())?;
        if tree::block_hash(offered.size, index, data) != *hash {
            return Err(offered.corrupt().into());
        }
        let mut part = self.large(file, offered)?;
        part.write(self.store.disk(), offered, index, data, *hash)?;
        self.large = Some((file, part));
        self.progress.bytes += data.len() as u64;
        Ok(self.journal.append(&[Record::of(offered, index, *hash)])?)
    }

    /// The large file `file`, open.
    fn large(&mut self, file: u32, offered: &Offered) -> io::Result<Part> {
        match self.large.take() {
            Some((open, part)) if open == file => Ok(part),
            _ => {
                let verified = self.parts.remove(&file).unwrap_or_default();
                Part::open(&self.part(offered), offered, verified)
            }
        }
    }

    fn take_root(
        &mut self,
        (file, offered): (u32, &Offered),
        expected: &[u8],
    ) -> Result<(), Fault> {
        let part = self.large(file, offered)?;
        let root = part.root(offered).filter(|root| root == expected);
        let hash = root.ok_or_else(|| offered.corrupt())?;
        part.finish(offered)?;
        self.progress.bytes += offered.holes.bytes(offered.size);
        self.journal.append(&[Record::of(offered, WHOLE, hash)])?;
        self.set_whole(file, hash);
        Ok(())
    }

    fn set_whole(&mut self, file: u32, hash: Hash) {
        self.hashes.set(file, hash);
        self.whole.push(file);
        self.waiting.get_or_insert_with(Instant::now);
    }

    /// Gives the files that are whole their names; the last of them when all names last through a power failure.
    pub fn publish(&mut self) -> Result<(), Refusal> {
        let published = self.settle_and_name();
        published.map_err(|fault| self.store.refused(fault))
    }

    fn settle_and_name(&mut self) -> Result<(), Fault> {
        let files = self.files.clone();
        let whole = std::mem::take(&mut self.whole);
        let whole: Vec<&Offered> = whole.iter().map(|file| &files[*file as usize]).collect();
        self.waiting = None;
        self.settle(&whole)?;
        for offered in &whole {
            let (part, overwrite) = (self.part(offered), self.store.overwrites());
            let named = self.folders.publish(&part, &offered.path, overwrite);
            named.map_err(|error| in_the_way(offered, error))?;
        }
        let complete = self.progress.files + whole.len() as u64;
        if complete == self.files.len() as u64 {
            self.folders.sync()?;
        }
        self.progress.files = complete;
        Ok(())
    }

    /// Makes the contents of `whole` last through a power failure.
    fn settle(&self, whole: &[&Offered]) -> io::Result<()> {
        if whole.is_empty() || (whole.len() > FEW && disk::sync_file_system(self.store.out())?) {
            return Ok(());
        }
        for offered in whole {
            disk::read_plain(&self.part(offered))?.sync_all()?;
        }
        self.journal.sync()
    }

    /// What was transferred, if all has got its name.
    pub fn received(&self) -> Vec<Transferred> {
        let path = |place: usize| self.store.destination(&self.files[place].path);
        self.hashes.transferred(&self.files, &self.held, path)
    }

    fn part(&self, offered: &Offered) -> PathBuf {
        self.store.state_file(&Key::of(&offered.path).part())
    }
}

/// Why a name could not appear.
fn in_the_way(offered: &Offered, error: io::Error) -> Fault {
    let name = offered.path.clone();
    match error.kind() {
        ErrorKind::AlreadyExists => Refusal::Exists { name }.into(),
        ErrorKind::IsADirectory => Refusal::IsDirectory { name }.into(),
        ErrorKind::NotADirectory => Refusal::NotADirectory { name }.into(),
        _ => error.into(),
    }
}
