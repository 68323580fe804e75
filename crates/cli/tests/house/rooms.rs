//! Arrows between crates are those of docs/ARCHITECTURE.md, and none of them goes up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::{root, text};

pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// A room's directory, and its manifest.
type Manifests = BTreeMap<String, Table>;

/// The crates of the workspace, and those that each is built with.
pub fn built_with() -> Arrows {
    arrows(&["dependencies", "build-dependencies"])
}

/// The crates of the workspace, and the crates in these tables of their manifests.
fn arrows(tables: &[&str]) -> Arrows {
    let parse = |file: &Path| -> Table { text(file).parse().expect("a manifest") };
    let workspace = parse(&root().join("Cargo.toml"));
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let read = crates.map(|entry| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, parse(&entry.path().join("Cargo.toml")))
    });
    let rooms: Manifests = read.collect();
    let uses = |manifest| uses(manifest, tables, &workspace, &rooms);
    let arrows = rooms.iter().map(|(name, of)| (name.clone(), uses(of)));
    arrows.collect()
}

/// The rooms in these tables of a manifest, for all targets.
fn uses(
    manifest: &Table,
    tables: &[&str],
    workspace: &Table,
    rooms: &Manifests,
) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values);
    let all = targets.filter_map(Value::as_table).chain([manifest]);
    let all = all.flat_map(|of| tables.iter().filter_map(|name| of.get(*name)));
    let dependencies = all.filter_map(Value::as_table).flatten();
    dependencies
        .filter_map(|(key, dependency)| {
            let shared = dependency.get("workspace").is_some();
            let dependency = if shared {
                &workspace["workspace"]["dependencies"][key]
            } else {
                dependency
            };
            let field = |name| dependency.get(name).and_then(Value::as_str);
            let package = field("package").unwrap_or(key);
            let directory =
                field("path").and_then(|path| path.trim_end_matches('/').rsplit('/').next());
            let mut rooms = rooms.iter();
            let room = rooms.find(|(name, manifest)| {
                directory == Some(name) || manifest["package"]["name"].as_str() == Some(package)
            });
            Some(room?.0.clone())
        })
        .collect()
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
    for (name, uses) in built_with() {
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
    let below = built_with();
    for (name, uses) in arrows(&["dev-dependencies"]) {
        let mut open: Vec<String> = uses.into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(used) = open.pop() {
            assert_ne!(used, name, "the tests of {name} use what is built on it");
            if seen.insert(used.clone()) {
                open.extend(below[&used].iter().cloned());
            }
        }
    }
}

#[test]
fn every_spelling_of_a_dependency_counts() {
    let parse = |text: &str| -> Table { text.parse().expect("a manifest") };
    let workspace = parse(
        "[workspace.dependencies]\nl = { package = 'fullpipe-lab', path = 'crates/lab' }\ntoml = '1'",
    );
    let lab = parse("package.name = 'fullpipe-lab'");
    let rooms = BTreeMap::from([("lab".to_owned(), lab)]);
    let uses = |text: &str| {
        uses(
            &parse(text),
            &["dependencies", "build-dependencies"],
            &workspace,
            &rooms,
        )
    };
    for text in [
        "[dependencies]\nl.workspace = true",
        "[dependencies]\nx = { package = 'fullpipe-lab', version = '0.1' }",
        "[dependencies]\nx.path = '../lab/'",
        "[dependencies]\nfullpipe-lab = '0.1'",
        "[build-dependencies]\nl.workspace = true",
        "[target.'cfg(unix)'.dependencies]\nl.workspace = true",
        "[target.x86_64-unknown-linux-gnu.build-dependencies]\nl.workspace = true",
    ] {
        assert!(uses(text).contains("lab"), "{text}");
    }
    for text in [
        "[dependencies]\ntoml.workspace = true",
        "[dev-dependencies]\nl.workspace = true",
    ] {
        assert!(uses(text).is_empty(), "{text}");
    }
}
