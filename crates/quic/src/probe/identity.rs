//! A receiver's identity in a file, so that senders recognize it after a restart.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::private_file;
use crate::endpoint::{EndpointError, Identity};

/// The maximum size of an identity's file, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// An error of an identity's file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The system refuses access.
    #[error("cannot use {}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has other contents.
    #[error("{} is not an identity of a receiver; name another file", .0.display())]
    Foreign(PathBuf),
    /// A new identity could not be made.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

/// Reads the identity in `file`. If there is no such file, makes a new one, readable by its owner only.
///
/// # Errors
///
/// The file cannot be read or made, or has other contents.
pub fn identity_in(file: &Path) -> Result<Identity, IdentityError> {
    let failed = |source| IdentityError::File {
        file: file.to_owned(),
        source,
    };
    let foreign = || IdentityError::Foreign(file.to_owned());
    match fs::metadata(file) {
        Ok(there) if !there.is_file() || there.len() > MAX_FILE_BYTES => return Err(foreign()),
        Ok(_) => {
            let bytes = fs::read(file).map_err(failed)?;
            let parts: (Vec<u8>, Vec<u8>) = postcard::from_bytes(&bytes).map_err(|_| foreign())?;
            let identity = Identity::from_der(parts.0, parts.1);
            return identity.is_sound().then_some(identity).ok_or_else(foreign);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let identity = Identity::generate()?;
    let parts = (identity.certificate_der(), identity.key_der());
    let bytes = postcard::to_stdvec(&parts).map_err(|error| failed(io::Error::other(error)))?;
    private_file::create(file, &bytes).map_err(failed)?;
    Ok(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_gives_the_same_identity() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("identity");
        let first = identity_in(&file).unwrap().fingerprint();
        assert_eq!(identity_in(&file).unwrap().fingerprint(), first);
        for text in [&b""[..], b"garbage", &[1, 7, 1, 7]] {
            fs::write(&file, text).unwrap();
            assert!(matches!(identity_in(&file), Err(IdentityError::Foreign(_))));
        }
        assert!(matches!(
            identity_in(directory.path()),
            Err(IdentityError::Foreign(_))
        ));
        let nowhere = directory.path().join("no/identity");
        assert!(matches!(
            identity_in(&nowhere),
            Err(IdentityError::File { .. })
        ));
    }
}
