//! The table of contents of the site (docs/SUMMARY.md) has every page of docs/ once.

use std::fs;

use crate::paths::{between, prose};
use crate::{root, text};

/// The pages of the folder, as the contents name them.
fn pages_of(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join("docs").join(folder)).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| format!("{folder}{}", name.to_str().expect("text")));
    names.filter(|name| name.ends_with(".md")).collect()
}

#[test]
fn every_page_is_in_the_contents_once() {
    let contents = prose(&text(&root().join("docs/SUMMARY.md")));
    let listed: Vec<_> = between(&contents, "](", ')').collect();
    let mut pages = pages_of("");
    pages.extend(pages_of("results/"));
    assert!(pages.len() > 40, "{pages:?}");
    for page in &pages {
        let times = listed.iter().filter(|listed| *listed == page).count();
        assert_eq!(times, 1, "docs/SUMMARY.md has {page} {times} times");
    }
    assert_eq!(listed[0], "../README.md", "the front page");
}
