//! What a working thread shows of itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A view of a thread's state that the thread renews and its owner reads.
#[derive(Debug, Default)]
pub(crate) struct Shown<T>(Arc<Mutex<T>>);

impl<T> Shown<T> {
    /// The view, to be renewed or read, and to be let go of quickly.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // A view is renewed as a whole by plain assignments, so even a thread that panics leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shown<T> {
    fn clone(&self) -> Shown<T> {
        Shown(self.0.clone())
    }
}
