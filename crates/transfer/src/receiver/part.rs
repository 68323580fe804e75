//! A large file while it arrives: its part in the state folder, and its verified blocks.

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

/// The open part of a large file.
pub struct Part {
    content: File,
    verified: Blocks,
}

impl Part {
    /// Opens the part `name` in `state` of the file `offered`; the blocks `verified` are present.
    pub fn open(
        state: &Directory,
        name: &str,
        offered: &Offered,
        verified: Blocks,
    ) -> io::Result<Part> {
        let content = state.write(name, offered.is_executable())?;
        if verified.is_empty() {
            // Old content must not remain in ranges that are not written.
            disk::empty(&content)?;
        }
        Ok(Part { content, verified })
    }

    /// Writes the block `index`, whose `data` have the verified `hash`. In a sparse file its zeros stay holes.
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
        // Old content of an interrupted attempt must not remain here.
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

    /// The hash that verifies the whole file, if the verified blocks and the holes complete it.
    pub fn seal(&self, offered: &Offered) -> Option<Hash> {
        let missing = tree::blocks(offered.size) - offered.holes.count();
        if self.verified.len() as u64 != missing {
            return None;
        }
        let mut seal = Seal::of(offered);
        self.verified.values().for_each(|hash| seal.push(*hash));
        Some(seal.finish())
    }

    /// Sets the file's size, because its last range may be a hole.
    pub fn finish(self, offered: &Offered) -> io::Result<()> {
        self.content.set_len(offered.size)
    }
}

/// The recorded blocks that `part` really holds; none if there are data where it should have holes.
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
            // A hole contains data: the part is not what was recorded.
            return Ok(Blocks::new());
        }
    }
    Ok(verified)
}
