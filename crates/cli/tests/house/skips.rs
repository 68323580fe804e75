//! Tests report skipped checks with `skip!`, so that they are visible and counted.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{root, text};

/// The Rust files in this directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension() == Some(OsStr::new("rs")) {
            found.push(path);
        }
    }
}

#[test]
fn nobody_prints_them_by_hand() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let word = ["SKIP", "PED"].concat();
    let others = files
        .iter()
        .filter(|file| !file.starts_with(root().join("crates/skipping")));
    let by_hand: Vec<_> = others
        .filter(|file| text(file).contains(&format!("\"{word}")))
        .collect();
    assert!(by_hand.is_empty(), "use `skipping::skip!`: {by_hand:?}");
}
