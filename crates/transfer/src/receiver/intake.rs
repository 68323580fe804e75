//! The files of a transfer while they arrive.
//!
//! Each is written to a part in the state folder, and recorded in the journal. When it is complete, it is synced and
//! gets its name. Complete files wait up to a second for others, because syncing many files together takes little
//! longer than one.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::destinations::Destinations;
use super::journal::{Journal, Key, Record, Records, WHOLE_FILE};
use super::names::Names;
use super::offer;
use super::part::{self, Blocks, Part};
use super::store::{Fault, Store};
use crate::directory;
use crate::disk;
use crate::event::{Status, Transferred};
use crate::hashes::Hashes;
use crate::limits::MAX_PARTS;
use crate::message::{Held, Offer, Offered, Progress, State};
use crate::plan::{self, HASH_LEN, Plan, Step};
use crate::ranges::Ranges;
use crate::refusal::Refusal;
use crate::seal;
use crate::stop::Stop;
use crate::tree::{self, Hash};

/// The longest time for which a complete file waits for others before it gets its name.
const MAX_GATHER_TIME: Duration = Duration::from_secs(1);

/// The most files that are synced one by one; more are synced by one call for the whole file system.
const MAX_SINGLE_SYNCS: usize = 16;

/// The files of a transfer while they arrive.
pub struct Intake {
    store: Arc<Store>,
    files: Arc<[Offered]>,
    held: Arc<[Held]>,
    places: Destinations,
    journal: Journal,
    /// The verified blocks of the large files that were partly present.
    parts: HashMap<u32, Blocks>,
    /// The large file that is being written.
    large: Option<(u32, Part)>,
    /// The complete files that wait for their names, and the start of the wait.
    whole: Vec<u32>,
    waiting: Option<Instant>,
    hashes: Hashes,
    progress: Progress,
}

impl Intake {
    /// Accepts an offer, and finds the verified content of its files by reading and hashing it, or returns the reason
    /// for a refusal. With `stop` set it ends early, with any result.
    pub fn begin(store: &Arc<Store>, offer: Offer, stop: &Stop) -> Result<Intake, Refusal> {
        Intake::of(store, offer, stop).map_err(|fault| store.refused(fault))
    }

