//! The files to send.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::error::{Error, Refusal};
use super::name;
use super::store::read_full;
use super::tree;
use super::wire::{Have, MAX_FILES, Offered};

/// A block on its way out.
pub struct Block {
    pub hash: [u8; 32],
    pub data: Vec<u8>,
}

/// A file to send, open.
#[derive(Debug)]
pub struct Source {
    pub path: PathBuf,
    pub name: String,
    pub size: u64,
    file: File,
    stamp: Stamp,
}

/// What changes when a file does.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// When anything about the file changed, even its time of modification. Seconds and nanoseconds.
    changed: Option<(i64, i64)>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let changed = None;
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
        }
    }
}

/// Opens all files, or says which cannot be sent.
pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Source>, Error> {
    match paths.len() {
        0 => return Err(Error::NoFiles),
        n if n > MAX_FILES => return Err(Error::TooManyFiles(n)),
        _ => {}
    }
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let source = Source::open(path)?;
        if let Some(first) = sources.iter().find(|other| other.name == source.name) {
            return Err(Error::SameName {
                first: first.path.clone(),
                second: source.path,
            });
        }
        sources.push(source);
    }
    Ok(sources)
}

impl Source {
    fn open(path: &Path) -> Result<Source, Error> {
        let unreadable = |source| Error::Source {
            path: path.to_owned(),
            source,
        };
        // Before it is opened: opening a named pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(Error::NotAFile(path.to_owned()));
        }
        let name = path
            .file_name()
            .ok_or_else(|| Error::NotAFile(path.to_owned()))?
            .to_str()
            .ok_or_else(|| Error::NotUnicode(path.to_owned()))?;
        name::check(name).map_err(|problem| Error::SourceName {
            path: path.to_owned(),
            problem,
        })?;
        let file = File::open(path).map_err(unreadable)?;
        let stamp = Stamp::of(&file.metadata().map_err(unreadable)?);
        Ok(Source {
            path: path.to_owned(),
            name: name.to_owned(),
            size: stamp.size,
            file,
            stamp,
        })
    }

    /// How the file is offered.
    pub fn offered(&self) -> Offered {
        Offered {
            name: self.name.clone(),
            size: self.size,
        }
    }

    /// Reads the file, checks that the receiver's blocks are this file's, gives the others to `blocks`, and returns
    /// the hash of the whole. Stops early, with any answer, if nobody takes the blocks.
    pub fn produce(
        mut self,
        have: &Have,
        restart: bool,
        blocks: &mpsc::Sender<Block>,
    ) -> Result<blake3::Hash, Error> {
        let held = self.check(have, restart)?;
        let mut held = held.into_iter();
        let mut root = tree::Root::default();
        for index in 0..tree::blocks(self.size) {
            if have.contains(index) {
                held.next().into_iter().for_each(|hash| root.push(hash));
                continue;
            }
            let (hash, data) = self.block(index)?;
            root.push(hash);
            if blocks.blocking_send(Block { hash, data }).is_err() {
                break;
            }
        }
        // The hash goes out only if the file is still what it was when the first byte was read.
        let metadata = self.file.metadata().map_err(|e| self.unreadable(e))?;
        if Stamp::of(&metadata) != self.stamp {
            return Err(Error::SourceChanged(self.path));
        }
        Ok(root.finish())
    }

    /// The hashes of the blocks that the receiver has, if they are this file's.
    fn check(&mut self, have: &Have, restart: bool) -> Result<Vec<[u8; 32]>, Error> {
        let mut digest = blake3::Hasher::new();
        let mut hashes = Vec::new();
        for range in &have.ranges {
            for index in range.start..range.start.saturating_add(range.count) {
                let (hash, _) = self.block(index)?;
                digest.update(&hash);
                hashes.push(hash);
            }
        }
        if *digest.finalize().as_bytes() == have.digest {
            return Ok(hashes);
        }
        let name = self.name.clone();
        Err(Error::Refused(if restart {
            // All that survives a restart is a file that is complete.
            Refusal::Exists { name }
        } else {
            Refusal::SourceChanged { name }
        }))
    }

    fn block(&mut self, index: u64) -> Result<([u8; 32], Vec<u8>), Error> {
        let mut data = vec![0; tree::block_len(self.size, index)];
        match self.read(index, &mut data) {
            Ok(true) => Ok((tree::block_hash(self.size, index, &data), data)),
            Ok(false) => Err(Error::SourceChanged(self.path.clone())),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    fn read(&mut self, index: u64, data: &mut [u8]) -> io::Result<bool> {
        let start = index.saturating_mul(tree::BLOCK);
        self.file.seek(SeekFrom::Start(start))?;
        read_full(&mut self.file, data)
    }

    fn unreadable(&self, source: io::Error) -> Error {
        Error::Source {
            path: self.path.clone(),
            source,
        }
    }
}
