//! Files that only their owner may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Creates a file for its owner only. If it cannot be written, it is removed.
///
/// # Errors
///
/// The file exists already, or the system refuses.
pub(super) fn create(file: &Path, contents: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file)?.write_all(contents);
    written.inspect_err(|_| {
        // A partial file would block the next attempt.
        let _ = fs::remove_file(file);
    })
}
