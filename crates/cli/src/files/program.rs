//! What results depend on beside what was asked for: the program and the processors.

use std::fs;
use std::num::NonZeroUsize;
use std::thread;

use lab::EngineKind;

use crate::failure::Failure;

/// What tells this program from others, older and newer ones: results of another are not this one's.
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

/// How many runs at a time: as many as were asked for, or else as many as the engine and the machine are good for.
pub fn jobs(asked: Option<NonZeroUsize>, engine: EngineKind) -> usize {
    match (asked, engine.is_real_time()) {
        (Some(jobs), _) => jobs.get(),
        // They would measure each other.
        (None, true) => 1,
        (None, false) => thread::available_parallelism().map_or(1, NonZeroUsize::get),
    }
}
