//! Reads the sender's files: one open at a time, in the order of transmission.

use std::collections::HashMap;
use std::fs::File;
use std::iter::Peekable;
use std::sync::Arc;

use super::source::{Source, Sources};
use crate::error::Error;
use crate::event::Transferred;
use crate::hashes::Hashes;
use crate::message::{Held, Offered, State};
use crate::plan::{Plan, Step};
use crate::refusal::Refusal;
use crate::seal::{self, Seal};
use crate::stop::Stop;
use crate::tree::{self, BLOCK, Hash};

/// A piece of the transmission.
pub enum Piece {
    /// A stream of its own.
    Stream {
        /// The hashes of its content.
        hashes: Vec<u8>,
        /// Its content.
        content: Vec<u8>,
    },
    /// The hash that verifies a large file, for the control stream.
    Seal(Hash),
}

/// Checks that the content at the receiver is of these files, passes the rest to `send`, and returns the transferred
/// files. With `stop` set it ends early, with any result.
pub fn read(
    sources: Arc<Sources>,
    held: Arc<[Held]>,
    restart: bool,
    stop: &Stop,
    mut send: impl FnMut(Piece) -> Result<(), Error>,
) -> Result<Vec<Transferred>, Error> {
    let mut reader = Reader {
        hashes: Hashes::new(sources.offered.len()),
        sources: sources.clone(),
        parts: HashMap::new(),
        large: None,
    };
    for held in held.iter() {
        reader.check(held, restart, stop)?;
    }
    for step in Plan::new(sources.offered.clone(), held.clone()) {
        send(reader.piece(&step)?)?;
    }
    let path = |place: usize| sources.files[place].path.clone();
    Ok(reader.hashes.transferred(&sources.offered, &held, path))
}

struct Reader {
    sources: Arc<Sources>,
    /// The receiver's blocks of large files, with their hashes, in order.
    parts: HashMap<u32, Vec<(u64, Hash)>>,
    /// The large file that is being read.
    large: Option<Large>,
    hashes: Hashes,
}

/// An open large file.
struct Large {
    place: u32,
    file: File,
    seal: Seal,
    /// The receiver's blocks that have not been added to the seal yet.
    held: Peekable<std::vec::IntoIter<(u64, Hash)>>,
}

impl Reader {
    fn source(&self, place: u32) -> (&Source, &Offered) {
        let place = place as usize;
        (&self.sources.files[place], &self.sources.offered[place])
    }

    /// Checks that the receiver's content of a file is this file's.
    fn check(&mut self, held: &Held, restart: bool, stop: &Stop) -> Result<(), Error> {
        let (source, offered) = self.source(held.file);
        let file = source.open()?;
        let is_same = match &held.state {
            State::Complete { hash } => {
                let read = seal::of_file(&file, offered, stop);
                let is_same = read.map_err(|error| source.unreadable(error))? == Some(*hash);
                self.hashes.set(held.file, *hash);
                is_same
            }
            State::Part { blocks, digest } => {
                let (mut hasher, mut hashes) = (blake3::Hasher::new(), Vec::new());
                for index in blocks.blocks() {
                    stop.check().map_err(|error| source.unreadable(error))?;
                    let (hash, _) = block(&file, source, offered.size, index)?;
                    hasher.update(&hash);
                    hashes.push((index, hash));
                }
                self.parts.insert(held.file, hashes);
                hasher.finalize() == *digest
            }
        };
        let (source, offered) = self.source(held.file);
        source.check(&file)?;
        if !is_same {
            let name = offered.path.clone();
            // Only complete files survive a restart.
            return Err(Error::Refused(if restart {
                Refusal::Exists { name }
            } else {
                Refusal::SourceChanged { name }
            }));
        }
        Ok(())
    }

    fn piece(&mut self, step: &Step) -> Result<Piece, Error> {
        match step {
            Step::Batch(files) => self.batch(files),
            Step::Block { file, index } => {
                let mut large = self.large(*file)?;
                let (source, offered) = self.source(*file);
                large.advance(*index);
                let (hash, content) = block(&large.file, source, offered.size, *index)?;
                large.seal.push(hash);
                self.large = Some(large);
                let hashes = hash.to_vec();
                Ok(Piece::Stream { hashes, content })
            }
            Step::Seal { file } => {
                let mut large = self.large(*file)?;
                let (source, _) = self.source(*file);
                large.advance(u64::MAX);
                // The hash is sent only if the file has not changed.
                source.check(&large.file)?;
                let hash = large.seal.finish();
                self.hashes.set(*file, hash);
                Ok(Piece::Seal(hash))
            }
        }
    }

    fn batch(&mut self, files: &[u32]) -> Result<Piece, Error> {
        let sizes = files.iter().map(|place| self.source(*place).1.size);
        let mut content = Vec::with_capacity(sizes.sum::<u64>() as usize + 1);
        let mut hashes = Vec::with_capacity(files.len() * blake3::OUT_LEN);
        for place in files {
            let (source, offered) = self.source(*place);
            if offered.is_directory() {
                continue;
            }
            let file = source.open()?;
            let start = content.len();
            source.read(&file, (0, offered.size as usize), true, &mut content)?;
            source.check(&file)?;
            let hash = *blake3::hash(&content[start..]).as_bytes();
            hashes.extend(hash);
            self.hashes.set(*place, hash);
        }
        Ok(Piece::Stream { hashes, content })
    }

    /// Opens the large file at index `place`.
    fn large(&mut self, place: u32) -> Result<Large, Error> {
        match self.large.take() {
            Some(large) if large.place == place => Ok(large),
            _ => Ok(Large {
                place,
                file: self.source(place).0.open()?,
                seal: Seal::of(self.source(place).1),
                held: self
                    .parts
                    .remove(&place)
                    .unwrap_or_default()
                    .into_iter()
                    .peekable(),
            }),
        }
    }
}

impl Large {
    /// Adds the hashes of the receiver's blocks before `index` to the seal.
    fn advance(&mut self, index: u64) {
        while let Some((_, hash)) = self.held.next_if(|(held, _)| *held < index) {
            self.seal.push(hash);
        }
    }
}

/// The hash and the content of a block.
fn block(file: &File, source: &Source, size: u64, index: u64) -> Result<(Hash, Vec<u8>), Error> {
    let len = tree::block_len(size, index);
    let mut data = Vec::new();
    let is_last = index + 1 == tree::blocks(size);
    source.read(file, (index * BLOCK, len), is_last, &mut data)?;
    Ok((tree::block_hash(size, index, &data), data))
}
