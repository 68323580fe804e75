//! Files that nobody else may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Makes a file for its owner only. One that could not be written is not left behind.
///
/// # Errors
///
/// There is a file already, or the system refuses.
pub(super) fn create(file: &Path, contents: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file)?.write_all(contents);
    written.inspect_err(|_| {
        // Half of it would stand in the next one's way.
        let _ = fs::remove_file(file);
    })
}
