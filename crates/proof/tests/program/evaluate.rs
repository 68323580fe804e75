//! `fullpipe-proof evaluate`, and its page of results.

use std::fs;
use std::path::Path;

use evaluate::{Comparison, Criteria, Extent, REFERENCES, Subject, Work};
use lab::Cancel;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use scenario::FlowSpec;

use crate::support::{fullpipe as proof, refused};

#[test]
fn each_controller_has_a_column() {
    let only = ["evaluate", "--quick", "--quiet", "--only", "constrained"];
    let found = proof(only).assert().success();
    let told = contains("cubic: better by 0, safe by 1").and(contains("bbr3: "));
    found.stdout(told.and(contains("compared with")));
    refused(
        ["evaluate", "--only", "constraned"],
        2,
        &["--only", "`constrained`"],
    );
    let part = ["evaluate", "--only", "constrained", "--document", "r.md"];
    refused(part, 2, &["--only", "--document"]);
}

/// Whatever changes a verdict of these cheap rows changes others, and the page is made anew.
#[test]
fn the_page_has_the_results_of_this_program() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/evaluate.md");
    let page = fs::read_to_string(page).expect("there");
    let names = ["constrained", "constrained-loss", "collapse"];
    let criteria = Criteria::named(&names).expect("rows");
    let subject = Subject::built_in(FlowSpec::new(REFERENCES[0].into()));
    let work = Work::new(&subject, &criteria, Extent::QUICK);
    let references = work.run_references(&subject, None, &|_| (), &Cancel::new());
    let results = Comparison(&references).markdown();
    let rows = results.lines().filter(|line| line.starts_with("| "));
    let missing: Vec<&str> = rows.filter(|row| !page.contains(row)).collect();
    assert!(
        missing.is_empty(),
        "docs/results/evaluate.md lacks {missing:#?}; fullpipe-proof evaluate --document makes it"
    );
}
