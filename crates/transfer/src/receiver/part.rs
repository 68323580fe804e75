//! A large file on its way in: its part in the state folder, and which of its blocks are verified.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use super::journal::Record;
use crate::directory::Directory;
use crate::disk::{self, Disk};
use crate::message::Offered;
use crate::seal::Seal;
use crate::sparse;
use crate::stop::Stop;
use crate::tree::{self, BLOCK, Hash};

/// The verified blocks of a large file.
pub type Blocks = BTreeMap<u64, Hash>;

/// The part of a large file, open.
pub struct Part {
    content: File,
    verified: Blocks,
}

impl Part {
    /// Opens the part `name` in `state` of the file `offered`, of which the blocks `verified` are there.
    pub fn open(
        state: &Directory,
        name: &str,
        offered: &Offered,
        verified: Blocks,
    ) -> io::Result<Part> {
        let content = state.write(name, offered.is_executable())?;
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
        let content = &self.content;
        // What an interrupted attempt has left there must not shine through.
        let leave_holes =
            offered.is_sparse() && !sparse::has_data(content, start, start + data.len() as u64)?;
        if leave_holes {
            let mut pages = sparse::filled(data);
            pages.try_for_each(|(at, page)| disk.write(content, page, start + at))?;
        } else {
            disk.write(content, data, start)?;
        }
        self.verified.insert(index, hash);
        Ok(())
    }

    /// What the whole file is verified by, if the verified blocks and the holes are all there is.
    pub fn seal(&self, offered: &Offered) -> Option<Hash> {
        let missing = tree::blocks(offered.size) - offered.holes.count();
        if self.verified.len() as u64 != missing {
            return None;
        }
        let mut seal = Seal::of(offered);
        self.verified.values().for_each(|hash| seal.push(*hash));
        Some(seal.finish())
    }

    /// Gives the file its size: what it ends with may be a hole.
    pub fn finish(self, offered: &Offered) -> io::Result<()> {
        self.content.set_len(offered.size)
    }
}

/// Those of the recorded blocks that `part` truly holds; none if there are data where it should have holes.
pub fn verified(
    part: &File,
    offered: &Offered,
    records: &[Record],
    stop: &Stop,
) -> io::Result<Blocks> {
    let size = offered.size;
    let mut verified = Blocks::new();
    let mut buffer = Vec::with_capacity(BLOCK as usize);
    let blocks = tree::blocks(size);
    let claims = |record: &&Record| record.index < blocks && !offered.holes.contains(record.index);
    for Record { index, hash, .. } in records.iter().filter(claims) {
        stop.check()?;
        buffer.clear();
        let len = tree::block_len(size, *index);
        let is_there = disk::append(part, index * BLOCK, len, &mut buffer)? >= len;
        buffer.truncate(len);
        if is_there && tree::block_hash(size, *index, &buffer) == *hash {
            verified.insert(*index, *hash);
        }
    }
    let end_of_part = part.metadata()?.len();
    for span in offered.holes.spans() {
        stop.check()?;
        let (start, end) = (span.start * BLOCK, span.end.saturating_mul(BLOCK).min(size));
        if start < end_of_part && sparse::has_data(part, start, end)? {
            // Something has been written where nothing belongs: the part is not what was recorded.
            return Ok(Blocks::new());
        }
    }
    Ok(verified)
}