    fn of(store: &Arc<Store>, offer: Offer, stop: &Stop) -> Result<Intake, Fault> {
        let (files, restart): (Arc<[Offered]>, bool) = (offer.files.into(), offer.restart);
        // An impossible offer does not become the ticket's transfer.
        offer::check(&files)?;
        store.check_sizes(&files)?;
        let names = match store.names(&files) {
            Err(_) if restart => Names::default(),
            names => names?,
        };
        let places = Destinations::of(store, &files, names, stop)?;
        store.adopt(&files, restart)?;
        let damaged = |_| store.damaged("journal");
        let records = Records::read(store.state(), "journal").map_err(damaged)?;
        let mut intake = Intake {
            places,
            journal: Journal::open(store.state(), "journal").map_err(damaged)?,
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
        intake.held = intake.find(&records, stop)?.into();
        let is_complete = |place| {
            let state = plan::state(&intake.held, place);
            matches!(state, Some(State::Complete { .. }))
        };
        intake.places.check(is_complete, stop)?;
        intake.places.save()?;
        let needed = intake.files.iter().map(Offered::data);
        let needed = needed.fold(0, u64::saturating_add);
        store.check_room(needed.saturating_sub(intake.progress.bytes))?;
        Ok(intake)
    }

    /// The state of each file.
    fn find(&mut self, records: &Records, stop: &Stop) -> Result<Vec<Held>, Fault> {
        let mut held = Vec::new();
        if records.is_empty() {
            return Ok(held);
        }
        for (file, offered) in (0..).zip(self.files.clone().iter()) {
            stop.check()?;
            let key = Key::of(&offered.path);
            let records = records.of(key);
            if offered.is_directory() || records.is_empty() {
                continue;
            }
            let state = match self.store.state().read(&key.part()) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.complete(file, offered, records, stop)
                }
                Err(_) => return Err(self.store.damaged(&key.part()).into()),
                // A small file is simply sent again.
                Ok(_) if offered.is_small() || self.parts.len() == MAX_PARTS => None,
                Ok(part) => {
                    let verified = part::verified(&part, offered, records, stop)?;
                    self.resume(file, offered, verified)
                }
            };
            held.extend(state.map(|state| Held { file, state }));
        }
        Ok(held)
    }

    /// True if a file has got its name in this transfer.
    fn complete(
        &mut self,
        file: u32,
        offered: &Offered,
        records: &[Record],
        stop: &Stop,
    ) -> Option<State> {
        let hash = records
            .iter()
            .rfind(|record| record.index == WHOLE_FILE)?
            .hash;
        let there = self.places.read(&offered.path).ok()?;
        let is_file = there.metadata().ok()?.is_file();
        if !is_file || seal::of_file(&there, offered, stop).ok()?? != hash {
            return None;
        }
        self.places.note(file, directory::identity(&there).ok()?);
        self.progress.bytes += offered.data();
        self.progress.files += 1;
        self.hashes.set(file, hash);
        Some(State::Complete { hash })
    }

    /// Adopts the verified blocks of a part. Drops the few that do not fit into a message.
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

    /// The state of the files, for the sender.
    pub fn held(&self) -> Arc<[Held]> {
        self.held.clone()
    }

    /// The entries that do not get the sender's path, with their new paths.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, String)> {
        self.places.renamed()
    }

    /// The plan of the remaining steps.
    pub fn plan(&self) -> Plan {
        Plan::new(self.files.clone(), self.held.clone())
    }

    /// The status at the start.
    pub fn status(&self) -> Status {
        Status::of(&self.files, &self.progress)
    }

    /// The progress.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Handles the content of a step of the plan.
    pub fn take(&mut self, step: &Step, bytes: &[u8]) -> Result<(), Refusal> {
        let files = self.files.clone();
        let file = |file: u32| (file, &files[file as usize]);
        let taken = match step {
            Step::Batch(places) => self.take_batch(places.iter().map(|place| file(*place)), bytes),
            Step::Block { file: of, index } => self.take_block(file(*of), *index, bytes),
            Step::Seal { file: of } => self.take_seal(file(*of), bytes),
        };
        taken.map_err(|fault| self.store.refused(fault))?;
        match self.waiting {
            Some(since) if since.elapsed() >= MAX_GATHER_TIME => self.publish(),
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
        let hashes = files.count() * HASH_LEN;
        let (mut hashes, mut contents) = bytes.split_at_checked(hashes).unwrap_or_default();
        for (file, offered) in batch {
            if offered.is_directory() {
                self.places.make(file)?;
                self.progress.files += 1;
                continue;
            }
            let corrupt = || offered.corrupt();
            let (hash, later) = hashes.split_first_chunk::<HASH_LEN>().ok_or_else(corrupt)?;
            let content = contents.split_at_checked(offered.size as usize);
            let (content, rest) = content.ok_or_else(corrupt)?;
            (hashes, contents) = (later, rest);
            if blake3::hash(content) != *hash {
                return Err(corrupt().into());
            }
            let part = Key::of(&offered.path).part();
            let part = self.store.state().write(&part, offered.is_executable())?;
            disk::empty(&part)?;
            let written = self.store.disk().write(&part, content, 0);
            written.map_err(|error| self.store.unwritten(offered, error))?;
            records.push(Record::of(offered, WHOLE_FILE, *hash));
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
        let block = bytes.split_first_chunk::<HASH_LEN>();
        let (hash, data) = block.ok_or_else(|| offered.corrupt())?;
        if tree::block_hash(offered.size, index, data) != *hash {
            return Err(offered.corrupt().into());
        }
        let mut part = self.large(file, offered)?;
        let written = part.write(self.store.disk(), offered, index, data, *hash);
        written.map_err(|error| self.store.unwritten(offered, error))?;
        self.large = Some((file, part));
        self.progress.bytes += data.len() as u64;
        Ok(self.journal.append(&[Record::of(offered, index, *hash)])?)
    }

    /// Opens the large file `file`.
    fn large(&mut self, file: u32, offered: &Offered) -> io::Result<Part> {
        match self.large.take() {
            Some((open, part)) if open == file => Ok(part),
            _ => {
                let verified = self.parts.remove(&file).unwrap_or_default();
                let part = Key::of(&offered.path).part();
                Part::open(self.store.state(), &part, offered, verified)
            }
        }
    }

    fn take_seal(
        &mut self,
        (file, offered): (u32, &Offered),
        expected: &[u8],
    ) -> Result<(), Fault> {
        let part = self.large(file, offered)?;
        let seal = part.seal(offered).filter(|seal| seal == expected);
        let hash = seal.ok_or_else(|| offered.corrupt())?;
        let finished = part.finish(offered);
        finished.map_err(|error| self.store.unwritten(offered, error))?;
        self.journal
            .append(&[Record::of(offered, WHOLE_FILE, hash)])?;
        self.set_whole(file, hash);
        Ok(())
    }

    fn set_whole(&mut self, file: u32, hash: Hash) {
        self.hashes.set(file, hash);
        self.whole.push(file);
        self.waiting.get_or_insert_with(Instant::now);
    }

    /// Gives complete files their names; the last of them when all names are durable.
    pub fn publish(&mut self) -> Result<(), Refusal> {
        let published = self.settle_and_name();
        published.map_err(|fault| self.store.refused(fault))
    }

    fn settle_and_name(&mut self) -> Result<(), Fault> {
        let files = self.files.clone();
        let whole = std::mem::take(&mut self.whole);
        self.waiting = None;
        self.settle(whole.iter().map(|file| &files[*file as usize]))?;
        whole
            .iter()
            .try_for_each(|file| self.places.publish(*file))?;
        let complete = self.progress.files + whole.len() as u64;
        if complete == self.files.len() as u64 {
            self.places.sync()?;
        }
        self.progress.files = complete;
        Ok(())
    }

    /// Makes the contents of `whole` durable.
    fn settle<'a>(&self, whole: impl ExactSizeIterator<Item = &'a Offered>) -> io::Result<()> {
        let count = whole.len();
        if count == 0 || (count > MAX_SINGLE_SYNCS && self.store.out().sync_file_system()?) {
            return Ok(());
        }
        for offered in whole {
            let part = Key::of(&offered.path).part();
            self.store.state().read(&part)?.sync_all()?;
        }
        self.journal.sync()
    }

    /// The transferred files; complete only when all have their names.
    pub fn received(&self) -> Vec<Transferred> {
        let path = |place: usize| self.places.destination(&self.files[place].path);
        self.hashes.transferred(&self.files, &self.held, path)
    }
}
