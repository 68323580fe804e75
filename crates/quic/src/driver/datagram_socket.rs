//! A socket as a driver uses it, and the datagrams that it receives.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use rustix::io::Errno;

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
    /// True if the source may be real, and the destination may be used as the source of an answer. No host sends from
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

/// True if the system had no room for a datagram, and may have room later.
pub(super) fn is_full(error: &io::Error) -> bool {
    let no_buffers = Errno::NOBUFS.raw_os_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(no_buffers)
}

/// A non-blocking socket.
pub trait DatagramSocket: Send {
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

    /// The number of datagrams of this size that may be sent with one call.
    fn most_datagrams(&self, size: u16) -> usize;

    /// True if datagrams may be fragmented on the path.
    fn may_fragment(&self) -> bool;

    /// The file to wait for. Only the sockets of [`System`](super::System) have one.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
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
