//! One file on its way in: its content so far, and the journal of what was verified of it.
//!
//! The journal is a list of records, a block's index (eight bytes, little-endian) and its hash, appended after the
//! block was verified and written. Nothing in it is believed without reading the block again: a torn record, or a
//! block that a power failure kept from the disk, is simply not verified, and is sent again. When the file has got its
//! name, the journal is left behind without the part, until the whole transfer is done.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::disk;
use super::error::Refusal;
use super::store::{Store, read_full};
use super::tree::{self, BLOCK};
use super::wire::{Have, Offered};

const INDEX_LEN: usize = 8;
const RECORD_LEN: usize = INDEX_LEN + 32;

type BlockHash = [u8; 32];

/// A file on its way in.
pub struct Part {
    store: Arc<Store>,
    name: String,
    size: u64,
    /// The verified blocks.
    verified: BTreeMap<u64, BlockHash>,
    is_published: bool,
    /// Content and journal, once something was written.
    files: Option<Files>,
}

struct Files {
    content: File,
    journal: File,
}

impl Part {
    /// What is there of the file `offered`: every block that the journal has is read and hashed again.
    pub fn resume(store: &Arc<Store>, offered: &Offered) -> Result<Part, Refusal> {
        let mut part = Part {
            store: store.clone(),
            name: offered.name.clone(),
            size: offered.size,
            verified: BTreeMap::new(),
            is_published: false,
            files: None,
        };
        part.verify().map_err(|error| store.refusal(&error))?;
        Ok(part)
    }

    fn verify(&mut self) -> io::Result<()> {
        let Some(journal) = existing(fs::read(self.path("journal")))? else {
            return Ok(());
        };
        let records = records(&journal, tree::blocks(self.size));
        if let Some(mut content) = existing(File::open(self.path("part")))? {
            self.verified = verified(&mut content, self.size, records)?;
            return Ok(());
        }
        let destination = self.destination();
        let is_file =
            fs::symlink_metadata(&destination).is_ok_and(|m| m.is_file() && m.len() == self.size);
        if is_file && records.len() as u64 == tree::blocks(self.size) {
            let verified = verified(&mut File::open(destination)?, self.size, records)?;
            if verified.len() as u64 == tree::blocks(self.size) {
                self.verified = verified;
                self.is_published = true;
            }
        }
        Ok(())
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where it will appear, or has.
    pub fn destination(&self) -> PathBuf {
        self.store.destination(&self.name)
    }

    /// Whether it has already got its name in this transfer.
    pub fn is_published(&self) -> bool {
        self.is_published
    }

    /// How many of its bytes are verified.
    pub fn verified_bytes(&self) -> u64 {
        let len = |index: &u64| tree::block_len(self.size, *index) as u64;
        self.verified.keys().map(len).sum()
    }

    /// How many of its blocks are verified.
    pub fn verified_blocks(&self) -> u64 {
        self.verified.len() as u64
    }

    /// What the sender is told of it. Drops the few blocks that do not fit into a message.
    pub fn have(&mut self) -> Have {
        let ranges = Have::ranges(self.verified.keys().copied());
        let end = ranges.last().map_or(0, |last| last.start + last.count);
        self.verified.split_off(&end);
        let mut digest = blake3::Hasher::new();
        for hash in self.verified.values() {
            digest.update(hash);
        }
        let digest = *digest.finalize().as_bytes();
        Have { ranges, digest }
    }

    /// Takes block `index`, which must have the hash `hash`.
    pub fn write(&mut self, index: u64, hash: BlockHash, data: &[u8]) -> Result<(), Refusal> {
        if tree::block_hash(self.size, index, data) != hash {
            return Err(self.corrupt());
        }
        self.append(index, hash, data)
            .map_err(|error| self.store.refusal(&error))?;
        self.verified.insert(index, hash);
        Ok(())
    }

    fn append(&mut self, index: u64, hash: BlockHash, data: &[u8]) -> io::Result<()> {
        let store = self.store.clone();
        let Files { content, journal } = self.files()?;
        content.seek(SeekFrom::Start(index.saturating_mul(BLOCK)))?;
        store.disk().write(content, data)?;
        let mut record = index.to_le_bytes().to_vec();
        record.extend(hash);
        journal.write_all(&record)
    }

    /// Gives the file its name. All its blocks must be verified, and `expected` what the sender says is its hash.
    pub fn publish(&mut self, expected: blake3::Hash) -> Result<(), Refusal> {
        let mut root = tree::Root::default();
        for (place, (index, hash)) in self.verified.iter().enumerate() {
            if *index != place as u64 {
                return Err(self.corrupt());
            }
            root.push(*hash);
        }
        if self.verified.len() as u64 != tree::blocks(self.size) || root.finish() != expected {
            return Err(self.corrupt());
        }
        if self.is_published {
            return Ok(());
        }
        self.settle().map_err(|error| self.store.refusal(&error))?;
        self.store.publish(&self.path("part"), &self.name)?;
        self.is_published = true;
        Ok(())
    }

    /// Makes sure that the content is on the disk, and exactly as long as it should be.
    fn settle(&mut self) -> io::Result<()> {
        let size = self.size;
        let Files { content, journal } = self.files()?;
        content.set_len(size)?;
        content.sync_all()?;
        journal.sync_all()?;
        self.files = None;
        Ok(())
    }

    fn files(&mut self) -> io::Result<&mut Files> {
        let files = match self.files.take() {
            Some(files) => files,
            None => self.open()?,
        };
        Ok(self.files.insert(files))
    }

    fn open(&self) -> io::Result<Files> {
        // First the content: a journal without it would mean a finished file.
        let content = disk::open_plain(&self.path("part"))?;
        let mut journal = disk::open_plain(&self.path("journal"))?;
        let len = journal.metadata()?.len();
        let whole = len - len % RECORD_LEN as u64;
        journal.set_len(whole)?;
        journal.seek(SeekFrom::End(0))?;
        Ok(Files { content, journal })
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.store.state_of(&self.name, extension)
    }

    fn corrupt(&self) -> Refusal {
        let name = self.name.clone();
        Refusal::Corrupt { name }
    }
}

fn existing<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        answer => answer.map(Some),
    }
}

/// The blocks that a journal claims, of a file of `blocks` blocks. The last record of a block counts.
fn records(journal: &[u8], blocks: u64) -> BTreeMap<u64, BlockHash> {
    let (records, _torn) = journal.as_chunks::<RECORD_LEN>();
    let parse = |record: &[u8; RECORD_LEN]| {
        let (index, hash) = record.split_first_chunk::<INDEX_LEN>()?;
        Some((u64::from_le_bytes(*index), hash.try_into().ok()?))
    };
    let claimed = records.iter().filter_map(parse);
    claimed.filter(|(index, _)| *index < blocks).collect()
}

/// Those of the `claimed` blocks that `content` truly holds.
fn verified(
    content: &mut File,
    size: u64,
    claimed: BTreeMap<u64, BlockHash>,
) -> io::Result<BTreeMap<u64, BlockHash>> {
    let mut verified = BTreeMap::new();
    let mut buffer = vec![0; BLOCK as usize];
    for (index, hash) in claimed {
        let len = tree::block_len(size, index);
        let Some(data) = buffer.get_mut(..len) else {
            continue;
        };
        content.seek(SeekFrom::Start(index.saturating_mul(BLOCK)))?;
        if read_full(content, data)? && tree::block_hash(size, index, data) == hash {
            verified.insert(index, hash);
        }
    }
    Ok(verified)
}
