//! A driver's waker, which other threads call when there is something to do.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes a driver when there is something to do.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// The receiving end of a thread's waker. A call of the waker costs a system call only if the thread sleeps.
pub(super) struct WakerReceiver {
    /// Readable after a call in the thread's sleep.
    pipe: PipeReader,
    state: Arc<WakerState>,
}

#[derive(Default)]
struct WakerState {
    is_asleep: AtomicBool,
    is_woken: AtomicBool,
}

impl WakerReceiver {
    /// Makes the two ends of a waker. The thread may also call the waker itself, so the call never blocks.
    pub(super) fn new() -> io::Result<(WakerReceiver, Waker)> {
        let (pipe, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let state = Arc::new(WakerState::default());
        let receiver = WakerReceiver {
            pipe,
            state: state.clone(),
        };
        let waker = move || {
            // Each side first writes its own flag, and then reads the other's. So at least one of them sees the other's
            // flag, and no call is lost.
            state.is_woken.store(true, Ordering::SeqCst);
            if state.is_asleep.swap(false, Ordering::SeqCst) {
                // This fails if the pipe is full, and then the thread wakes up anyway. It also fails if the thread has
                // panicked. Those who wait for its connections detect this themselves.
                let _ = io::Write::write(&mut &writer, &[0]);
            }
        };
        Ok((receiver, Arc::new(waker)))
    }

    /// Called before the thread waits for the pipe. Returns true if the waker was called already, so that it must not
    /// wait.
    pub(super) fn fall_asleep(&self) -> bool {
        self.state.is_asleep.store(true, Ordering::SeqCst);
        self.state.is_woken.load(Ordering::SeqCst)
    }

    /// Called after that. Returns true if the waker was called since the last call.
    pub(super) fn wake_up(&self, is_readable: bool) -> bool {
        self.state.is_asleep.store(false, Ordering::SeqCst);
        if is_readable {
            let _ = io::Read::read(&mut &self.pipe, &mut [0; 64]);
        }
        self.state.is_woken.swap(false, Ordering::SeqCst)
    }

    /// The file descriptor to wait for.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec};

    use super::*;

    /// Returns the number of bytes in the pipe.
    fn calls(receiver: &WakerReceiver) -> u64 {
        rustix::io::ioctl_fionread(receiver.file()).unwrap()
    }

    #[test]
    fn only_a_sleeper_is_woken_and_once() {
        let (receiver, waker) = WakerReceiver::new().unwrap();
        // These are more calls than the pipe has room for.
        (0..1 << 17).for_each(|_| waker());
        assert_eq!(calls(&receiver), 0);
        assert!(receiver.fall_asleep());
        assert!(receiver.wake_up(false) && !receiver.wake_up(false));
        assert!(!receiver.fall_asleep());
        (0..1 << 17).for_each(|_| waker());
        assert_eq!(calls(&receiver), 1);
        assert!(receiver.wake_up(true));
        assert_eq!(calls(&receiver), 0);
        assert!(!receiver.fall_asleep());
    }

    /// Whatever the order in which the threads run.
    #[test]
    fn no_call_is_lost() {
        let (receiver, waker) = WakerReceiver::new().unwrap();
        let (ask, asked) = std::sync::mpsc::channel();
        let calling = thread::spawn(move || {
            for number in 0..20_000 {
                ask.send(number).unwrap();
                waker();
            }
        });
        let mut heard = 0;
        while heard < 20_000 {
            let is_woken = receiver.fall_asleep();
            let mut files = [PollFd::from_borrowed_fd(receiver.file(), PollFlags::IN)];
            let timeout = Timespec {
                tv_sec: if is_woken { 0 } else { 60 },
                tv_nsec: 0,
            };
            let woken = rustix::event::poll(&mut files, Some(&timeout)).unwrap();
            assert!(woken > 0 || is_woken, "a call is lost");
            if receiver.wake_up(woken > 0) {
                heard += asked.try_iter().count();
            }
        }
        calling.join().unwrap();
    }
}
