//! `fullpipe-proof intervals`.

use serde_json::Value;

use crate::support::{fullpipe as proof, refused};

#[test]
fn simulated_studies_are_counted() {
    let output = proof(["intervals", "--studies", "3", "--json"]).output();
    let output = output.expect("runs");
    let kinds: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(kinds.as_array().map(Vec::len), Some(5));
    assert_eq!(kinds[4]["strata"]["within"]["studies"], 3);
    assert_eq!(kinds[1]["without_effect"]["throughput"]["studies"], 3);
    refused(["intervals", "--studies", "0"], 2, &["--studies", "1"]);
}
