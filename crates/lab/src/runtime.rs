//! Threads that drive connections in real time.

use std::io;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Creates a runtime with this number of threads.
///
/// # Errors
///
/// The system does not grant them. tokio itself would panic then, and might leave started threads behind.
pub fn runtime(threads: usize) -> io::Result<Runtime> {
    // The workers, and one thread for blocking calls.
    are_granted(threads + 1)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("fullpipe")
        .thread_keep_alive(Duration::MAX)
        .enable_all()
        .build()?;
    // tokio panics if it has no thread for blocking calls and cannot start one. With one thread, it waits for that.
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}

/// Checks that the process may start this many more threads at once.
///
/// # Errors
///
/// It may not start them.
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
