//! The targets of links and the paths in documents exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{root, text};

/// All documents for people.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["", "docs", "docs/results"] {
        let entries = fs::read_dir(root().join(directory)).expect("a directory");
        let files = entries.map(|entry| entry.expect("an entry").path());
        found.extend(files.filter(|file| file.extension().is_some_and(|is| is == "md")));
    }
    assert!(found.len() > 10, "{found:?}");
    found
}

/// The parts of `text` between `start` and `end`.
pub fn between<'t>(text: &'t str, start: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    let parts = text.split(start).skip(1);
    parts.filter_map(move |part| Some(part.split_once(end)?.0))
}

/// The text without blocks of code.
pub fn prose(text: &str) -> String {
    let parts = text.split("\n```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || "-_".contains(c) => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

fn has_anchor(document: &Path, wanted: &str) -> bool {
    let text = prose(&text(document));
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|line| anchor(line.trim_start_matches('#').trim()) == wanted)
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let text = prose(&text(&document));
        let here = document.parent().expect("a directory");
        for link in between(&text, "](", ')') {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                document.clone()
            } else {
                here.join(path)
            };
            let shown = format!("{}: {link}", document.display());
            assert!(target.exists(), "{shown}: there is no such file");
            assert!(
                anchor.is_empty() || has_anchor(&target, anchor),
                "{shown}: there is no such heading"
            );
        }
    }
}

/// Paths such as `crates/path/src/link.rs`: spans of code that begin with a directory of the repository. Placeholders
/// in capitals and patterns are left out.
#[test]
fn paths_that_are_named_are_there() {
    let ours = [
        "crates/",
        "docs/",
        "scenarios/",
        "bench/",
        "fuzz/",
        ".ci/",
        ".github/",
    ];
    let mut seen = 0;
    for document in documents() {
        let text = prose(&text(&document));
        for path in text.split('`').skip(1).step_by(2) {
            let is_ours = ours.iter().any(|directory| path.starts_with(directory));
            let is_pattern = path.contains(['*', ' ', '<']) || path.contains("NAME");
            if is_ours && !is_pattern {
                seen += 1;
                let there = root().join(path).exists();
                assert!(there, "{}: there is no {path}", document.display());
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
