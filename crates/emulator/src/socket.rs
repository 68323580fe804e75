//! A UDP socket that reads in batches and keeps ECN.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;

use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::SockRef;
use units::Duration;

/// The size of the kernel's buffers of a socket, in bytes. The path has its own queue. These buffers only hold the
/// packets of times when the relay does not run: at 10 Gbit/s, 3 ms.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

/// The maximum number of messages read in one system call. Each may hold up to 64 datagrams that the kernel joined
/// (GRO). More would delay the relay's releases for too long.
const MAX_BATCH_MESSAGES: usize = 8;

/// An upper bound of a UDP payload, in bytes.
const MAX_PAYLOAD_BYTES: usize = 1 << 16;

/// A greater age shows that the time of day was set.
const MAX_AGE: Duration = Duration::from_secs(1);

/// A non-blocking UDP socket.
pub(crate) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
}

/// A received datagram.
pub(crate) struct Received<'a> {
    /// The sender's address.
    pub(crate) from: SocketAddr,
    /// Our address that it was sent to, if the system reports it.
    pub(crate) to: Option<IpAddr>,
    /// Its ECN codepoint.
    pub(crate) ecn: Option<EcnCodepoint>,
    /// The time since the kernel received it, if known.
    pub(crate) age: Option<Duration>,
    /// The UDP payload.
    pub(crate) payload: &'a [u8],
}

impl Socket {
    /// Opens a socket that receives from anyone.
    pub(crate) fn listening(address: SocketAddr) -> io::Result<Socket> {
        Socket::new(UdpSocket::bind(address)?)
    }

    /// Opens a socket on a free port that is connected to `peer`, so that it learns if the peer is absent.
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
        // Systems limit these sizes or refuse them. Smaller buffers only lose packets sooner.
        let options = SockRef::from(&socket);
        let _ = options.set_send_buffer_size(SOCKET_BUFFER_BYTES);
        let _ = options.set_recv_buffer_size(SOCKET_BUFFER_BYTES);
        // A privileged process may exceed the system's limit.
        #[cfg(target_os = "linux")]
        {
            use rustix::net::sockopt;

            let _ = sockopt::set_socket_send_buffer_size_force(&socket, SOCKET_BUFFER_BYTES);
            let _ = sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BUFFER_BYTES);
        }
        let state = UdpSocketState::new((&socket).into())?;
        ask_for_times(&socket);
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

/// The buffers of one batch of received messages, used for all sockets in turn.
pub(crate) struct Inbox {
    buffers: Vec<Vec<u8>>,
    meta: [RecvMeta; MAX_BATCH_MESSAGES],
}

impl Inbox {
    /// Returns an empty inbox.
    pub(crate) fn new() -> Inbox {
        Inbox {
            buffers: vec![vec![0; MAX_PAYLOAD_BYTES]; MAX_BATCH_MESSAGES],
            meta: [RecvMeta::default(); MAX_BATCH_MESSAGES],
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
        let now = SystemTime::now();
        let messages = self.meta.iter().zip(&self.buffers).take(count);
        Ok(messages.flat_map(move |(meta, buffer)| {
            let age = meta.timestamp.and_then(|received| age(now, received));
            let message = buffer.get(..meta.len).unwrap_or_default();
            segments(message, meta.stride).map(move |payload| Received {
                from: meta.addr,
                to: meta.dst_ip,
                ecn: meta.ecn,
                age,
                payload,
            })
        }))
    }
}

/// True if a socket at `local` has control messages of both IPv6 and IPv4: one at `::`, unless it is connected, and one
/// at an IPv4-mapped address.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn has_both_families(local: IpAddr, is_connected: bool) -> bool {
    match local {
        IpAddr::V4(_) => false,
        IpAddr::V6(ip) => ip.to_ipv4_mapped().is_some() || (ip.is_unspecified() && !is_connected),
    }
}

