//! The hashes of a transfer's files, collected during the transfer.

use std::path::PathBuf;

use crate::event::Transferred;
use crate::message::{Held, Offered};
use crate::plan;
use crate::tree::Hash;

/// The hash that verifies each file of an offer ([`crate::seal`]).
pub struct Hashes(Vec<Hash>);

impl Hashes {
    /// A list for this many files, with no hash known.
    pub fn new(files: usize) -> Hashes {
        Hashes(vec![[0; blake3::OUT_LEN]; files])
    }

    /// Sets the hash of the file `file`.
    pub fn set(&mut self, file: u32, hash: Hash) {
        self.0[file as usize] = hash;
    }

    /// The transferred `files`, with all hashes known; `held` is their state before the transfer, and `path` maps an
    /// index to a path on this machine.
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
