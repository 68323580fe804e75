//! Removal of duplicates.

use std::collections::HashSet;
use std::hash::Hash;

/// The distinct items, in the order of their first occurrence.
pub fn distinct<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let all = all.into_iter();
    all.filter(|one| seen.insert(one.clone())).collect()
}
