//! A large file on its way in: its part in the state folder, and which of its blocks are verified.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use super::journal::Record;
use crate::disk::{self, Disk};
use crate::message::Offered;
use crate::sparse;
use crate::tree::Hash;
use crate::tree::{self, BLOCK};

/// The verified blocks of a large file.
pub type Blocks = BTreeMap<u64, Hash>;

/// The part of a large file, open.
pub struct Part {
    content: File,
    verified: Blocks,
}

impl Part {
    /// Opens the part at `path` of the file `offered`, of which the blocks `verified` are there.
    pub fn open(path: &Path, offered: &Offered, verified: Blocks) -> io::Result<Part> {
        let content = disk::open_plain(path, offered.is_executable())?;
        if verified.is_empty() {
            // Whatever is there must not shine through where nothing is written.
            disk::empty(&content)?;
        }
        Ok(Part { content, verified })
    }

    /// Writes the block `index`, whose `data` have the right `hash`. In a sparse file its zeros stay holes.
    pub fn write(
        &mut self,
        disk: &dyn Disk,
        offered: &Offered,
        index: u64,
        data: &[u8],
        hash: Hash,
    ) -> io::Result<()> {
        let start = index * BLOCK;
        let content = &mut self.content;
        // What an interrupted attempt has left there must not shine through.
        let leave_holes =
            offered.is_sparse() && !sparse::has_data(content, start, start + data.len() as u64)?;
        let mut write = |at: u64, data: &[u8]| {
            content.seek(SeekFrom::Start(at))?;
            disk.write(content, data)
        };
        if leave_holes {
            sparse::filled(data).try_for_each(|(at, page)| write(start + at, page))?;
        } else {
            write(start, data)?;
        }
        self.verified.insert(index, hash);
        Ok(())
    }

    /// The hash of the whole file, if the verified blocks and the holes are all there is.
    pub fn root(&self, offered: &Offered) -> Option<Hash> {
        let mut root = tree::Root::default();
        for index in 0..tree::blocks(offered.size) {
            root.push(match self.verified.get(&index) {
                Some(hash) => *hash,
                None if offered.holes.contains(index) => tree::zeros_hash(offered.size, index),
                None => return None,
            });
        }
        Some(*root.finish().as_bytes())
    }

    /// Gives the file its size: what it ends with may be a hole.
    pub fn finish(self, offered: &Offered) -> io::Result<()> {
        self.content.set_len(offered.size)
    }
}

/// Those of the recorded blocks that `part` truly holds; none if there are data where it should have holes.
pub fn verified(part: &mut File, offered: &Offered, records: &[Record]) -> io::Result<Blocks> {
    let size = offered.size;
    let mut verified = Blocks::new();
    let mut buffer = vec![0; BLOCK as usize];
    let blocks = tree::blocks(size);
    let claims = |record: &&Record| record.index < blocks && !offered.holes.contains(record.index);
    for Record { index, hash, .. } in records.iter().filter(claims) {
        let data = &mut buffer[..tree::block_len(size, *index)];
        part.seek(SeekFrom::Start(index * BLOCK))?;
        if disk::read_full(part, data)? && tree::block_hash(size, *index, data) == *hash {
            verified.insert(*index, *hash);
        }
    }
    let end_of_part = part.metadata()?.len();
    for span in offered.holes.spans() {
        let (start, end) = (span.start * BLOCK, span.end.saturating_mul(BLOCK).min(size));
        if start < end_of_part && sparse::has_data(part, start, end)? {
            // Something has been written where nothing belongs: the part is not what was recorded.
            return Ok(Blocks::new());
        }
    }
    Ok(verified)
}
