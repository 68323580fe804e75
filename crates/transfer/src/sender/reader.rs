//! The sender's files as they are read: opened one at a time, in the order in which they travel.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::source::{Source, Sources};
use crate::error::Error;
use crate::event::Transferred;
use crate::hashes::Hashes;
use crate::message::{Held, Offered, State};
use crate::plan::{Plan, Step};
use crate::refusal::Refusal;
use crate::tree::Hash;
use crate::tree::{self, BLOCK};

/// What goes out.
pub enum Piece {
    /// A stream of its own.
    Stream {
        /// The hashes of what is in it.
        hashes: Vec<u8>,
        /// What is in it.
        content: Vec<u8>,
    },
    /// The hash of a large file, for the control stream.
    Root(Hash),
}

/// Checks that what the receiver holds is of these files, gives the rest to `pieces`, and returns what was transferred.
/// Stops early, with any answer, if nobody takes the pieces.
pub fn read(
    sources: Arc<Sources>,
    held: Arc<[Held]>,
    restart: bool,
    pieces: &mpsc::Sender<Piece>,
) -> Result<Vec<Transferred>, Error> {
    let mut reader = Reader {
        hashes: Hashes::new(sources.offered.len()),
        sources: sources.clone(),
        parts: HashMap::new(),
        large: None,
    };
    for held in held.iter() {
        reader.check(held, restart)?;
    }
    for step in Plan::new(sources.offered.clone(), held.clone()) {
        if pieces.blocking_send(reader.piece(&step)?).is_err() {
            break;
        }
    }
    let path = |place: usize| sources.files[place].path.clone();
    Ok(reader.hashes.transferred(&sources.offered, &held, path))
}

struct Reader {
    sources: Arc<Sources>,
    /// The hashes of the blocks that the receiver has of large files.
    parts: HashMap<u32, Vec<Hash>>,
    /// The large file that is being read.
    large: Option<Large>,
    hashes: Hashes,
}

/// A large file, open.
struct Large {
    place: u32,
    file: File,
    root: tree::Root,
    /// The next block whose hash the root takes.
    next: u64,
    /// The hashes of the blocks that the receiver has, in order.
    held: std::vec::IntoIter<Hash>,
}

impl Reader {
    fn source(&self, place: u32) -> (&Source, &Offered) {
        let place = place as usize;
        (&self.sources.files[place], &self.sources.offered[place])
    }

    /// Checks that what the receiver has of a file is this file's.
    fn check(&mut self, held: &Held, restart: bool) -> Result<(), Error> {
        let (source, offered) = self.source(held.file);
        let mut file = source.open()?;
        let mut hasher = blake3::Hasher::new();
        let mut hashes = Vec::new();
        let expected = match &held.state {
            State::Complete { hash } => {
                let read = hasher.update_reader(&file);
                read.map_err(|error| source.unreadable(error))?;
                hash
            }
            State::Part { blocks, digest } => {
                for index in blocks.blocks() {
                    let (hash, _) = block(&mut file, source, offered.size, index)?;
                    hasher.update(&hash);
                    hashes.push(hash);
                }
                digest
            }
        };
        source.check(&file)?;
        if hasher.finalize() != *expected {
            let name = offered.path.clone();
            // All that survives a restart is a file that is complete.
            return Err(Error::Refused(if restart {
                Refusal::Exists { name }
            } else {
                Refusal::SourceChanged { name }
            }));
        }
        match held.state {
            State::Complete { hash } => self.hashes.set(held.file, hash),
            State::Part { .. } => _ = self.parts.insert(held.file, hashes),
        }
        Ok(())
    }

    fn piece(&mut self, step: &Step) -> Result<Piece, Error> {
        match step {
            Step::Batch(files) => self.batch(files),
            Step::Block { file, index } => {
                let mut large = self.large(*file)?;
                let (source, offered) = self.source(*file);
                large.advance(offered, *index);
                let (hash, content) = block(&mut large.file, source, offered.size, *index)?;
                large.root.push(hash);
                large.next = index + 1;
                self.large = Some(large);
                let hashes = hash.to_vec();
                Ok(Piece::Stream { hashes, content })
            }
            Step::Root { file } => {
                let mut large = self.large(*file)?;
                let (source, offered) = self.source(*file);
                large.advance(offered, tree::blocks(offered.size));
                // The hash goes out only if the file is still what it was.
                source.check(&large.file)?;
                let hash = *large.root.finish().as_bytes();
                self.hashes.set(*file, hash);
                Ok(Piece::Root(hash))
            }
        }
    }

    fn batch(&mut self, files: &[u32]) -> Result<Piece, Error> {
        let (mut hashes, mut content) = (Vec::new(), Vec::new());
        for place in files {
            let (source, offered) = self.source(*place);
            if offered.is_directory() {
                continue;
            }
            let mut file = source.open()?;
            let start = content.len();
            content.resize(start + offered.size as usize, 0);
            source.read(&mut file, &mut content[start..])?;
            source.check(&file)?;
            let hash = *blake3::hash(&content[start..]).as_bytes();
            hashes.extend(hash);
            self.hashes.set(*place, hash);
        }
        Ok(Piece::Stream { hashes, content })
    }

    /// The large file at `place`, open.
    fn large(&mut self, place: u32) -> Result<Large, Error> {
        match self.large.take() {
            Some(large) if large.place == place => Ok(large),
            _ => Ok(Large {
                place,
                file: self.source(place).0.open()?,
                root: tree::Root::default(),
                next: 0,
                held: self.parts.remove(&place).unwrap_or_default().into_iter(),
            }),
        }
    }
}

impl Large {
    /// Gives the root the hashes of the blocks before `index` that do not travel.
    fn advance(&mut self, offered: &Offered, index: u64) {
        for block in self.next..index {
            let hash = if offered.holes.contains(block) {
                Some(tree::zeros_hash(offered.size, block))
            } else {
                self.held.next()
            };
            hash.into_iter().for_each(|hash| self.root.push(hash));
        }
        self.next = index;
    }
}

fn block(
    file: &mut File,
    source: &Source,
    size: u64,
    index: u64,
) -> Result<(Hash, Vec<u8>), Error> {
    let mut data = vec![0; tree::block_len(size, index)];
    let sought = file.seek(SeekFrom::Start(index * BLOCK));
    sought.map_err(|error| source.unreadable(error))?;
    source.read(file, &mut data)?;
    Ok((tree::block_hash(size, index, &data), data))
}