/// Asks the kernel to report the arrival time of each datagram. Sockets with both IPv6 and IPv4 do not: `noq-udp` reads
/// 96 bytes of control messages, and with times, such a socket has more. Nor do sockets that join datagrams (GRO),
/// whose sizes would take the room of the ECN codepoint.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn ask_for_times(socket: &UdpSocket) {
    use nix::sys::socket::{setsockopt, sockopt};

    let is_connected = socket.peer_addr().is_ok();
    let local = socket.local_addr().map(|local| local.ip());
    if local.is_ok_and(|local| has_both_families(local, is_connected)) {
        return;
    }
    if setsockopt(socket, sockopt::UdpGroSegment, &false).is_ok() {
        // Without times, datagrams enter when they are read.
        let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    }
}

/// `noq-udp` reads times only in glibc's format.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn ask_for_times(_: &UdpSocket) {}

/// Returns a datagram's age. The kernel reports the time of day, which may have been set since; an impossible age is
/// `None`.
fn age(now: SystemTime, received: std::time::Duration) -> Option<Duration> {
    let age = now.duration_since(SystemTime::UNIX_EPOCH + received).ok()?;
    Some(Duration::from(age)).filter(|age| *age < MAX_AGE)
}

/// Returns the datagrams of a message that the kernel joined from datagrams of `stride` bytes, of which the last may be
/// shorter. An empty message is one empty datagram.
fn segments(message: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    let empty = message.is_empty().then_some(message);
    message.chunks(stride.max(1)).chain(empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A datagram has the kernel's time, and also the codepoint and the address, which share the room for control
    /// messages.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_datagram_has_the_time_at_which_it_came() {
        for ip in ["127.0.0.1", "::1"] {
            let listening = Socket::listening(SocketAddr::new(ip.parse().unwrap(), 0)).unwrap();
            let to = listening.local_addr().unwrap();
            let sender = Socket::connected(to).unwrap();
            let waited = std::time::Duration::from_millis(20);
            let mut inbox = Inbox::new();
            // The kernel begins to record times a moment after the first socket asks for them (`net_enable_timestamp`).
            // Until then it reports the time of the read.
            let mut notes_times = false;
            for _ in 0..500 {
                sender.send(to, None, None, b"abc").unwrap();
                std::thread::sleep(waited);
                let age = inbox.read(&listening).unwrap().find_map(|one| one.age);
                notes_times = age.is_some_and(|age| age >= waited.into());
                if notes_times {
                    break;
                }
            }
            assert!(notes_times, "{ip}");
            for _ in 0..3 {
                sender
                    .send(to, None, Some(EcnCodepoint::Ce), b"abc")
                    .unwrap();
            }
            std::thread::sleep(waited);
            let received: Vec<_> = inbox.read(&listening).unwrap().collect();
            assert_eq!(received.len(), 3);
            for one in received {
                assert!(one.age.unwrap() >= waited.into(), "{ip}: {:?}", one.age);
                assert_eq!(one.ecn, Some(EcnCodepoint::Ce));
                assert_eq!(one.to, Some(to.ip()));
            }
        }
    }

    /// Without times, there is room for the codepoint and the address.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_mapped_address_keeps_codepoint_and_address() {
        let ip: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
        let listening = match Socket::listening(SocketAddr::new(ip, 0)) {
            Ok(listening) => listening,
            Err(error) => {
                skipping::skip!("no IPv6 sockets here: {error}");
                return;
            }
        };
        let to = listening.local_addr().unwrap();
        let sender = Socket::connected(to).unwrap();
        sender
            .send(to, None, Some(EcnCodepoint::Ce), b"abc")
            .unwrap();
        let mut inbox = Inbox::new();
        let received: Vec<_> = inbox.read(&listening).unwrap().collect();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].age, None);
        assert_eq!(received[0].ecn, Some(EcnCodepoint::Ce));
        assert_eq!(
            received[0].to.map(|to| to.to_canonical()),
            Some(ip.to_canonical())
        );
    }

    #[test]
    fn a_time_that_cannot_be_is_none() {
        let now = SystemTime::now();
        let received = now.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let second = std::time::Duration::from_secs(1);
        assert_eq!(age(now, received), Some(Duration::ZERO));
        assert_eq!(age(now, received + second), None);
        assert_eq!(age(now, received - second * 3600), None);
    }

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
