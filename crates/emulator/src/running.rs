//! A thread that works until its owner drops it.

use std::io::{self, PipeReader, PipeWriter};
use std::panic::resume_unwind;
use std::thread::{self, Builder, JoinHandle};

/// A working thread. It stops when it is told to, or when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    /// Open as long as the thread is to run.
    until_closed: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts a thread that runs the work that `prepare` returns. The work ends when its end of a pipe becomes
    /// readable. The preparation is complete when this returns.
    ///
    /// # Errors
    /// The system refuses a pipe or a thread.
    pub(crate) fn start<Work: FnOnce() + Send + 'static>(
        name: &str,
        prepare: impl FnOnce(PipeReader) -> Work,
    ) -> io::Result<Running> {
        let (stop, until_closed) = io::pipe()?;
        let work = prepare(stop);
        let thread = Builder::new().name(name.into()).spawn(work)?;
        Ok(Running {
            until_closed: Some(until_closed),
            thread: Some(thread),
        })
    }

    /// True if the thread is still working.
    pub(crate) fn is_running(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| !thread.is_finished())
    }

    /// Tells the thread to stop, and waits for its end.
    ///
    /// # Panics
    /// The thread panicked. What it has counted until then is nothing that anybody may believe.
    pub(crate) fn halt(&mut self) {
        if let Err(panic) = self.end() {
            resume_unwind(panic);
        }
    }

    fn end(&mut self) -> thread::Result<()> {
        // The thread's end of the pipe becomes readable when ours is closed.
        self.until_closed = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A panic of the thread has been reported, and there is nothing to undo.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_of_the_thread_is_one_of_whoever_stops_it_and_none_when_dropped() {
        let panicking = || Running::start("panicking", |_| || panic!("on purpose")).unwrap();
        drop(panicking());
        let mut stopped = panicking();
        assert!(catch_unwind(AssertUnwindSafe(|| stopped.halt())).is_err());
    }
}
