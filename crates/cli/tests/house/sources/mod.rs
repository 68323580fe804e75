//! What is compiled of the workspace: which files, what they define, and which tests are run.

mod cfg;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::Table;

use crate::{root, text};
use scan::Scanned;

/// The files by their paths in the workspace.
pub struct Sources(BTreeMap<PathBuf, Scanned>);

/// Where the compiler starts.
struct Root {
    path: PathBuf,
    /// Whether functions with `#[test]` are run there.
    has_harness: bool,
}

impl Sources {
    /// Those of our crates, without examples and benchmarks.
    pub fn of_the_workspace() -> Sources {
        let read = |path: &Path| fs::read_to_string(root().join(path)).ok();
        Sources::of(roots(), read)
    }

    fn of(roots: Vec<Root>, read: impl Fn(&Path) -> Option<String>) -> Sources {
        let mut sources = Sources(BTreeMap::new());
        for root in roots {
            // Only a root and a `mod.rs` have their modules beside them.
            let mut waiting = vec![(root.path.clone(), true)];
            while let Some((path, is_root)) = waiting.pop() {
                let Some(text) = read(&path) else { continue };
                let mut scanned =
                    scan::scan(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                if !root.has_harness {
                    scanned.tests.clear();
                }
                for module in &scanned.modules {
                    waiting.extend(files_of(&path, is_root, module));
                }
                sources.0.entry(path).or_default().add(scanned);
            }
        }
        sources
    }

    /// Whether a function, a type, a constant or a field `name` is defined in the file, outside of tests.
    pub fn defines(&self, path: &str, name: &str) -> bool {
        let file = self.0.get(Path::new(path));
        file.is_some_and(|file| file.definitions.contains(name))
    }

    /// Whether the file has a test `name` that is run.
    pub fn tests(&self, path: &str, name: &str) -> bool {
        let file = self.0.get(Path::new(path));
        file.is_some_and(|file| file.tests.contains(name))
    }
}

/// Where the file of a module may be, and whether its own modules are beside it.
fn files_of(file: &Path, is_root: bool, module: &scan::Module) -> Vec<(PathBuf, bool)> {
    let beside = file.parent().expect("a directory");
    if let Some(path) = &module.path {
        return vec![(plain(&beside.join(path)), true)];
    }
    let mut directory = if is_root {
        beside.to_owned()
    } else {
        file.with_extension("")
    };
    directory.extend(&module.within);
    vec![
        (directory.join(format!("{}.rs", module.name)), false),
        (directory.join(&module.name).join("mod.rs"), true),
    ]
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Libraries, programs and tests of all crates.
fn roots() -> Vec<Root> {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let directories = crates.map(|entry| entry.expect("an entry").path());
    directories
        .flat_map(|directory| of_crate(&directory))
        .collect()
}

fn of_crate(directory: &Path) -> Vec<Root> {
    let manifest: Table = text(&directory.join("Cargo.toml"))
        .parse()
        .expect("a manifest");
    let silent = without_harness(&manifest);
    let mut found = vec![
        (directory.join("src/lib.rs"), true),
        (directory.join("src/main.rs"), true),
    ];
    for entry in fs::read_dir(directory.join("tests")).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let has_harness = !silent.contains(&*name);
        let file = if path.is_dir() {
            path.join("main.rs")
        } else {
            path
        };
        found.push((file, has_harness));
    }
    let ours = |(path, has_harness): (PathBuf, bool)| {
        let path = path.strip_prefix(root()).ok()?.to_owned();
        Some(Root { path, has_harness })
    };
    found.into_iter().filter_map(ours).collect()
}

/// The tests that have a `main` of their own, are switched off or not always built.
fn without_harness(manifest: &Table) -> BTreeSet<String> {
    let tests = manifest.get("test").and_then(toml::Value::as_array);
    let is_off = |test: &&toml::Value| {
        let is = |key| test.get(key).and_then(toml::Value::as_bool);
        let is_sometimes = test.get("required-features").is_some();
        is_sometimes || is("harness") == Some(false) || is("test") == Some(false)
    };
    let silent = tests.into_iter().flatten().filter(is_off);
    let name = |test: &toml::Value| Some(test.get("name")?.as_str()?.to_owned());
    silent.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 6] = [
        (
            "a/src/lib.rs",
            "mod b; mod inner { mod d; } #[cfg(fuzzing)] mod off;",
        ),
        (
            "a/src/b.rs",
            "fn item() {} #[path = \"../tests/c.rs\"] mod c;",
        ),
        ("a/tests/c.rs", "#[test] fn shows() {}"),
        ("a/src/inner/d.rs", "struct Deep;"),
        ("a/src/off.rs", "fn off() {}"),
        ("a/src/nobody.rs", "fn nobody() {}"),
    ];

    fn of(has_harness: bool) -> Sources {
        let read = |path: &Path| {
            let file = FILES.iter().find(|(name, _)| Path::new(name) == path);
            file.map(|(_, text)| (*text).to_owned())
        };
        let path = PathBuf::from("a/src/lib.rs");
        Sources::of(vec![Root { path, has_harness }], read)
    }

    #[test]
    fn files_are_reached_through_modules() {
        let sources = of(true);
        assert!(sources.defines("a/src/b.rs", "item"));
        assert!(sources.defines("a/src/inner/d.rs", "Deep"));
        assert!(sources.tests("a/tests/c.rs", "shows"));
        assert!(!sources.defines("a/src/off.rs", "off"));
        assert!(!sources.defines("a/src/nobody.rs", "nobody"));
    }

    #[test]
    fn tests_without_a_harness_are_not_run() {
        assert!(!of(false).tests("a/tests/c.rs", "shows"));
        let manifest = r#"
            test = [
                { name = "a", harness = false },
                { name = "b" },
                { name = "c", test = false },
                { name = "d", required-features = ["x"] },
            ]
        "#;
        let silent = without_harness(&manifest.parse().expect("a manifest"));
        assert_eq!(Vec::from_iter(silent), ["a", "c", "d"]);
    }
}
