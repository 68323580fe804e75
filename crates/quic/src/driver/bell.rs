//! A driver's bell, which other threads ring when there is something to do.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes a driver when there is something to do.
pub type Bell = Arc<dyn Fn() + Send + Sync>;

/// The receiving end of a thread's bell. A ring costs a system call only if the thread sleeps.
pub(super) struct BellReceiver {
    /// Readable after a ring in the thread's sleep.
    pipe: PipeReader,
    state: Arc<EarState>,
}

#[derive(Default)]
struct EarState {
    is_asleep: AtomicBool,
    is_rung: AtomicBool,
}

impl BellReceiver {
    /// Makes the two ends of a bell. The thread may also ring the bell itself, so ringing never blocks.
    pub(super) fn new() -> io::Result<(BellReceiver, Bell)> {
        let (pipe, rope) = io::pipe()?;
        rustix::io::ioctl_fionbio(&rope, true)?;
        let state = Arc::new(EarState::default());
        let receiver = BellReceiver {
            pipe,
            state: state.clone(),
        };
        let bell = move || {
            // Each side first writes its own flag, and then reads the other's. So at least one of them sees the other's
            // flag, and no ring is lost.
            state.is_rung.store(true, Ordering::SeqCst);
            if state.is_asleep.swap(false, Ordering::SeqCst) {
                // This fails if the pipe is full, and then the thread wakes up anyway. It also fails if the thread has
                // panicked. Those who wait for its connections detect this themselves.
                let _ = io::Write::write(&mut &rope, &[0]);
            }
        };
        Ok((receiver, Arc::new(bell)))
    }

    /// Called before the thread waits for the pipe. Returns true if the bell has rung already, so that it must not
    /// wait.
    pub(super) fn fall_asleep(&self) -> bool {
        self.state.is_asleep.store(true, Ordering::SeqCst);
        self.state.is_rung.load(Ordering::SeqCst)
    }

    /// Called after that. Returns true if the bell has rung since the last call.
    pub(super) fn wake_up(&self, is_readable: bool) -> bool {
        self.state.is_asleep.store(false, Ordering::SeqCst);
        if is_readable {
            let _ = io::Read::read(&mut &self.pipe, &mut [0; 64]);
        }
        self.state.is_rung.swap(false, Ordering::SeqCst)
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
    fn calls(receiver: &BellReceiver) -> u64 {
        rustix::io::ioctl_fionread(receiver.file()).unwrap()
    }

    #[test]
    fn only_a_sleeper_is_woken_and_once() {
        let (receiver, bell) = BellReceiver::new().unwrap();
        // These are more rings than the pipe has room for.
        (0..1 << 17).for_each(|_| bell());
        assert_eq!(calls(&receiver), 0);
        assert!(receiver.fall_asleep());
        assert!(receiver.wake_up(false) && !receiver.wake_up(false));
        assert!(!receiver.fall_asleep());
        (0..1 << 17).for_each(|_| bell());
        assert_eq!(calls(&receiver), 1);
        assert!(receiver.wake_up(true));
        assert_eq!(calls(&receiver), 0);
        assert!(!receiver.fall_asleep());
    }

    /// Whatever the order in which the threads run.
    #[test]
    fn no_ring_is_lost() {
        let (receiver, bell) = BellReceiver::new().unwrap();
        let (ask, asked) = std::sync::mpsc::channel();
        let ringing = thread::spawn(move || {
            for number in 0..20_000 {
                ask.send(number).unwrap();
                bell();
            }
        });
        let mut heard = 0;
        while heard < 20_000 {
            let is_rung = receiver.fall_asleep();
            let mut files = [PollFd::from_borrowed_fd(receiver.file(), PollFlags::IN)];
            let timeout = Timespec {
                tv_sec: if is_rung { 0 } else { 60 },
                tv_nsec: 0,
            };
            let woken = rustix::event::poll(&mut files, Some(&timeout)).unwrap();
            assert!(woken > 0 || is_rung, "a ring is lost");
            if receiver.wake_up(woken > 0) {
                heard += asked.try_iter().count();
            }
        }
        ringing.join().unwrap();
    }
}
