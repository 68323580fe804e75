//! The file of a plan or a policy: its text, and the networks of the lists that it names.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use clap::{Command, Subcommand};
use files::regular;
use fleet::{Prefix, Systems, SystemsError};

use crate::options::other_file;

/// The most bytes of the text of a policy or a plan. Parsing it takes many times as much memory.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Reads the text of a policy or a plan.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_beginning(path)?;
    if let Some(what) = other_file::no_text(&bytes) {
        return Err(io::Error::other(what));
    }
    check_length(&bytes)?;
    let text = text::decode(&bytes).map(str::to_owned);
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Reads the file of a policy or a plan as bytes.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = read_beginning(path)?;
    check_length(&bytes)?;
    Ok(bytes)
}

/// At most one byte more than a policy or a plan may have.
fn read_beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)?
        .take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The advice for a file that does not exist: `what` it has to be, or one of these subcommands, which was misspelt.
pub fn advice<S: Subcommand>(what: &str) -> String {
    let command = S::augment_subcommands(Command::new("any"));
    let all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    format!(
        "give the file of {what}, or a subcommand: {}",
        all.join(", ")
    )
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

/// The networks of a list that a policy or a plan names, as they are read. Its path is relative to that file.
pub fn networks(
    of: &Path,
    list: &Path,
) -> Result<impl Iterator<Item = Result<Prefix, SystemsError>> + use<>, SystemsError> {
    let beside = of.parent().unwrap_or(Path::new(""));
    let opened = regular::open(&beside.join(list)).map_err(Into::into);
    opened.and_then(Systems::list)
}
