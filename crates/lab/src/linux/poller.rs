//! Which sockets have something to do, or else what time it is.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use units::Duration;

/// The longest wait, so that a poller's owner looks up now and then.
const LONGEST: Duration = Duration::from_millis(5);

/// How many sockets are told of at once.
const AT_ONCE: usize = 256;

/// The timer's token.
const TIMER: u64 = u64::MAX;

/// Waits for sockets. A socket is told of when it becomes ready (`EPOLLET`), not while it is: who is told uses it until it
/// would block.
pub(super) struct Poller {
    epoll: OwnedFd,
    /// Wakes to the nanosecond, where `epoll_wait` counts in milliseconds.
    timer: OwnedFd,
    events: Vec<Event>,
}

/// A socket has become ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready {
    /// What the socket was added with.
    pub token: u64,
    /// To be read from, if only an end or an error.
    pub readable: bool,
    /// To be written to.
    pub writable: bool,
}

impl Poller {
    /// # Errors
    ///
    /// The system has no more file descriptors.
    pub fn new() -> io::Result<Poller> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let events = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), events)?;
        Ok(Poller {
            epoll,
            timer,
            events: Vec::with_capacity(AT_ONCE),
        })
    }

    /// Tells of this socket under `token` until it is closed. The last two tokens are not for sockets.
    ///
    /// # Errors
    ///
    /// The system has too many watches.
    pub fn add(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let events = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(token),
            events,
        )?)
    }

    /// Tells of sockets that have become ready; waits for one no longer than `patience`, and a few milliseconds at most.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn wait(&mut self, patience: Duration, mut each: impl FnMut(Ready)) -> io::Result<()> {
        let longest = patience.min(LONGEST);
        if !longest.is_zero() && longest < LONGEST {
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value: timespec(longest),
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        }
        let timeout = if longest.is_zero() { longest } else { LONGEST };
        self.events.clear();
        let waited = epoll::wait(
            &self.epoll,
            spare_capacity(&mut self.events),
            Some(&timespec(timeout)),
        );
        match waited {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let (token, flags) = (event.data.u64(), event.flags);
            if token == TIMER {
                continue;
            }
            let ended = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
            each(Ready {
                token,
                readable: flags.intersects(EventFlags::IN | ended),
                writable: flags.contains(EventFlags::OUT),
            });
        }
        Ok(())
    }
}

fn timespec(span: Duration) -> Timespec {
    let span = std::time::Duration::from(span);
    span.try_into().expect("less than 600 years")
}
