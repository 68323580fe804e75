//! The environment of a driver: sockets, a clock, and a thread or another source of turns.

use std::io::{self, PipeReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use rustix::io::Errno;

use super::mtu;
use super::socket::Socket;
use super::worker::Worker;

/// A received datagram.
#[derive(Debug)]
pub struct Datagram {
    /// The time of its arrival.
    pub at: Instant,
    /// Its source and its destination.
    pub path: FourTuple,
    /// Its ECN codepoint.
    pub ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub payload: BytesMut,
}

impl Datagram {
    /// Whether the source may be real, and the destination may be used as the source of an answer. No host sends from
    /// port 0, and neither address may be a multicast, broadcast or unspecified address.
    pub(super) fn may_be_answered(&self) -> bool {
        let is_one = |ip: IpAddr| match ip.to_canonical() {
            IpAddr::V4(ip) => !(ip.is_broadcast() || ip.is_multicast() || ip.is_unspecified()),
            IpAddr::V6(ip) => !(ip.is_multicast() || ip.is_unspecified()),
        };
        let from = self.path.remote();
        from.port() != 0 && is_one(from.ip()) && self.path.local_ip().is_none_or(is_one)
    }
}

/// Whether the system had no room for a datagram, and may have room later.
pub(super) fn is_full(error: &io::Error) -> bool {
    let no_buffers = Errno::NOBUFS.raw_os_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(no_buffers)
}

/// A non-blocking socket.
pub trait Port: Send {
    /// The socket's own address.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Gives a batch of received datagrams to `take`. Returns whether there may be more.
    fn read(&mut self, take: &mut dyn FnMut(Datagram)) -> bool;

    /// Sends a packet or a burst from noq.
    ///
    /// # Errors
    ///
    /// The system's error. If the system has no room ([`io::ErrorKind::WouldBlock`], `ENOBUFS`), the driver tries again
    /// later. After any other error, the datagrams count as lost on the path. A datagram that is too large is not an
    /// error.
    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()>;

    /// Sends an answer that belongs to no connection. Its errors are ignored.
    fn answer(&self, transmit: &Transmit, contents: &[u8]) {
        let _ = self.send(transmit, contents);
    }

    /// How many datagrams of this size may be sent with one call.
    fn most_datagrams(&self, size: u16) -> usize;

    /// Whether datagrams may be fragmented on the path.
    fn may_fragment(&self) -> bool;

    /// The file to wait for. Only the ports of [`System`] have one.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Wakes a driver when there is something to do.
pub type Bell = Arc<dyn Fn() + Send + Sync>;

/// The environment of a driver: the [`System`], or a test's own.
pub trait Ground: Send + Sync {
    /// Opens a socket at `address` (port 0: any free port) that receives from anyone. If the port has no file to wait
    /// for, it rings `bell` when a datagram arrives.
    ///
    /// # Errors
    ///
    /// The address is in use.
    fn listening(&self, address: SocketAddr, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// Opens a socket on a free port, to send to `peer`. `ecn` says whether its packets are ECN-capable.
    ///
    /// # Errors
    ///
    /// The socket cannot be opened.
    fn sending(&self, peer: SocketAddr, ecn: bool, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// The largest UDP payload that may reach `peer` without fragmentation. `None` if it is unknown.
    fn largest_datagram(&self, peer: SocketAddr) -> Option<u16> {
        let _ = peer;
        None
    }

    /// The clock.
    fn clock(&self) -> fn() -> Instant;

    /// Starts to give a driver its turns: when its bell rings, and when it is due.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    fn drive(&self, worker: Worker) -> io::Result<(Bell, Option<JoinHandle<()>>)>;
}

/// UDP sockets, and a thread for each driver.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Ground for System {
    fn listening(&self, address: SocketAddr, _: &Bell) -> io::Result<Box<dyn Port>> {
        Ok(Box::new(Socket::listening(address)?))
    }

    fn sending(&self, peer: SocketAddr, ecn: bool, _: &Bell) -> io::Result<Box<dyn Port>> {
        Ok(Box::new(Socket::sending(peer, ecn)?))
    }

    fn largest_datagram(&self, peer: SocketAddr) -> Option<u16> {
        mtu::largest_datagram(peer)
    }

    fn clock(&self) -> fn() -> Instant {
        Instant::now
    }

    fn drive(&self, worker: Worker) -> io::Result<(Bell, Option<JoinHandle<()>>)> {
        let (ear, bell) = Ear::new()?;
        let thread = thread::Builder::new().name("quic".to_owned());
        let thread = thread.spawn(move || worker.run(&ear))?;
        Ok((bell, Some(thread)))
    }
}

/// What a thread hears of its bell. A ring costs a system call only if the thread sleeps.
pub(super) struct Ear {
    /// Readable after a ring in the thread's sleep.
    pipe: PipeReader,
    state: Arc<EarState>,
}

#[derive(Default)]
struct EarState {
    is_asleep: AtomicBool,
    is_rung: AtomicBool,
}

impl Ear {
    /// A thread's ear, and its bell. The thread may also ring the bell itself, so ringing never blocks.
    fn new() -> io::Result<(Ear, Bell)> {
        let (pipe, rope) = io::pipe()?;
        rustix::io::ioctl_fionbio(&rope, true)?;
        let state = Arc::new(EarState::default());
        let ear = Ear {
            pipe,
            state: state.clone(),
        };
        let bell = move || {
            // Each side first says what it does, and then looks at what the other one does. So at least one of them sees the
            // other one's word, and no ring is lost.
            state.is_rung.store(true, Ordering::SeqCst);
            if state.is_asleep.swap(false, Ordering::SeqCst) {
                // This fails if the pipe is full, and then the thread wakes up anyway. It also fails if the thread has
                // panicked. Those who wait for its connections detect this themselves.
                let _ = io::Write::write(&mut &rope, &[0]);
            }
        };
        Ok((ear, Arc::new(bell)))
    }

    /// Before the thread waits for [`Ear::pipe`]. Whether the bell has rung already, so that it must not wait.
    pub(super) fn fall_asleep(&self) -> bool {
        self.state.is_asleep.store(true, Ordering::SeqCst);
        self.state.is_rung.load(Ordering::SeqCst)
    }

    /// After that, with whether the pipe is readable. Whether the bell has rung since the last time.
    pub(super) fn wake_up(&self, is_readable: bool) -> bool {
        self.state.is_asleep.store(false, Ordering::SeqCst);
        if is_readable {
            let _ = io::Read::read(&mut &self.pipe, &mut [0; 64]);
        }
        self.state.is_rung.swap(false, Ordering::SeqCst)
    }

    /// The file to wait for.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec};

    use super::*;

    #[test]
    fn what_nobody_can_have_sent_is_not_answered() {
        for (from, to, may_be) in [
            ("192.0.2.1:1", Some("192.0.2.2"), true),
            ("192.0.2.1:1", None, true),
            ("192.0.2.1:0", Some("192.0.2.2"), false),
            ("255.255.255.255:1", Some("192.0.2.2"), false),
            ("0.0.0.0:1", Some("192.0.2.2"), false),
            ("[::ffff:224.0.0.1]:1", Some("::ffff:192.0.2.2"), false),
            ("192.0.2.1:1", Some("255.255.255.255"), false),
            ("192.0.2.1:1", Some("224.0.0.1"), false),
            ("[::ffff:192.0.2.1]:1", Some("::ffff:224.0.0.1"), false),
            ("[2001:db8::1]:1", Some("ff02::1"), false),
            ("[ff02::1]:1", Some("2001:db8::2"), false),
            ("[::]:1", Some("2001:db8::2"), false),
            ("[2001:db8::1]:1", Some("2001:db8::2"), true),
        ] {
            let to = to.map(|to| to.parse().unwrap());
            let datagram = Datagram {
                at: Instant::now(),
                path: FourTuple::new(from.parse().unwrap(), to),
                ecn: None,
                payload: BytesMut::new(),
            };
            assert_eq!(datagram.may_be_answered(), may_be, "{from} {to:?}");
        }
    }

    /// Reads how many bytes are in the pipe.
    fn calls(ear: &Ear) -> u64 {
        rustix::io::ioctl_fionread(ear.file()).unwrap()
    }

    #[test]
    fn only_a_sleeper_is_woken_and_once() {
        let (ear, bell) = Ear::new().unwrap();
        // More often than the pipe has room for.
        (0..1 << 17).for_each(|_| bell());
        assert_eq!(calls(&ear), 0);
        assert!(ear.fall_asleep());
        assert!(ear.wake_up(false) && !ear.wake_up(false));
        assert!(!ear.fall_asleep());
        (0..1 << 17).for_each(|_| bell());
        assert_eq!(calls(&ear), 1);
        assert!(ear.wake_up(true));
        assert_eq!(calls(&ear), 0);
        assert!(!ear.fall_asleep());
    }

    /// Whatever the order in which the threads run.
    #[test]
    fn no_ring_is_lost() {
        let (ear, bell) = Ear::new().unwrap();
        let (ask, asked) = std::sync::mpsc::channel();
        let ringing = thread::spawn(move || {
            for number in 0..20_000 {
                ask.send(number).unwrap();
                bell();
            }
        });
        let mut heard = 0;
        while heard < 20_000 {
            let is_rung = ear.fall_asleep();
            let mut files = [PollFd::from_borrowed_fd(ear.file(), PollFlags::IN)];
            let timeout = Timespec {
                tv_sec: if is_rung { 0 } else { 60 },
                tv_nsec: 0,
            };
            let woken = rustix::event::poll(&mut files, Some(&timeout)).unwrap();
            assert!(woken > 0 || is_rung, "a ring is lost");
            if ear.wake_up(woken > 0) {
                heard += asked.try_iter().count();
            }
        }
        ringing.join().unwrap();
    }

    #[test]
    fn no_room_is_not_a_refusal() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        assert!(is_full(&error(Errno::WOULDBLOCK)) && is_full(&error(Errno::NOBUFS)));
        assert!(!is_full(&error(Errno::INVAL)) && !is_full(&error(Errno::NETUNREACH)));
    }
}
