//! A feature that compiles programs for the kernel does it in every crate below: a part of a program that lacks them would be
//! found out by its users.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::rooms::built_with;
use crate::{root, text};

/// The features of a crate, and what each turns on.
fn features(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let manifest = root().join("crates").join(name).join("Cargo.toml");
    let manifest: Table = text(&manifest).parse().expect("a manifest");
    let features = manifest.get("features").and_then(Value::as_table);
    let words = |value: &Value| {
        let words = value.as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let all = features.into_iter().flatten();
    all.map(|(feature, on)| (feature.clone(), words(on)))
        .collect()
}

#[test]
fn programs_for_the_kernel_are_in_all_crates_or_none() {
    let mut looked_at = 0;
    for (name, uses) in built_with() {
        let with_load = uses
            .iter()
            .filter(|used| features(used).contains_key("load"));
        let needed: BTreeSet<_> = with_load.map(|used| format!("{used}/load")).collect();
        let of_kernel = features(&name)
            .into_iter()
            .filter(|(feature, _)| feature == "load" || feature == "kernel");
        for (feature, on) in of_kernel {
            let missing: Vec<_> = needed.difference(&on).collect();
            assert!(
                missing.is_empty(),
                "{name}: the feature {feature} does not turn on {missing:?}"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 0, "no crate has such a feature");
}
