//! The hash that verifies a whole file.
//!
//! Usually this is its BLAKE3 hash, the same as that of `b3sum`, which follows from its blocks' hashes
//! ([`crate::tree`]). If blocks of the file are holes, it is the BLAKE3 hash over the hashes of the other blocks, in
//! order. Each of these depends on its position, and the positions of the holes are in the offer. The plain BLAKE3
//! hash would need the hash of each hole, which cannot be precomputed, because BLAKE3 mixes the position of each chunk
//! into it (BLAKE3 paper, "Mode of Operation"). Holes of terabytes, which are not sent, would take hours.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::disk;
use crate::message::Offered;
use crate::sparse;
use crate::stop::Stop;
use crate::tree::{self, BLOCK, Hash, Root};

/// Computes the hash that verifies a file from the hashes of its blocks outside holes, given in order.
pub enum Seal {
    /// The tree of all blocks.
    Root(Root),
    /// The hash over the blocks outside holes.
    Blocks(Box<blake3::Hasher>),
}

impl Seal {
    /// The seal of `offered`, without any block.
    pub fn of(offered: &Offered) -> Seal {
        if offered.holes.is_empty() {
            Seal::Root(Root::default())
        } else {
            Seal::Blocks(Box::default())
        }
    }

    /// Adds the next block's hash.
    pub fn push(&mut self, hash: Hash) {
        match self {
            Seal::Root(root) => root.push(hash),
            Seal::Blocks(hasher) => _ = hasher.update(&hash),
        }
    }

    /// The hash that verifies the file.
    pub fn finish(self) -> Hash {
        let hash = match self {
            Seal::Root(root) => root.finish(),
            Seal::Blocks(hasher) => hasher.finalize(),
        };
        *hash.as_bytes()
    }
}

/// The hash that verifies `file`, computed by reading it, if it matches `offered`; `None` if it has another size, or
/// data in place of holes. Ends early if `stop` is set.
pub fn of_file(file: &File, offered: &Offered, stop: &Stop) -> io::Result<Option<Hash>> {
    if file.metadata()?.len() != offered.size {
        return Ok(None);
    }
    let blocks = tree::blocks(offered.size);
    let mut seal = Seal::of(offered);
    let mut buffer = Vec::with_capacity(BLOCK as usize);
    let mut holes = offered.holes.spans();
    let mut at = 0;
    while at < blocks {
        let hole = holes.next().unwrap_or(blocks..blocks);
        for index in at..hole.start {
            stop.check()?;
            if !read(file, offered, index, &mut buffer)? {
                return Ok(None);
            }
            seal.push(tree::block_hash(offered.size, index, &buffer));
        }
        at = hole.end;
        if !is_hole(file, offered, hole, &mut buffer, stop)? {
            return Ok(None);
        }
    }
    Ok(Some(seal.finish()))
}

/// True if these blocks of `file` hold nothing but zeros.
fn is_hole(
    file: &File,
    offered: &Offered,
    blocks: Range<u64>,
    buffer: &mut Vec<u8>,
    stop: &Stop,
) -> io::Result<bool> {
    let end = blocks.end.saturating_mul(BLOCK).min(offered.size);
    if blocks.is_empty() || !sparse::has_data(file, blocks.start * BLOCK, end)? {
        return Ok(true);
    }
    // Data may be zeros, and not every file system reports holes.
    for index in blocks {
        stop.check()?;
        if !read(file, offered, index, buffer)? || sparse::filled(buffer).next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads the block `index` into `buffer`; `false` if the file ends earlier.
fn read(file: &File, offered: &Offered, index: u64, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let len = tree::block_len(offered.size, index);
    buffer.clear();
    let count = disk::append(file, index * BLOCK, len, buffer)?;
    buffer.truncate(len);
    Ok(count >= len)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::message::Kind;
    use crate::ranges::Ranges;

    fn offered(size: u64, holes: Ranges) -> Offered {
        Offered {
            path: "x".to_owned(),
            size,
            kind: Kind::File {
                executable: false,
                sparse: !holes.is_empty(),
            },
            holes,
        }
    }

    #[test]
    fn a_file_without_holes_has_its_blake3_hash() {
        let file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..3 * BLOCK + 5).map(|i| (i % 251) as u8).collect();
        for len in [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let content = &content[..len as usize];
            file.set_len(0).unwrap();
            file.write_all_at(content, 0).unwrap();
            let offered = offered(len, Ranges::default());
            let hash = of_file(&file, &offered, &Stop::default()).unwrap();
            assert_eq!(hash, Some(*blake3::hash(content).as_bytes()), "{len}");
        }
    }

    /// Hashing each block of a hole would take hours for 64 TiB.
    #[test]
    fn a_hole_of_any_size_costs_nothing() {
        let file = tempfile::tempfile().unwrap();
        let size = 1 << 42;
        if file.set_len(size).is_err() || sparse::has_data(&file, 0, size).unwrap() {
            skipping::skip!("this file system has no holes of 4 TiB");
            return;
        }
        let last = tree::blocks(size) - 1;
        file.write_all_at(b"data", last * BLOCK).unwrap();
        let mut holes = Ranges::default();
        assert!(holes.push(0, last));
        let offered = offered(size, holes);
        let stop = Stop::default();
        let hash = of_file(&file, &offered, &stop).unwrap();
        let mut block = vec![0; BLOCK as usize];
        block[..4].copy_from_slice(b"data");
        let mut seal = Seal::of(&offered);
        seal.push(tree::block_hash(size, last, &block));
        assert_eq!(hash, Some(seal.finish()));
        // Zeros do not invalidate a hole; other data do.
        file.write_all_at(&[0; 9], 5 * BLOCK).unwrap();
        let mut narrow = offered.clone();
        narrow.size = 8 * BLOCK;
        narrow.holes = Ranges::of(0..7);
        file.set_len(narrow.size).unwrap();
        assert!(of_file(&file, &narrow, &stop).unwrap().is_some());
        file.write_all_at(&[1], 5 * BLOCK + 9).unwrap();
        assert_eq!(of_file(&file, &narrow, &stop).unwrap(), None);
        stop.set();
        assert!(of_file(&file, &narrow, &stop).is_err());
    }
}
