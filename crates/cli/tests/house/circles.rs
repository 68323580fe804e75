//! Circles of files within a crate are those with a reason in docs/ARCHITECTURE.md.
//!
//! A file uses another one of its crate if its code, without tests, has a path (`use` or not) to an item that the
//! other one defines. Four rules:
//!
//! - Re-exports are followed to the definition. They are not uses themselves.
//! - `mod name;` is not a use.
//! - A file is part of the modules that contain it. So it may use the files above it: `probe_bw.rs` its `mod.rs`.
//! - Only paths are followed, not calls of methods.
//!
//! A circle is a maximal set of files that all lead to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::{self, Arrows};
use crate::{root, text};

type Circle = BTreeSet<String>;

/// The files that this one leads to, by one or more arrows.
fn reached(arrows: &Arrows, from: &Path) -> BTreeSet<PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in &arrows[file] {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

fn circles(arrows: &Arrows) -> BTreeSet<BTreeSet<PathBuf>> {
    let reached: BTreeMap<_, _> = arrows
        .keys()
        .map(|file| (file, reached(arrows, file)))
        .collect();
    let circles = reached.iter().filter(|(file, to)| to.contains(**file));
    let circles = circles.map(|(file, to)| {
        let both = to.iter().filter(|other| reached[other].contains(*file));
        both.cloned().collect()
    });
    circles.collect()
}

/// The root files of each crate's library and program.
fn roots() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let sources = crates.map(|entry| entry.expect("an entry").path().join("src"));
    let roots = sources.flat_map(|sources| ["lib.rs", "main.rs"].map(|name| sources.join(name)));
    roots.filter(|file| file.exists()).collect()
}

/// The circles with a reason: the first column of the table.
fn drawn() -> BTreeSet<Circle> {
    let document = text(&root().join("docs/ARCHITECTURE.md"));
    let table = document.split("| circle | reason |").nth(1);
    let rows = table.expect("a table of circles").lines().skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| "));
    let files = |row: &str| {
        let cell = row.split('|').next().unwrap_or_default();
        let names = cell.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    };
    rows.map(files).collect()
}

/// The path of a file in the workspace.
fn name(file: &Path) -> String {
    let within = file.strip_prefix(root()).expect("inside");
    within.display().to_string()
}

/// The arrows of a circle, one line for each file.
fn shown(circle: &BTreeSet<PathBuf>, arrows: &Arrows) -> String {
    let lines = circle.iter().map(|file| {
        let to = arrows[file].intersection(circle).map(|to| name(to));
        format!("  {} -> {}\n", name(file), to.collect::<Vec<_>>().join(" "))
    });
    lines.collect::<String>() + "\n"
}

#[test]
fn circles_of_files_have_a_reason() {
    let drawn = drawn();
    let (mut files, mut arrows, mut found) = (0, 0, BTreeSet::new());
    let mut without = String::new();
    for from in roots() {
        let of_crate = modules::arrows(&from);
        files += of_crate.len();
        arrows += of_crate.values().map(BTreeSet::len).sum::<usize>();
        for circle in circles(&of_crate) {
            let names: Circle = circle.iter().map(|file| name(file)).collect();
            if !drawn.contains(&names) {
                without += &shown(&circle, &of_crate);
            }
            found.insert(names);
        }
    }
    println!(
        "{files} files, {arrows} arrows between them, {} circles",
        found.len()
    );
    assert!(
        without.is_empty(),
        "circles without a reason in docs/ARCHITECTURE.md:\n{without}"
    );
    let opened: Vec<_> = drawn.difference(&found).collect();
    assert!(
        opened.is_empty(),
        "docs/ARCHITECTURE.md has a reason for circles that are none: {opened:#?}"
    );
}
