//! The compiled sources of the workspace: files, their definitions, and the tests that are run.

mod cfg;
mod scan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::Table;

use crate::{root, text};
use scan::Scanned;

/// The files by their paths in the workspace.
pub struct Sources(BTreeMap<PathBuf, Scanned>);

/// A file at which the compiler starts.
struct Root {
    path: PathBuf,
    /// True if functions with `#[test]` are run there.
    has_harness: bool,
}

impl Sources {
    /// The sources of our crates, without examples and benchmarks.
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

    /// True if the compiler reads the file.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(Path::new(path))
    }

    /// True if the file defines a function, a type, a constant or a field `name`, outside of tests.
    pub fn defines(&self, path: &str, name: &str) -> bool {
        let file = self.0.get(Path::new(path));
        file.is_some_and(|file| file.definitions.contains(name))
    }

    /// True if the file has a test `name` that is run.
    pub fn tests(&self, path: &str, name: &str) -> bool {
        let file = self.0.get(Path::new(path));
        file.is_some_and(|file| file.tests.contains(name))
    }
}

/// The possible files of a module, each with true if its own modules are beside it.
fn files_of(file: &Path, is_root: bool, module: &scan::Module) -> Vec<(PathBuf, bool)> {
    let beside = file.parent().expect("a directory");
    let mut directory = if is_root {
        beside.to_owned()
    } else {
        file.with_extension("")
    };
    directory.extend(&module.within);
    if let Some(path) = &module.path {
        // The directory is beside the file, or within an inline module the directory of that module's files.
        let is_inline = !module.within.is_empty();
        let from = if is_inline { &directory } else { beside };
        return vec![(plain(&from.join(path)), true)];
    }
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

/// The libraries, programs and tests of all crates.
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
    let beside = fs::read_dir(directory.join("tests")).into_iter().flatten();
    let beside = beside.map(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            path.join("main.rs")
        } else {
            path
        }
    });
    let is_source = |path: &PathBuf| path.extension().is_some_and(|of| of == "rs");
    let beside: Vec<PathBuf> = beside
        .filter(is_source)
        .map(|path| path.strip_prefix(directory).expect("inside").to_owned())
        .collect();
    let within = directory.strip_prefix(root()).expect("inside");
    let found = roots_of(&manifest, &beside).into_iter();
    found
        .map(|(path, has_harness)| Root {
            path: within.join(path),
            has_harness,
        })
        .collect()
}

/// The root files, each with true if its tests are run: those in the manifest, and those that cargo finds in `tests`.
fn roots_of(manifest: &Table, beside: &[PathBuf]) -> BTreeMap<PathBuf, bool> {
    let of_package = |key| {
        let package = manifest.get("package")?;
        package.get(key).and_then(toml::Value::as_bool)
    };
    let mut roots = BTreeMap::new();
    if of_package("autotests") != Some(false) {
        roots.extend(beside.iter().map(|path| (path.clone(), true)));
    }
    for (kind, usual) in [("lib", "src/lib.rs"), ("bin", "src/main.rs"), ("test", "")] {
        if !usual.is_empty() {
            roots.insert(PathBuf::from(usual), true);
        }
        for target in targets(manifest, kind) {
            let (path, usual) = place(target, usual);
            usual.iter().for_each(|usual| {
                roots.remove(usual);
            });
            roots.insert(path, are_tests_run(target));
        }
    }
    roots
}

/// The manifest's library, programs or tests.
fn targets<'a>(manifest: &'a Table, kind: &str) -> Vec<&'a toml::Value> {
    match manifest.get(kind) {
        Some(toml::Value::Array(all)) => all.iter().collect(),
        one => one.into_iter().collect(),
    }
}

