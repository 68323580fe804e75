//! What makes files and names last through a power failure.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Makes the names in a directory last. A directory that may not be read, or whose file system cannot do this, is as it is.
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

/// Makes all that is in a directory last.
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
