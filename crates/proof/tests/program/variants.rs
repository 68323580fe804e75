//! `fullpipe-proof variants`.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::support::{fullpipe as proof, refused};

#[test]
fn a_study_of_the_current_bbr_alone_is_compared() {
    let found = proof(["variants", "initial-window", "--quick", "--quiet"]).assert();
    let found = found.success();
    found.stdout(contains("initial-window").and(contains("by more than a tenth")));
    let both = proof(["variants", "probe-rtt-alone", "--quick"]).assert();
    both.success()
        .stdout(contains("each of these studies runs"));
    refused(["variants", "initial-windows"], 2, &["no study is called"]);
    let kept = ["variants", "initial-window", "--document", "r.md"];
    refused(kept, 2, &["--document", "all studies"]);
}
