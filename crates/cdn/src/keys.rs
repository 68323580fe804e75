//! The keys of the studies with arms drawn again.

use experiment::Key;

use crate::spec::Spec;

/// The number of studies with arms drawn again.
const REDRAWS: u64 = 100;

/// The same if lines share a link. Each of these studies takes a run.
const SHARED_REDRAWS: u64 = 10;

/// The keys of the studies with arms drawn again.
pub(crate) fn redraws(spec: &Spec) -> impl Iterator<Item = Key> {
    let count = if spec.shared.is_empty() {
        REDRAWS
    } else {
        SHARED_REDRAWS
    };
    (0..count).map(|draw| Key::of_seed(&format!("{}, drawn again: {draw}", spec.seed)))
}
