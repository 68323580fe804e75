//! Cancellation of a thread's work.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::Error;

/// The sleep of an idle thread before it asks to be woken: it is then woken once for everything that has arrived
/// meanwhile, and not for each piece.
const PAUSE: Duration = Duration::from_millis(1);

/// The message of the error; nobody is left to read it.
const STOPPED: &str = "nobody waits for it any more";

/// Tells a thread to stop, because its work is no longer needed. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Stop(CancellationToken);

impl Stop {
    /// Stops the work.
    pub fn set(&self) {
        self.0.cancel();
    }

    /// Stops the work when the returned guard is dropped.
    pub fn on_drop(&self) -> DropGuard {
        self.0.clone().drop_guard()
    }

    /// Checks that the work may go on.
    ///
    /// # Errors
    /// The work was stopped.
    pub fn check(&self) -> io::Result<()> {
        if self.0.is_cancelled() {
            return Err(io::Error::other(STOPPED));
        }
        Ok(())
    }

    /// Blocks this thread, which belongs to a runtime for blocking work, until `future` is done. Calls `idle` before a
    /// long wait.
    ///
    /// # Errors
    /// The work was stopped.
    pub fn wait<T>(
        &self,
        future: impl Future<Output = T>,
        idle: impl FnOnce(),
    ) -> Result<T, Error> {
        let mut future = pin!(future);
        if let Some(done) = future.as_mut().now_or_never() {
            return Ok(done);
        }
        thread::sleep(PAUSE);
        if let Some(done) = future.as_mut().now_or_never() {
            return Ok(done);
        }
        idle();
        Handle::current().block_on(async {
            tokio::select! {
                biased;
                () = self.0.cancelled() => Err(Error::System(STOPPED.to_owned())),
                done = future => Ok(done),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::task::Poll;

    use tokio::task::spawn_blocking;

    use super::*;

    /// A short wait does not even ask to be woken.
    #[tokio::test]
    async fn nobody_wakes_a_thread_for_what_comes_within_a_moment() {
        let waiting = spawn_blocking(|| {
            let mut asked = 0;
            let future = poll_fn(|_| {
                asked += 1;
                if asked == 2 {
                    Poll::Ready(7)
                } else {
                    Poll::Pending
                }
            });
            Stop::default().wait(future, || panic!("it is not idle"))
        });
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }

    #[tokio::test]
    async fn a_thread_that_waits_for_long_is_idle_and_can_be_stopped() {
        let stop = Stop::default();
        let ours = stop.clone();
        let (tell, told) = tokio::sync::oneshot::channel();
        let waiting = spawn_blocking(move || {
            let idle = || tell.send(()).unwrap();
            ours.wait(pending::<()>(), idle)
        });
        told.await.unwrap();
        drop(stop.on_drop());
        assert!(waiting.await.unwrap().is_err());
    }
}
