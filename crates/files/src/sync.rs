//! Syncs files and names, so that they survive a power failure.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Syncs the names in a directory. It does nothing if the directory may not be read, or its file system cannot do this.
///
/// A directory that may be written but not read (mode 0300, as for a drop box) cannot be opened, so no call syncs its
/// names. The file is then in place with synced content: only its new name may be lost in a power failure. An error would
/// say that it was not written.
pub fn names(directory: &Path) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
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
    names(directory)
}
