//! What a driver stands on: sockets, a clock, and something that gives it turns.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use rustix::io::Errno;

use super::socket::Socket;
use super::worker::Worker;

/// A datagram as it came in.
#[derive(Debug)]
pub struct Datagram {
    /// When.
    pub at: Instant,
    /// From where and to where.
    pub path: FourTuple,
    /// Its ECN codepoint.
    pub ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub payload: BytesMut,
}

impl Datagram {
    /// Whether it can come from where it says, and be answered from where it was sent to: no host sends from port 0, and none of
    /// its addresses is for several, or for nobody.
    pub(super) fn may_be_answered(&self) -> bool {
        let is_one = |ip: IpAddr| match ip.to_canonical() {
            IpAddr::V4(ip) => !(ip.is_broadcast() || ip.is_multicast() || ip.is_unspecified()),
            IpAddr::V6(ip) => !(ip.is_multicast() || ip.is_unspecified()),
        };
        let from = self.path.remote();
        from.port() != 0 && is_one(from.ip()) && self.path.local_ip().is_none_or(is_one)
    }
}

/// Whether the system had no room for what was sent, and may have some later.
pub(super) fn is_full(error: &io::Error) -> bool {
    let no_buffers = Errno::NOBUFS.raw_os_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(no_buffers)
}

/// A non-blocking socket.
pub trait Port: Send {
    /// The socket's own address.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Hands a batch of what has come to `take`. Whether there may be more.
    fn read(&mut self, take: &mut dyn FnMut(Datagram)) -> bool;

    /// Sends what noq has put together.
    ///
    /// # Errors
    /// What the system says. If it has no room ([`io::ErrorKind::WouldBlock`], `ENOBUFS`), it is asked again; what it refuses
    /// otherwise is as good as lost on the way. A datagram that is too large is none.
    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()>;

    /// Sends an answer that is of no connection. What the system says to it concerns nobody.
    fn answer(&self, transmit: &Transmit, contents: &[u8]) {
        let _ = self.send(transmit, contents);
    }

    /// How many datagrams of this size may be sent at once.
    fn most_datagrams(&self, size: u16) -> usize;

    /// Whether datagrams may be cut on their way.
    fn may_fragment(&self) -> bool;

    /// What to wait for; only the [`System`] has that.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Lets a driver know that there is something for it.
pub type Bell = Arc<dyn Fn() + Send + Sync>;

/// What a driver stands on. The [`System`]; tests have others.
pub trait Ground: Send + Sync {
    /// A socket at `address` (port 0: any) that anyone may send to. Where nothing waits for its file, it rings when something
    /// comes.
    ///
    /// # Errors
    /// The address is taken.
    fn listening(&self, address: SocketAddr, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// A socket on a free port, to send to `peer`. `ecn` says whether its packets are capable of ECN.
    ///
    /// # Errors
    /// There is none.
    fn sending(&self, peer: SocketAddr, ecn: bool, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// The clock.
    fn clock(&self) -> fn() -> Instant;

    /// Begins to give a driver its turns: when it rings, and when it is due.
    ///
    /// # Errors
    /// The system gives no thread.
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

    fn clock(&self) -> fn() -> Instant {
        Instant::now
    }

    fn drive(&self, worker: Worker) -> io::Result<(Bell, Option<JoinHandle<()>>)> {
        let (ear, rope) = io::pipe()?;
        let thread = thread::Builder::new().name("quic".to_owned());
        let thread = thread.spawn(move || worker.run(&ear))?;
        let bell = move || {
            // Fails only if the thread has panicked: whoever waits for its connections learns that.
            let _ = io::Write::write(&mut &rope, &[0]);
        };
        Ok((Arc::new(bell), Some(thread)))
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn no_room_is_not_a_refusal() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        assert!(is_full(&error(Errno::WOULDBLOCK)) && is_full(&error(Errno::NOBUFS)));
        assert!(!is_full(&error(Errno::INVAL)) && !is_full(&error(Errno::NETUNREACH)));
    }
}
