//! Files that only their owner may read.

use std::io;
use std::path::Path;

use files::{NewFile, Readers};

/// Writes a new file as a whole. It touches no other file of the user's directory.
///
/// # Errors
///
/// The file exists already, or the system refuses. If only the sync of the directory fails, the file is there.
pub(super) fn create(file: &Path, contents: &[u8]) -> io::Result<()> {
    let written = NewFile::create_unswept(file, Readers::Owner)
        .and_then(|new| new.write_all(contents).and_then(|()| new.commit_new()));
    written.map_err(|error| error.source)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_private_file_is_its_owners_alone_and_others_beside_it_stay() {
        let directory = tempfile::tempdir().unwrap();
        let [file, other] =
            ["token", "token.999999999.part"].map(|name| directory.path().join(name));
        fs::write(&other, "other").unwrap();
        create(&file, b"secret").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"secret");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read(&other).unwrap(), b"other");
        let error = create(&file, b"another").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"secret");
    }
}
