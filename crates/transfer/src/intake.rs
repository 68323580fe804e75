//! The files of a transfer on their way in.
//!
//! Each is written to a part in the state folder, and recorded in the journal. When it is whole, its content is made to
//! last and it gets its name. Whole files wait for each other for a second, because making many files last together
//! takes little longer than one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::disk;
use super::error::Refusal;
use super::folders::Folders;
use super::journal::{Hash, Journal, Key, Record, Records, WHOLE};
use super::name;
use super::plan::{self, HASH, Plan, Step};
use super::ranges::Ranges;
use super::sparse;
use super::store::Store;
use super::tree::{self, BLOCK};
use super::wire::{Held, Kind, MAX_PARTS, Offer, Offered, Progress, State};
use super::{Status, Transferred};

/// How long a whole file may wait for others before it gets its name.
const GATHER: Duration = Duration::from_secs(1);

/// Up to so many files are made to last one by one, more with one call for the whole file system.
const FEW: usize = 16;

/// The verified blocks of a large file.
type Blocks = BTreeMap<u64, Hash>;

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
    large: Option<Large>,
    /// The files that are whole and wait for their names, and since when.
    whole: Vec<u32>,
    waiting: Option<Instant>,
    hashes: Vec<Hash>,
    progress: Progress,
}

struct Large {
    file: u32,
    content: File,
    verified: Blocks,
}

