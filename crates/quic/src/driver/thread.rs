//! The thread of a socket.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::engine::Engine;
use super::shared::Shared;
use super::socket::Socket;

/// Starts it. It ends when all connections are over and nobody holds the endpoint.
pub(super) fn start(socket: Socket, endpoint: noq_proto::Endpoint) -> io::Result<Arc<Shared>> {
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let bell = Arc::new(Bell(bell));
    let shared = Arc::new(Shared::new(endpoint, Waker::from(bell.clone())));
    let engine = Engine::new(shared.clone(), Instant::now());
    let driven = shared.clone();
    std::thread::Builder::new()
        .name("fullpipe-quic".to_owned())
        .spawn(move || drive(socket, &driven, engine, &bell))?;
    Ok(shared)
}

/// Ends a sleep.
struct Bell(OwnedFd);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // It fails only if it rings already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

fn drive(mut socket: Socket, shared: &Shared, mut engine: Engine, bell: &Bell) {
    // To save energy, Linux joins timers that are up to 50 µs apart (`prctl(2)`, `PR_SET_TIMERSLACK`).
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let mut is_sleepy = false;
    loop {
        if is_sleepy {
            shared.fall_asleep();
        }
        // Before the timers: what has arrived while we slept may be what they wait for.
        let has_received = engine.receive(&mut socket, Instant::now());
        if !engine.attend(&socket, Instant::now()) {
            return;
        }
        engine.serve(&socket, Instant::now());
        if has_received || engine.is_busy() {
            shared.stay_awake();
            is_sleepy = false;
        } else if is_sleepy {
            sleep(&socket, bell, &engine);
            shared.stay_awake();
            is_sleepy = false;
        } else {
            // One more look, after which nobody has to look for us.
            is_sleepy = true;
        }
    }
}

/// Waits for a datagram, for room to send, for the application, or for somebody's turn.
fn sleep(socket: &Socket, bell: &Bell, engine: &Engine) {
    let events = if engine.is_blocked() {
        PollFlags::IN | PollFlags::OUT
    } else {
        PollFlags::IN
    };
    let bell = bell.0.as_fd();
    let mut fds = [
        PollFd::new(socket, events),
        PollFd::from_borrowed_fd(bell, PollFlags::IN),
    ];
    let span = engine
        .next()
        .map(|at| at.saturating_duration_since(Instant::now()));
    let span = span.map(|span| {
        // As good as for ever, and within what the system takes.
        let most = Duration::from_secs(3600);
        rustix::event::Timespec::try_from(span.min(most)).unwrap_or_default()
    });
    // A signal ends the sleep like anything else.
    let _ = poll(&mut fds, span.as_ref());
    let mut count = [0; 8];
    let _ = rustix::io::read(bell, &mut count);
}
