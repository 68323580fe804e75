//! Work that Python waits for, and that Ctrl-C ends.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lab::Cancel;
use pyo3::prelude::*;

/// The interval at which Python's signals are checked: short enough for Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Does the work on a separate thread, while other Python threads continue.
///
/// # Errors
///
/// A signal handler raised an exception: `KeyboardInterrupt` after Ctrl-C. The work was cancelled then, and has ended.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    watched(py, cancel, |_| Ok(()), work)
}

/// As [`interruptible`], but also calls `look` at intervals. An exception from it ends the work.
///
/// # Errors
///
/// Those of [`interruptible`], and exceptions from `look`.
pub fn watched<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    mut look: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let is_done = AtomicBool::new(false);
    let waiter = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let made = work();
            is_done.store(true, Ordering::Release);
            waiter.unpark();
            made
        });
        // Work that panics ends without setting the flag.
        while !is_done.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(SIGNAL_INTERVAL));
            if let Err(raised) = py.check_signals().and_then(|()| look(py)) {
                cancel.cancel();
                // The outcome no longer matters.
                let _ = py.detach(|| worker.join());
                return Err(raised);
            }
        }
        worker
            .join()
            .or_else(|panicked| panic::resume_unwind(panicked))
    })
}
