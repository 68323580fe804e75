//! The documents about the code's structure are true: its rooms and arrows, and the paths that they name.

mod circles;
mod contents;
mod features;
mod floors;
mod modules;
mod parts;
mod paths;
mod rooms;
mod skips;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is there")
}

/// The content of the file.
fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
