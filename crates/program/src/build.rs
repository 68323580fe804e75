//! The program's identity, on which results depend.

use std::fs;

use crate::failure::Failure;

/// A text that identifies the build of this program, because results of another build are not reused.
pub fn build() -> Result<String, Failure> {
    let read = std::env::current_exe().and_then(fs::File::open);
    let hash = read.and_then(|file| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        Ok(hasher.finalize())
    });
    hash.map(|hash| hash.to_hex().to_string())
        .map_err(|error| Failure::failed(format_args!("cannot read the program itself: {error}")))
}
