//! docs/statements.toml: the statements of publications, with their implementations and evidence. The tests notice a
//! statement that loses its code, its claim or its test, and an expectation of a claim without a statement.

mod check;
mod claims;
mod page;
mod results;
mod sources;
mod table;

use std::path::{Path, PathBuf};
use std::{env, fs};

use claims::Claims;
use sources::Sources;
use table::Table;

const DATA: &str = "docs/statements.toml";
const PAGE: &str = "docs/statements.md";
const CLAIMS: &str = "scenarios/claims/claims.toml";
const RESULTS: &str = "docs/results/claims.md";

/// The variable with the value `write` makes the test rewrite the page.
const VARIABLE: &str = "STATEMENTS";

/// The workspace.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is there")
}

/// The text of the file.
fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn table() -> Table {
    Table::parse(&text(&root().join(DATA))).unwrap_or_else(|error| panic!("{DATA}: {error}"))
}

fn claims() -> Claims {
    let claims = Claims::parse(&text(&root().join(CLAIMS)));
    claims.unwrap_or_else(|error| panic!("{CLAIMS}: {error}"))
}

impl check::Workspace for Sources {
    fn has_file(&self, path: &str) -> bool {
        let is_source = path.ends_with(".rs");
        (!is_source || self.has(path)) && root().join(path).is_file()
    }

    fn defines(&self, path: &str, item: &str) -> bool {
        Sources::defines(self, path, item)
    }

    fn tests(&self, path: &str, name: &str) -> bool {
        Sources::tests(self, path, name)
    }
}

#[test]
fn each_is_what_it_says() {
    let faults = check::faults(&table(), &claims(), &Sources::of_the_workspace());
    assert!(faults.is_empty(), "{DATA}:\n{}", faults.join("\n"));
}

#[test]
fn the_page_is_made_of_the_data() {
    let failed = results::failed(&text(&root().join(RESULTS)));
    let page = page::page(&table(), &claims(), &failed);
    let path = root().join(PAGE);
    if env::var(VARIABLE).is_ok_and(|value| value == "write") {
        fs::write(&path, &page).expect("written");
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|there| there == page);
    let how = format!("{VARIABLE}=write cargo test -p fullpipe-proof --test statements");
    assert!(
        is_current,
        "{PAGE} is not made of {DATA} and {RESULTS}. Write it anew: {how}"
    );
}

#[test]
fn the_results_are_of_this_table() {
    let faults = results::faults(&text(&root().join(RESULTS)), &claims());
    let how = format!("cargo run --release -p fullpipe-proof -- claims --document {RESULTS}");
    assert!(
        faults.is_empty(),
        "{RESULTS} has not what {CLAIMS} expects. Write it anew: {how}\n{}",
        faults.join("\n")
    );
}
