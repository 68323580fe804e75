//! A file's BLAKE3 hash, block by block.
//!
//! BLAKE3 is a tree: the hash of a file is computed from the chaining values of its aligned blocks. A block is
//! verified, kept and resumed by its own value, and the same values give the hash of the whole file, the one that
//! `b3sum` prints: every byte is hashed once. (BLAKE3 paper, "Tree Structure" and "Incremental Verification".)

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The size of a block in bytes: the unit that is verified, written and resumed. It is a power of two times BLAKE3's
/// chunk of 1 KiB, so a block is a whole subtree. A block takes two seconds at 1 Mbit/s, and its hash adds 0.01 %.
pub const BLOCK: u64 = 256 * 1024;

/// The hash of a block or a file.
pub type Hash = [u8; blake3::OUT_LEN];

/// The number of blocks of a file of `size` bytes.
pub fn blocks(size: u64) -> u64 {
    size.div_ceil(BLOCK)
}

/// The number of bytes of block `index` in a file of `size` bytes; 0 beyond its end.
pub fn block_len(size: u64, index: u64) -> usize {
    let rest = size.saturating_sub(index.saturating_mul(BLOCK));
    rest.min(BLOCK) as usize
}

/// The hash of block `index`, which is `data`, of a file of `size` bytes. In a file of one block or none it is the
/// file's own hash.
pub fn block_hash(size: u64, index: u64, data: &[u8]) -> Hash {
    if size <= BLOCK || data.is_empty() || data.len() != block_len(size, index) {
        return *blake3::hash(data).as_bytes();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(index.saturating_mul(BLOCK));
    hasher.update(data);
    hasher.finalize_non_root()
}

/// Computes a file's hash from its blocks' hashes, given in order. Its memory is one path down the tree.
#[derive(Debug, Default)]
pub struct Root {
    /// The roots of the complete subtrees so far, from large to small: one for each 1 in the binary form of `blocks`.
    /// The last two stay unmerged until the next block, because the root of the whole file is computed differently.
    subtrees: Vec<Hash>,
    blocks: u64,
}

impl Root {
    /// Adds the next block's hash.
    pub fn push(&mut self, block: Hash) {
        while self.subtrees.len() > self.blocks.count_ones() as usize {
            self.merge();
        }
        self.subtrees.push(block);
        self.blocks += 1;
    }

    /// The hash of the file.
    pub fn finish(mut self) -> blake3::Hash {
        while self.subtrees.len() > 2 {
            self.merge();
        }
        match self.subtrees.as_slice() {
            [] => blake3::hash(b""),
            [left, right] => merge_subtrees_root(left, right, Mode::Hash),
            [only, ..] => blake3::Hash::from_bytes(*only),
        }
    }

    fn merge(&mut self) {
        if let Some(right) = self.subtrees.pop()
            && let Some(left) = self.subtrees.pop()
        {
            let parent = merge_subtrees_non_root(&left, &right, Mode::Hash);
            self.subtrees.push(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_blocks(content: &[u8]) -> blake3::Hash {
        let size = content.len() as u64;
        let mut root = Root::default();
        for (index, block) in content.chunks(BLOCK as usize).enumerate() {
            assert_eq!(block.len(), block_len(size, index as u64));
            root.push(block_hash(size, index as u64, block));
        }
        root.finish()
    }

    #[test]
    fn the_root_is_the_hash_of_the_whole_file() {
        let block = BLOCK as usize;
        let mut sizes = vec![0, 1, 1024, block - 1, block, block + 1];
        for blocks in 2..20 {
            sizes.extend([blocks * block - 1, blocks * block, blocks * block + 1]);
        }
        let longest = *sizes.iter().max().unwrap();
        let content: Vec<u8> = (0..longest).map(|i| (i * 31 % 251) as u8).collect();
        for size in sizes {
            let content = &content[..size];
            assert_eq!(by_blocks(content), blake3::hash(content), "{size} bytes");
        }
    }

    #[test]
    fn a_block_hash_depends_on_its_place() {
        let data = vec![1; BLOCK as usize];
        assert_ne!(
            block_hash(4 * BLOCK, 0, &data),
            block_hash(4 * BLOCK, 1, &data)
        );
    }

    #[test]
    fn sizes_at_the_edge_of_the_integer() {
        assert_eq!(blocks(0), 0);
        assert_eq!(blocks(u64::MAX), 1 << 46);
        assert_eq!(block_len(u64::MAX, (1 << 46) - 1), BLOCK as usize - 1);
        assert_eq!(block_len(5 << 30, 5 * 4096), 0);
        assert_eq!(block_len(10, u64::MAX), 0);
    }
}
