//! Arrows between crates are those of docs/ARCHITECTURE.md, and none of them goes up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::Table;

use crate::{root, text};

pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The crates of the workspace, and the crates in this table of their manifests.
pub fn manifests(table: &str) -> Arrows {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let read = crates.map(|entry| {
        let directory = entry.expect("an entry").path();
        let manifest: Table = text(&directory.join("Cargo.toml"))
            .parse()
            .expect("a manifest");
        let name = directory.file_name().expect("a name").to_string_lossy();
        let keys = manifest.get(table).and_then(toml::Value::as_table);
        let keys = keys.into_iter().flat_map(Table::keys).cloned();
        (name.into_owned(), keys.collect::<BTreeSet<_>>())
    });
    let all: Arrows = read.collect();
    let names: BTreeSet<String> = all.keys().cloned().collect();
    let ours = |(name, keys): (String, BTreeSet<String>)| (name, &keys & &names);
    all.into_iter().map(ours).collect()
}

/// The rows of the document's table, from the lowest room up: a crate, and the crates that it may use.
fn drawn() -> Vec<(String, BTreeSet<String>)> {
    let document = text(&root().join("docs/ARCHITECTURE.md"));
    let table = document.split("| crate | uses |").nth(1);
    let rows = table.expect("a table of crates").lines().skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| "));
    let names = |cell: &str| {
        let names = cell.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    rows.map(|row| {
        let mut cells = row.split('|').map(names);
        let name = cells.next().and_then(|mut name| name.pop_first());
        let uses = cells.next().expect("what it uses");
        (name.expect("a crate"), uses)
    })
    .collect()
}

#[test]
fn arrows_are_those_that_are_drawn() {
    let mut drawn: Arrows = drawn().into_iter().collect();
    for (name, uses) in manifests("dependencies") {
        let row = drawn.remove(&name);
        let manifest = "left: its manifest, right: its row in docs/ARCHITECTURE.md";
        assert_eq!(Some(uses), row, "{name}: {manifest}");
    }
    assert!(drawn.is_empty(), "{drawn:?} are drawn and not there");
}

#[test]
fn no_arrow_goes_up() {
    let mut below = BTreeSet::new();
    for (name, uses) in drawn() {
        let above: Vec<_> = uses.difference(&below).collect();
        assert!(
            above.is_empty(),
            "{name} uses {above:?}, which stand above it"
        );
        below.insert(name);
    }
}

/// Tests may use crates beside their own, but none that is built on it: neither room could be published alone.
#[test]
fn tests_look_at_nothing_above() {
    let arrows = manifests("dependencies");
    for (name, uses) in manifests("dev-dependencies") {
        let mut open: Vec<String> = uses.into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(used) = open.pop() {
            assert_ne!(used, name, "the tests of {name} use what is built on it");
            if seen.insert(used.clone()) {
                open.extend(arrows[&used].iter().cloned());
            }
        }
    }
}