/// The root file of a target, and its possible root files without a `path`.
fn place(target: &toml::Value, usual: &str) -> (PathBuf, Vec<PathBuf>) {
    let of = |key| target.get(key).and_then(toml::Value::as_str);
    let usual = match of("name") {
        Some(name) if usual.is_empty() => {
            let file = PathBuf::from(format!("tests/{name}.rs"));
            vec![file, PathBuf::from(format!("tests/{name}/main.rs"))]
        }
        _ => vec![PathBuf::from(usual)],
    };
    match of("path") {
        Some(path) => (PathBuf::from(path), usual),
        None => (usual[0].clone(), usual),
    }
}

/// False if the target has its own `main`, is switched off, or is not always built.
fn are_tests_run(target: &toml::Value) -> bool {
    let is = |key| target.get(key).and_then(toml::Value::as_bool);
    let is_sometimes = target.get("required-features").is_some();
    !is_sometimes && is("harness") != Some(false) && is("test") != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 7] = [
        (
            "a/src/lib.rs",
            "mod b; mod inner { mod d; #[path = \"other.rs\"] mod e; } #[cfg(fuzzing)] mod off;",
        ),
        (
            "a/src/b.rs",
            "fn item() {} #[path = \"../tests/c.rs\"] mod c;",
        ),
        ("a/tests/c.rs", "#[test] fn shows() {}"),
        ("a/src/inner/d.rs", "struct Deep;"),
        ("a/src/inner/other.rs", "fn within() {}"),
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
        assert!(sources.defines("a/src/inner/other.rs", "within"));
        assert!(sources.has("a/src/b.rs") && !sources.has("a/src/nobody.rs"));
        assert!(!sources.defines("a/src/off.rs", "off"));
        assert!(!sources.defines("a/src/nobody.rs", "nobody"));
    }

    #[test]
    fn tests_without_a_harness_are_not_run() {
        assert!(!of(false).tests("a/tests/c.rs", "shows"));
    }

    #[test]
    fn manifests_say_which_tests_are_run() {
        let roots = |manifest: &str| {
            let beside = ["tests/a.rs", "tests/b/main.rs"].map(PathBuf::from);
            let manifest = manifest.parse().expect("a manifest");
            let roots = roots_of(&manifest, &beside).into_iter();
            let run = roots.filter(|(_, are_run)| *are_run);
            let run: Vec<String> = run.map(|(path, _)| path.display().to_string()).collect();
            run.join(" ")
        };
        for (manifest, run) in [
            ("", "src/lib.rs src/main.rs tests/a.rs tests/b/main.rs"),
            (
                "[lib]\ntest = false",
                "src/main.rs tests/a.rs tests/b/main.rs",
            ),
            (
                "[lib]\nharness = false",
                "src/main.rs tests/a.rs tests/b/main.rs",
            ),
            (
                "[lib]\npath = \"x.rs\"",
                "src/main.rs tests/a.rs tests/b/main.rs x.rs",
            ),
            ("[package]\nautotests = false", "src/lib.rs src/main.rs"),
            (
                "[[test]]\nname = \"a\"\nharness = false",
                "src/lib.rs src/main.rs tests/b/main.rs",
            ),
            (
                "[[test]]\nname = \"a\"\ntest = false",
                "src/lib.rs src/main.rs tests/b/main.rs",
            ),
            (
                "[[test]]\nname = \"a\"\nrequired-features = [\"x\"]",
                "src/lib.rs src/main.rs tests/b/main.rs",
            ),
            (
                "[[test]]\nname = \"a\"\npath = \"x.rs\"",
                "src/lib.rs src/main.rs tests/b/main.rs x.rs",
            ),
            (
                "[[test]]\nname = \"b\"\npath = \"tests/b/main.rs\"\nharness = false",
                "src/lib.rs src/main.rs tests/a.rs",
            ),
            (
                "[[bin]]\nname = \"x\"\ntest = false",
                "src/lib.rs tests/a.rs tests/b/main.rs",
            ),
        ] {
            assert_eq!(roots(manifest), run, "{manifest}");
        }
    }
}
