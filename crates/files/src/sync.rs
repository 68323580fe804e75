//! Syncs files and names, so that they survive a power failure.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Syncs the names in a directory. It does nothing if its file system cannot do this.
///
/// A directory that may be written but not read (mode 0300, as for a drop box) cannot be opened. Its whole file system is
/// then synced, through `one` of the files and directories in it.
pub fn names(directory: &Path, one: impl FnOnce() -> io::Result<File>) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Ok(rustix::fs::syncfs(one()?)?)
        }
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Syncs everything in a directory.
pub fn tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            tree(&path)?;
        } else {
            match File::open(path) {
                // The umask may forbid its writer to read it.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    rustix::fs::syncfs(File::open(directory)?)?;
                }
                file => file?.sync_all()?,
            }
        }
    }
    names(directory, || File::open(directory))
}
