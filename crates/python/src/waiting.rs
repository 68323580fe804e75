//! Work that Python waits for, and that Ctrl-C ends.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lab::Cancel;
use pyo3::prelude::*;

/// How often Python's signals are looked at: soon enough for whoever presses Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);

/// Does the work on a thread of its own, while other threads of Python go on.
///
/// # Errors
///
/// What a signal handler raised: `KeyboardInterrupt` after Ctrl-C. The work has been cancelled then, and has ended.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    watched(py, cancel, |_| Ok(()), work)
}

/// As [`interruptible`]; meanwhile, `look` is called now and then, and ends the work by what it raises.
///
/// # Errors
///
/// Those of [`interruptible`], and what `look` raised.
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
        // Work that panics is finished without being done.
        while !is_done.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(LOOK));
            if let Err(raised) = py.check_signals().and_then(|()| look(py)) {
                cancel.cancel();
                // Its outcome is of no interest any more.
                let _ = py.detach(|| worker.join());
                return Err(raised);
            }
        }
        worker
            .join()
            .or_else(|panicked| panic::resume_unwind(panicked))
    })
}
