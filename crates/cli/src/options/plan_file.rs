//! The file of a plan or a policy: its text, and the networks of the lists that it names.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use experiment::policy::MAX_NETWORKS;
use files::regular;
use fleet::{Prefix, Systems, SystemsError};

/// The most bytes of the text of a policy or a plan. Parsing it takes many times as much memory.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Reads the text of a policy or a plan.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_bytes(path)?;
    let text = text::decode(&bytes).map(str::to_owned);
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Reads the file of a policy or a plan as bytes.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)?
        .take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)?;
    check_length(&bytes)?;
    Ok(bytes)
}

/// Checks that a policy's text is no longer than the maximum.
pub fn check_length(text: &[u8]) -> io::Result<()> {
    if text.len() as u64 <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let most = MAX_TEXT_BYTES >> 20;
    Err(io::Error::other(format!(
        "is larger than {most} MiB; give its networks in a file of their own, with prefix_file"
    )))
}

/// The networks of a list that a policy or a plan names. Its path is relative to that file.
pub fn networks(of: &Path, list: &Path) -> Result<Vec<Prefix>, SystemsError> {
    let beside = of.parent().unwrap_or(Path::new(""));
    let opened = regular::open(&beside.join(list)).map_err(Into::into);
    opened.and_then(|file| Systems::list(file, MAX_NETWORKS))
}
