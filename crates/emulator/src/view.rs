//! A working thread's visible state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A view of a thread's state, which the thread updates and its owner reads.
#[derive(Debug, Default)]
pub(crate) struct View<T>(Arc<Mutex<T>>);

impl<T> View<T> {
    /// Locks the view for an update or a read, which must be short.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // A view is updated by plain assignments, so even a thread that panics leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for View<T> {
    fn clone(&self) -> View<T> {
        View(self.0.clone())
    }
}
