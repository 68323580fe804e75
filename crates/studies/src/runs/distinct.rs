//! What there is of something.

use std::collections::HashSet;
use std::hash::Hash;

/// These without repetitions, in the order in which they are met first.
pub fn distinct<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let all = all.into_iter();
    all.filter(|one| seen.insert(one.clone())).collect()
}
