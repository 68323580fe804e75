//! Files that only their owner may read.

use std::io;
use std::path::Path;

use files::{NewFile, Readers};

/// Writes a new file as a whole.
///
/// # Errors
///
/// The file exists already, or the system refuses.
pub(super) fn create(file: &Path, contents: &[u8]) -> io::Result<()> {
    let written = NewFile::create(file, Readers::Owner)
        .and_then(|new| new.write_all(contents).and_then(|()| new.commit_new()));
    written.map_err(|error| error.source)
}
