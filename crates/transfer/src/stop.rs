//! Work of a thread that ends when nobody waits for it any more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a thread that nobody waits for its work. Its clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Stops the work when this is dropped.
#[derive(Debug)]
pub struct StopGuard(Stop);

impl Stop {
    /// Nobody waits any more.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The same, when what this gives is dropped.
    pub fn on_drop(&self) -> StopGuard {
        StopGuard(self.clone())
    }

    /// Whether the work goes on.
    ///
    /// # Errors
    /// Nobody waits any more.
    pub fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        Ok(())
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.set();
    }
}
