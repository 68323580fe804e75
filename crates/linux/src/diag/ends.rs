//! The kernel's reports of TCP sockets that are destroyed, from sock_diag.

use std::io;
use std::net::SocketAddr;

use netlink_packet_core::{NetlinkBuffer, NlasIterator};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use nix::sys::socket::{setsockopt, sockopt};

use super::TcpInfo;
use super::message::{INFO, MESSAGE_BYTES, ip_at, port_at};
use super::native::{two_words, u8_at};
use crate::Error;
use crate::error::Context;

/// A TCP socket that was destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedSocket {
    /// The local address.
    pub local: SocketAddr,
    /// The remote address.
    pub remote: SocketAddr,
    /// The socket cookie, as in [`SocketState`](super::SocketState).
    pub cookie: u64,
    /// The last TCP information. The kernel reports no controller here, because the socket has none any more.
    pub info: TcpInfo,
}

/// Receives the end of each TCP socket in a network namespace.
pub struct Ends {
    socket: Socket,
    message: Vec<u8>,
}

/// The multicast groups for IPv4 and IPv6 sockets (`SKNLGRP_INET_TCP_DESTROY`, `SKNLGRP_INET6_TCP_DESTROY` of
/// linux/sock_diag.h).
const MULTICAST_GROUPS: [u32; 2] = [1, 3];

/// The size of the receive buffer, in bytes: room for some ten thousand messages of about a kilobyte.
const RECEIVE_BUFFER_BYTES: usize = 16 << 20;

/// The maximum length of a message.
const MAX_MESSAGE_BYTES: usize = 4096;

impl Ends {
    /// Starts to listen to the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The kernel has no netlink socket for this.
    pub fn listen_here() -> Result<Ends, Error> {
        let open = || {
            let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
            socket.bind_auto()?;
            // Without the permission, the buffer has the system's default size.
            let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES);
            for group in MULTICAST_GROUPS {
                socket.add_membership(group)?;
            }
            socket.set_non_blocking(true)?;
            Ok::<_, io::Error>(socket)
        };
        let socket =
            open().context("cannot listen for closed TCP sockets (it takes CONFIG_INET_DIAG)")?;
        Ok(Ends {
            socket,
            message: Vec::with_capacity(MAX_MESSAGE_BYTES),
        })
    }

    /// Gives `each` all sockets that were destroyed since the last call. Returns whether they are complete: if the
    /// buffer has overflowed, some are missing.
    ///
    /// # Errors
    ///
    /// The kernel cannot report them.
    pub fn ended(&mut self, mut each: impl FnMut(&EndedSocket)) -> Result<bool, Error> {
        let mut is_all = true;
        loop {
            self.message.clear();
            match self.socket.recv(&mut self.message, 0) {
                Ok(_) => {
                    if let Some(ended) = EndedSocket::parse(&self.message) {
                        each(&ended);
                    }
                }
                Err(error) => match error.raw_os_error() {
                    Some(nix::libc::EAGAIN) => return Ok(is_all),
                    Some(nix::libc::ENOBUFS) => is_all = false,
                    Some(nix::libc::EINTR) => {}
                    _ => return Err(error).context("cannot listen for closed TCP sockets"),
                },
            }
        }
    }
}

impl EndedSocket {
    /// Parses a netlink message of sock_diag; `None` if the message is invalid.
    pub fn parse(datagram: &[u8]) -> Option<EndedSocket> {
        let message = NetlinkBuffer::new_checked(datagram).ok()?;
        let payload = message.payload();
        let mut attributes = NlasIterator::new(payload.get(MESSAGE_BYTES..)?);
        let info = attributes.find_map(|attribute| {
            let attribute = attribute.ok()?;
            let is_info = attribute.kind() == INFO;
            is_info.then(|| TcpInfo::at(attribute.value(), 0))?
        })?;
        let family = u8_at(payload, 0)?;
        Some(EndedSocket {
            local: SocketAddr::new(ip_at(payload, 8, family)?, port_at(payload, 4)?),
            remote: SocketAddr::new(ip_at(payload, 24, family)?, port_at(payload, 6)?),
            cookie: two_words(payload, 44)?,
            info,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{SocketState, dump, message};

    #[test]
    fn what_goes_is_read_as_what_is_there() {
        let captured = message::tests::captured();
        let there = SocketState::parse(&captured).unwrap().unwrap();
        let datagram = dump::tests::message(20, 0, &captured);
        let gone = EndedSocket::parse(&datagram).unwrap();
        assert_eq!((gone.local, gone.remote), (there.local, there.remote));
        assert_eq!((gone.cookie, gone.info), (there.cookie, there.info));
        for length in 0..datagram.len() {
            // The message contains its own length.
            assert_eq!(EndedSocket::parse(&datagram[..length]), None, "{length}");
        }
    }
}
