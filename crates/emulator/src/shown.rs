//! A working thread's visible state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A view of a thread's state, which the thread updates and its owner reads.
#[derive(Debug, Default)]
pub(crate) struct Shown<T>(Arc<Mutex<T>>);

impl<T> Shown<T> {
    /// Locks the view for an update or a read, which must be short.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // A view is updated by plain assignments, so even a thread that panics leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shown<T> {
    fn clone(&self) -> Shown<T> {
        Shown(self.0.clone())
    }
}
