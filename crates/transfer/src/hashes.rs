//! The hashes of a transfer's files, as they become known.

use std::path::PathBuf;

use crate::event::Transferred;
use crate::message::{Held, Offered};
use crate::plan;
use crate::tree::Hash;

/// What each file of an offer is verified by ([`crate::seal`]).
pub struct Hashes(Vec<Hash>);

impl Hashes {
    /// Those of so many files, none of them known.
    pub fn new(files: usize) -> Hashes {
        Hashes(vec![[0; blake3::OUT_LEN]; files])
    }

    /// That of the file `file` is `hash`.
    pub fn set(&mut self, file: u32, hash: Hash) {
        self.0[file as usize] = hash;
    }

    /// What was transferred, with all hashes known: `files`, of which `held` was there before; `path` says where the file at a
    /// place is.
    pub fn transferred(
        &self,
        files: &[Offered],
        held: &[Held],
        path: impl Fn(usize) -> PathBuf,
    ) -> Vec<Transferred> {
        let files = files.iter().zip(&self.0).enumerate();
        let files = files.filter(|(_, (file, _))| !file.is_directory());
        files
            .map(|(place, (file, hash))| Transferred {
                name: file.path.clone(),
                path: path(place),
                size: file.size,
                data: file.data(),
                hash: file.holes.is_empty().then_some(*hash),
                resumed: plan::resumed(held, place, file),
            })
            .collect()
    }
}
