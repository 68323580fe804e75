//! Threads on which connections in real time are driven.

use std::io;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// A runtime with so many threads.
///
/// # Errors
///
/// The system does not grant them. tokio itself panics then, and may leave what it has started behind.
pub fn runtime(threads: usize) -> io::Result<Runtime> {
    // One more than its workers: for what blocks.
    are_granted(threads + 1)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("fullpipe")
        .thread_keep_alive(Duration::MAX)
        .enable_all()
        .build()?;
    // tokio panics where it has no thread yet for what blocks and gets none. With one, it waits for that.
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}

/// Asks whether the process may have so many more threads at once.
///
/// # Errors
///
/// It may not.
pub fn are_granted(threads: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        (0..threads).try_for_each(|_| {
            let wait = || drop(gate.lock());
            thread::Builder::new().spawn_scoped(scope, wait).map(drop)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_threads() {
        let runtime = runtime(2).expect("threads");
        assert_eq!(runtime.metrics().num_workers(), 2);
    }
}
