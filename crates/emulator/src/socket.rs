//! A UDP socket that reads in batches and keeps ECN.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::SockRef;

/// The kernel's buffer on either side of a socket. The path's queue is in the path, this one only holds what arrives
/// while the relay is not scheduled: at 10 Gbit/s, 3 ms.
const SOCKET_BUFFER: usize = 4 << 20;

/// Messages read in one system call. Each may hold up to 64 datagrams that the kernel joined (GRO); more would keep
/// the relay from its release times for too long.
const BATCH: usize = 8;

/// The largest UDP payload, with room to spare.
const LARGEST: usize = 1 << 16;

/// A non-blocking UDP socket.
pub(crate) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
}

/// A datagram as it came in.
pub(crate) struct Received<'a> {
    /// Who sent it.
    pub(crate) from: SocketAddr,
    /// The address of ours that it was sent to, if the system tells.
    pub(crate) to: Option<IpAddr>,
    /// Its ECN codepoint.
    pub(crate) ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub(crate) payload: &'a [u8],
}

impl Socket {
    /// A socket that anyone may send to.
    pub(crate) fn listening(address: SocketAddr) -> io::Result<Socket> {
        Socket::new(UdpSocket::bind(address)?)
    }

    /// A socket on a free port that talks to `peer` only, and so hears of it when nobody is there.
    pub(crate) fn connected(peer: SocketAddr) -> io::Result<Socket> {
        let any: IpAddr = match peer {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(peer)?;
        Socket::new(socket)
    }

    fn new(socket: UdpSocket) -> io::Result<Socket> {
        // Systems cap these sizes or refuse them; smaller buffers lose packets sooner, no more.
        let options = SockRef::from(&socket);
        let _ = options.set_send_buffer_size(SOCKET_BUFFER);
        let _ = options.set_recv_buffer_size(SOCKET_BUFFER);
        // A privileged process may pass the system's cap.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BUFFER);
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Socket { socket, state })
    }

    /// The socket's own address.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends one datagram, from `source` if given.
    pub(crate) fn send(
        &self,
        to: SocketAddr,
        source: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination: to,
            ecn,
            contents: payload,
            segment_size: None,
            src_ip: source,
        };
        let send = || {
            self.state
                .try_send(UdpSockRef::from(&self.socket), &transmit)
        };
        match send() {
            // An ICMP "port unreachable" for an earlier datagram is reported in place of sending this one.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => send(),
            result => result,
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Room for one batch of received messages, used for all sockets in turn.
pub(crate) struct Inbox {
    buffers: Vec<Vec<u8>>,
    meta: [RecvMeta; BATCH],
}

impl Inbox {
    /// An empty inbox.
    pub(crate) fn new() -> Inbox {
        Inbox {
            buffers: vec![vec![0; LARGEST]; BATCH],
            meta: [RecvMeta::default(); BATCH],
        }
    }

    /// Reads what `socket` holds, up to a batch, without waiting.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if nothing waits, [`io::ErrorKind::ConnectionRefused`] if the peer of a connected
    /// socket was not there for an earlier datagram.
    pub(crate) fn read(
        &mut self,
        socket: &Socket,
    ) -> io::Result<impl Iterator<Item = Received<'_>>> {
        let count = {
            let mut slices = self
                .buffers
                .iter_mut()
                .map(|buffer| IoSliceMut::new(buffer))
                .collect::<Vec<_>>();
            let socket_ref = UdpSockRef::from(&socket.socket);
            socket.state.recv(socket_ref, &mut slices, &mut self.meta)?
        };
        let messages = self.meta.iter().zip(&self.buffers).take(count);
        Ok(messages.flat_map(|(meta, buffer)| {
            let message = buffer.get(..meta.len).unwrap_or_default();
            segments(message, meta.stride).map(|payload| Received {
                from: meta.addr,
                to: meta.dst_ip,
                ecn: meta.ecn,
                payload,
            })
        }))
    }
}

/// The datagrams of a message that the kernel joined from datagrams of `stride` bytes, the last of which may be
/// shorter. An empty message is one empty datagram.
fn segments(message: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    let empty = message.is_empty().then_some(message);
    message.chunks(stride.max(1)).chain(empty)
}

#[cfg(test)]
mod tests {
    use super::segments;

    #[test]
    fn joined_datagrams_come_apart() {
        let split = |message, stride| segments(message, stride).collect::<Vec<_>>();
        assert_eq!(
            split(b"aaabbbc".as_slice(), 3),
            [b"aaa".as_slice(), b"bbb", b"c"]
        );
        assert_eq!(split(b"aaa", 3), [b"aaa"]);
        assert_eq!(split(b"", 0), [b""]);
    }
}
