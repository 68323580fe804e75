//! Waits for sockets that are ready, or for a time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use units::Duration;

/// The longest wait, so that the caller can check for other events.
const MAX_WAIT: Duration = Duration::from_millis(5);

/// The most events that one call returns.
const MAX_EVENTS: usize = 256;

/// The timer's token.
const TIMER: u64 = u64::MAX;

/// Waits for sockets. A socket is reported once when it becomes ready (`EPOLLET`); the caller then uses it until it
/// would block.
pub(super) struct Poller {
    epoll: OwnedFd,
    /// Timer with nanosecond resolution; `epoll_wait` counts milliseconds.
    timer: OwnedFd,
    events: Vec<Event>,
}

/// A socket that has become ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready {
    /// The token with which the socket was added.
    pub token: u64,
    /// Whether a read returns at once: with data, an end or an error.
    pub readable: bool,
    /// Whether there is room to write.
    pub writable: bool,
}

impl Poller {
    /// # Errors
    ///
    /// The process has no file descriptors left.
    pub fn new() -> io::Result<Poller> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let events = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), events)?;
        Ok(Poller {
            epoll,
            timer,
            events: Vec::with_capacity(MAX_EVENTS),
        })
    }

    /// Reports this socket under `token` until it is closed. The last two tokens are reserved.
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

    /// Calls `each` for sockets that have become ready. Waits for one no longer than `timeout`, and at most a few
    /// milliseconds.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn wait(&mut self, timeout: Duration, mut each: impl FnMut(Ready)) -> io::Result<()> {
        let longest = timeout.min(MAX_WAIT);
        if !longest.is_zero() && longest < MAX_WAIT {
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value: timespec(longest),
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        }
        let epoll_timeout = if longest.is_zero() { longest } else { MAX_WAIT };
        self.events.clear();
        let waited = epoll::wait(
            &self.epoll,
            spare_capacity(&mut self.events),
            Some(&timespec(epoll_timeout)),
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
