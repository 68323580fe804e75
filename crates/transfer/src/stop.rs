//! Work of a thread that ends when nobody waits for it any more.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::Error;

/// A thread that finds nothing to do sleeps for so long before it asks to be woken: it is then woken once for all that has come
/// meanwhile, and not for each piece of it.
const PAUSE: Duration = Duration::from_millis(1);

/// Nobody is left to hear of it.
const STOPPED: &str = "nobody waits for it any more";

/// Tells a thread that nobody waits for its work. Its clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Stop(CancellationToken);

impl Stop {
    /// Nobody waits any more.
    pub fn set(&self) {
        self.0.cancel();
    }

    /// The same, when what this gives is dropped.
    pub fn on_drop(&self) -> DropGuard {
        self.0.clone().drop_guard()
    }

    /// Whether the work goes on.
    ///
    /// # Errors
    /// Nobody waits any more.
    pub fn check(&self) -> io::Result<()> {
        if self.0.is_cancelled() {
            return Err(io::Error::other(STOPPED));
        }
        Ok(())
    }

    /// Waits on this thread, which is one of a runtime for work that blocks, until `future` is done. Calls `idle` before the
    /// thread waits for longer than a moment.
    ///
    /// # Errors
    /// Nobody waits any more.
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

    /// It does not even ask to be woken.
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