impl Intake {
    /// Takes an offer: finds what is verified of its files by reading and hashing it, or says why they cannot be received.
    pub fn begin(store: &Arc<Store>, offer: Offer) -> Result<Intake, Refusal> {
        let files: Arc<[Offered]> = offer.files.into();
        store.adopt(&files, offer.restart)?;
        let damaged = |_| store.damaged("journal");
        let records = Records::read(&store.state_file("journal")).map_err(damaged)?;
        let mut intake = Intake {
            folders: Folders::new(store.out()),
            journal: Journal::open(&store.state_file("journal")).map_err(damaged)?,
            hashes: vec![[0; HASH]; files.len()],
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
        let needed = intake
            .files
            .iter()
            .map(|file| file.size - file.holes.bytes(file.size));
        let needed = needed.fold(0, u64::saturating_add);
        let needed = needed.saturating_sub(intake.progress.bytes);
        store.check_room(needed)?;
        Ok(intake)
    }

    /// What is there of each file.
    fn find(&mut self, records: &Records) -> Result<Vec<Held>, Refusal> {
        let mut held = Vec::new();
        if records.is_empty() {
            return Ok(held);
        }
        for (place, offered) in self.files.clone().iter().enumerate() {
            let key = Key::of(&offered.path);
            let records = records.of(key);
            if offered.is_directory() || records.is_empty() {
                continue;
            }
            let file = place as u32;
            let part = match disk::read_plain(&self.part(offered)) {
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                opened => Some(opened.map_err(|_| self.store.damaged(&key.part()))?),
            };
            let state = match part {
                None => self.complete(offered, records).map(|hash| {
                    self.progress.bytes += offered.size;
                    self.progress.files += 1;
                    if let Some(known) = self.hashes.get_mut(place) {
                        *known = hash;
                    }
                    State::Complete { hash }
                }),
                // A small one just comes again.
                Some(_) if offered.is_small() || self.parts.len() == MAX_PARTS => None,
                Some(mut part) => {
                    let verified = verified(&mut part, offered, records);
                    let verified = verified.map_err(|error| self.store.refusal(&error))?;
                    self.resume(file, offered, verified)
                }
            };
            held.extend(state.map(|state| Held { file, state }));
        }
        Ok(held)
    }

    /// The hash of a file that has got its name in this transfer.
    fn complete(&self, offered: &Offered, records: &[Record]) -> Option<Hash> {
        let expected = records.iter().rfind(|record| record.index == WHOLE)?.hash;
        let there = self.folders.read(&offered.path).ok()?;
        if !there
            .metadata()
            .is_ok_and(|there| there.is_file() && there.len() == offered.size)
        {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(there).ok()?;
        (*hasher.finalize().as_bytes() == expected).then_some(expected)
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
    fn check_destinations(&self) -> Result<(), Refusal> {
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
            let is_complete = plan::state(&self.held, place)
                .is_some_and(|state| matches!(state, State::Complete { .. }));
            if reachable && !is_complete {
                match file.is_directory() {
                    true => self.is_directory(&file.path).map(|_| ())?,
                    false => self.store.check_destination(&file.path)?,
                }
            }
        }
        Ok(())
    }

    /// Whether there is a directory at `path`; anything else there is in the way.
    fn is_directory(&self, path: &str) -> Result<bool, Refusal> {
        match fs::symlink_metadata(self.store.destination(path)) {
            Ok(there) if there.is_dir() => Ok(true),
            Ok(_) => Err(Refusal::NotADirectory {
                name: path.to_owned(),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.store.refusal(&error)),
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
        match step {
            Step::Batch(files) => self.take_batch(files, bytes)?,
            Step::Block { file, index } => self.take_block(*file, *index, bytes)?,
            Step::Root { file } => self.take_root(*file, bytes)?,
        }
        match self.waiting {
            Some(since) if since.elapsed() >= GATHER => self.publish(),
            _ => Ok(()),
        }
    }

    fn take_batch(&mut self, batch: &[u32], bytes: &[u8]) -> Result<(), Refusal> {
        let files = self.files.clone();
        let mut records = Vec::new();
        let offered = batch
            .iter()
            .filter_map(|file| Some((*file, files.get(*file as usize)?)));
        let hashes = offered
            .clone()
            .filter(|(_, file)| !file.is_directory())
            .count()
            * HASH;
        let (mut hashes, mut contents) = bytes.split_at_checked(hashes).unwrap_or_default();
        for (place, offered) in offered {
            if offered.is_directory() {
                self.folders
                    .make(&offered.path)
                    .map_err(|error| self.in_the_way(offered, &error))?;
                self.progress.files += 1;
                continue;
            }
            let corrupt = || Refusal::Corrupt {
                name: offered.path.clone(),
            };
            let (hash, later) = hashes.split_first_chunk::<HASH>().ok_or_else(corrupt)?;
            let (content, rest) = contents
                .split_at_checked(offered.size as usize)
                .ok_or_else(corrupt)?;
            (hashes, contents) = (later, rest);
            if blake3::hash(content) != *hash {
                return Err(corrupt());
            }
            self.write_whole(offered, content)
                .map_err(|error| self.store.refusal(&error))?;
            let key = Key::of(&offered.path);
            records.push(Record {
                key,
                index: WHOLE,
                hash: *hash,
            });
            self.set_whole(place, *hash);
            self.progress.bytes += offered.size;
        }
        self.record(&records)
    }

    fn write_whole(&self, offered: &Offered, content: &[u8]) -> io::Result<()> {
        let mut part = disk::open_plain(&self.part(offered), is_executable(offered))?;
        disk::empty(&part)?;
        self.store.disk().write(&mut part, content)
    }

    fn take_block(&mut self, file: u32, index: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let files = self.files.clone();
        let (Some(offered), Some((hash, data))) =
            (files.get(file as usize), bytes.split_first_chunk::<HASH>())
        else {
            return Ok(());
        };
        if tree::block_hash(offered.size, index, data) != *hash {
            return Err(Refusal::Corrupt {
                name: offered.path.clone(),
            });
        }
        let store = self.store.clone();
        let large = self
            .large(file, offered)
            .map_err(|error| store.refusal(&error))?;
        let is_sparse = matches!(offered.kind, Kind::File { sparse: true, .. });
        write_block(&store, &mut large.content, index, data, is_sparse)
            .map_err(|error| store.refusal(&error))?;
        large.verified.insert(index, *hash);
        self.progress.bytes += data.len() as u64;
        self.record(&[Record {
            key: Key::of(&offered.path),
            index,
            hash: *hash,
        }])
    }

    /// The large file `file`, open.
    fn large(&mut self, file: u32, offered: &Offered) -> io::Result<&mut Large> {
        let large = match self.large.take() {
            Some(large) if large.file == file => large,
            _ => {
                let content = disk::open_plain(&self.part(offered), is_executable(offered))?;
                let verified = self.parts.remove(&file).unwrap_or_default();
                if verified.is_empty() {
                    // Whatever is there must not shine through where nothing is written.
                    disk::empty(&content)?;
                }
                Large {
                    file,
                    content,
                    verified,
                }
            }
        };
        Ok(self.large.insert(large))
    }

    fn take_root(&mut self, file: u32, expected: &[u8]) -> Result<(), Refusal> {
        let files = self.files.clone();
        let Some(offered) = files.get(file as usize) else {
            return Ok(());
        };
        let store = self.store.clone();
        let large = self
            .large(file, offered)
            .map_err(|error| store.refusal(&error))?;
        let root = root(offered, &large.verified).filter(|root| root == expected);
        let hash = root.ok_or_else(|| Refusal::Corrupt {
            name: offered.path.clone(),
        })?;
        large
            .content
            .set_len(offered.size)
            .map_err(|error| store.refusal(&error))?;
        self.large = None;
        self.progress.bytes += offered.holes.bytes(offered.size);
        self.record(&[Record {
            key: Key::of(&offered.path),
            index: WHOLE,
            hash,
        }])?;
        self.set_whole(file, hash);
        Ok(())
    }

    fn set_whole(&mut self, file: u32, hash: Hash) {
        if let Some(known) = self.hashes.get_mut(file as usize) {
            *known = hash;
        }
        self.whole.push(file);
        self.waiting.get_or_insert_with(Instant::now);
    }

    fn record(&mut self, records: &[Record]) -> Result<(), Refusal> {
        self.journal
            .append(records)
            .map_err(|error| self.store.refusal(&error))
    }

    /// Gives the files that are whole their names; the last of them when all names last through a power failure.
    pub fn publish(&mut self) -> Result<(), Refusal> {
        let whole = std::mem::take(&mut self.whole);
        self.waiting = None;
        let store = self.store.clone();
        self.settle(&whole).map_err(|error| store.refusal(&error))?;
        let files = self.files.clone();
        for offered in whole.iter().filter_map(|file| files.get(*file as usize)) {
            self.folders
                .publish(&self.part(offered), &offered.path, store.overwrites())
                .map_err(|error| self.in_the_way(offered, &error))?;
        }
        let complete = self.progress.files + whole.len() as u64;
        if complete == self.files.len() as u64 {
            self.folders.sync().map_err(|error| store.refusal(&error))?;
        }
        self.progress.files = complete;
        Ok(())
    }

    /// Makes the contents of `whole` last through a power failure.
    fn settle(&self, whole: &[u32]) -> io::Result<()> {
        if whole.is_empty() || (whole.len() > FEW && disk::sync_file_system(self.store.out())?) {
            return Ok(());
        }
        for offered in whole
            .iter()
            .filter_map(|file| self.files.get(*file as usize))
        {
            disk::read_plain(&self.part(offered))?.sync_all()?;
        }
        self.journal.sync()
    }

    /// What was transferred, if all has got its name.
    pub fn received(&self) -> Vec<Transferred> {
        let files = self.files.iter().zip(&self.hashes).enumerate();
        let files = files.filter(|(_, (file, _))| !file.is_directory());
        files
            .map(|(place, (file, hash))| Transferred {
                name: file.path.clone(),
                path: self.store.destination(&file.path),
                size: file.size,
                hash: *hash,
                resumed: plan::resumed(&self.held, place, file),
            })
            .collect()
    }

    fn part(&self, offered: &Offered) -> PathBuf {
        self.store.state_file(&Key::of(&offered.path).part())
    }

    /// Why a name could not appear.
    fn in_the_way(&self, offered: &Offered, error: &io::Error) -> Refusal {
        let name = offered.path.clone();
        match error.kind() {
            ErrorKind::AlreadyExists => Refusal::Exists { name },
            ErrorKind::IsADirectory => Refusal::IsDirectory { name },
            ErrorKind::NotADirectory => Refusal::NotADirectory { name },
            _ => self.store.refusal(error),
        }
    }
}

fn is_executable(offered: &Offered) -> bool {
    matches!(
        offered.kind,
        Kind::File {
            executable: true,
            ..
        }
    )
}

/// Writes a verified block. In a sparse file its zeros stay holes.
fn write_block(
    store: &Store,
    content: &mut File,
    index: u64,
    data: &[u8],
    is_sparse: bool,
) -> io::Result<()> {
    let start = index.saturating_mul(BLOCK);
    let end = start.saturating_add(data.len() as u64);
    // What an interrupted attempt has left there must not shine through.
    let leave_holes = is_sparse && !sparse::has_data(content, start, end)?;
    let mut write = |at: u64, data: &[u8]| {
        content.seek(SeekFrom::Start(at))?;
        store.disk().write(content, data)
    };
    match leave_holes {
        true => sparse::filled(data).try_for_each(|(at, page)| write(start + at, page)),
        false => write(start, data),
    }
}

/// The hash of a large file with the `verified` blocks, if those and its holes are all there is.
fn root(offered: &Offered, verified: &Blocks) -> Option<Hash> {
    let mut root = tree::Root::default();
    for index in 0..tree::blocks(offered.size) {
        root.push(match verified.get(&index) {
            Some(hash) => *hash,
            None if offered.holes.contains(index) => tree::zeros_hash(offered.size, index),
            None => return None,
        });
    }
    Some(*root.finish().as_bytes())
}

/// Those of the recorded blocks that `part` truly holds; none if there are data where it should have holes.
fn verified(part: &mut File, offered: &Offered, records: &[Record]) -> io::Result<Blocks> {
    let size = offered.size;
    let mut verified = Blocks::new();
    let mut buffer = vec![0; BLOCK as usize];
    let blocks = tree::blocks(size);
    let claims = |record: &&Record| record.index < blocks && !offered.holes.contains(record.index);
    for Record { index, hash, .. } in records.iter().filter(claims) {
        let len = tree::block_len(size, *index);
        let Some(data) = buffer.get_mut(..len) else {
            continue;
        };
        part.seek(SeekFrom::Start(index.saturating_mul(BLOCK)))?;
        if disk::read_full(part, data)? && tree::block_hash(size, *index, data) == *hash {
            verified.insert(*index, *hash);
        }
    }
    for span in offered.holes.spans() {
        let (start, end) = (span.start * BLOCK, span.end.saturating_mul(BLOCK).min(size));
        let end_of_part = part.metadata()?.len();
        if start < end_of_part && sparse::has_data(part, start, end)? {
            // Something has been written where nothing belongs: the part is not what was recorded.
            return Ok(Blocks::new());
        }
    }
    Ok(verified)
}

/// Whether these files may be received at all.
pub fn check(files: &[Offered]) -> Result<(), Refusal> {
    if files.is_empty() || files.len() > super::MAX_FILES {
        let files = files.len() as u64;
        return Err(Refusal::Count { files });
    }
    let mut paths = HashSet::new();
    let mut directories = HashSet::new();
    for file in files {
        let path = file.path.as_str();
        name::check_path(path).map_err(|problem| Refusal::Name {
            name: path.chars().take(100).collect(),
            problem,
        })?;
        file.check().map_err(|_| Refusal::Size {
            name: path.to_owned(),
        })?;
        if file.is_directory() {
            directories.insert(path);
        } else if !paths.insert(path) {
            return Err(Refusal::SameName {
                name: path.to_owned(),
            });
        }
        directories.extend(name::parents(path));
    }
    match paths.intersection(&directories).next() {
        Some(path) => Err(Refusal::SameName {
            name: (*path).to_owned(),
        }),
        None => Ok(()),
    }
}
