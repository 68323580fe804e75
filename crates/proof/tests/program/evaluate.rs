//! `fullpipe-proof evaluate`.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

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
