//! A UDP socket that reads and writes in batches.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use noq_udp::{self as udp, RecvMeta, UdpSockRef, UdpSocketState};

use super::arrival::Present;
use super::datagram_socket::{Datagram, DatagramSocket};
use crate::endpoint::{SOCKET_BUFFER_BYTES, open};

/// The maximum number of messages read with one system call. Each may hold up to 64 datagrams that the kernel joined
/// (GRO).
const MAX_BATCH_MESSAGES: usize = 8;

/// An upper bound of a UDP payload, in bytes.
const MAX_PAYLOAD_BYTES: usize = 1 << 16;

/// The bytes of memory that datagrams of one message share. A kept datagram holds no more memory than this, unless the
/// datagram itself is larger. Separate memory for each datagram would reduce the receiver's rate by a tenth.
const SHARED_BYTES: usize = 16 << 10;

/// The maximum bytes of a burst for the kernel, for any size of datagrams (UDP over IPv4).
const MAX_BURST_BYTES: usize = 65_507;

/// The information about arrivals that a socket requests. It cannot request both: `noq-udp` reads 96 bytes of control
/// messages, and the time would take the room of the ECN codepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// The time at which the kernel received each datagram, if available: for ACKs.
    Timed,
    /// Joins as many datagrams as the kernel can (GRO): for data.
    Joined,
}

/// A non-blocking UDP socket.
pub(super) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    /// The state for datagrams to strangers. A failed send may turn off features of a state for all its users.
    plain: UdpSocketState,
    /// Our addresses from which the system has sent datagrams.
    sources: RefCell<BTreeSet<IpAddr>>,
    /// True if packets are sent as ECN-capable.
    ecn: bool,
    /// The last time at which the socket was known to be empty.
    empty: Present,
    inbox: Inbox,
}

impl Socket {
    /// Opens a socket at `address` (port 0: any free port) that receives from anyone.
    pub(super) fn listening(address: SocketAddr) -> io::Result<Socket> {
        let is_both = address.is_ipv6();
        Socket::new(open(address, is_both)?, Arrivals::Joined, true)
    }

    /// Opens a socket on a free port, to send to `peer`. `ecn` says whether its packets are ECN-capable.
    pub(super) fn sending(peer: SocketAddr, ecn: bool) -> io::Result<Socket> {
        let any: IpAddr = match peer {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        // The socket has one address family only: there is no room for the control messages of both and the time.
        Socket::new(open((any, 0).into(), false)?, Arrivals::Timed, ecn)
    }

    fn new(socket: UdpSocket, arrivals: Arrivals, ecn: bool) -> io::Result<Socket> {
        let plain = UdpSocketState::new((&socket).into())?;
        let state = UdpSocketState::new((&socket).into())?;
        if arrivals == Arrivals::Timed {
            ask_for_times(&socket);
        }
        // A privileged process may exceed the system's limit.
        #[cfg(target_os = "linux")]
        let _ =
            rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BUFFER_BYTES);
        Ok(Socket {
            socket,
            state,
            plain,
            sources: RefCell::default(),
            ecn,
            empty: Present::look(),
            inbox: Inbox::new(),
        })
    }
}

impl Socket {
    /// Sends datagrams from this address of ours. The first time, they are sent one by one, with the state for
    /// strangers. A stranger who sends to a broadcast address makes us answer from that address, which the system
    /// refuses.
    fn send_from(&self, source: Option<IpAddr>, transmit: &udp::Transmit<'_>) -> io::Result<()> {
        let socket = || UdpSockRef::from(&self.socket);
        let Some(source) = source.filter(|source| !self.sources.borrow().contains(source)) else {
            return self.state.try_send(socket(), transmit);
        };
        let size = transmit.segment_size.unwrap_or(transmit.contents.len());
        for contents in transmit.contents.chunks(size.max(1)) {
            let one = udp::Transmit {
                destination: transmit.destination,
                ecn: transmit.ecn,
                contents,
                segment_size: None,
                src_ip: transmit.src_ip,
            };
            self.plain.try_send(socket(), &one)?;
        }
        self.sources.borrow_mut().insert(source);
        Ok(())
    }
}

impl DatagramSocket for Socket {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn read(&mut self, take: &mut dyn FnMut(Datagram)) -> bool {
        self.inbox
            .read(&self.socket, &self.state, &mut self.empty, take)
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }

    fn most_datagrams(&self, size: u16) -> usize {
        let fit = MAX_BURST_BYTES / usize::from(size.max(1));
        self.state.max_gso_segments().get().min(fit).max(1)
    }

    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let transmit = udp::Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn.filter(|_| self.ecn).map(|ecn| match ecn {
                EcnCodepoint::Ect0 => udp::EcnCodepoint::Ect0,
                EcnCodepoint::Ect1 => udp::EcnCodepoint::Ect1,
                EcnCodepoint::Ce => udp::EcnCodepoint::Ce,
            }),
            contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        let send = || self.send_from(transmit.src_ip, &transmit);
        let sent = match send() {
            // The kernel reports an ICMP "port unreachable" for an earlier datagram instead of sending this one.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => send(),
            sent => sent,
        };
        match sent {
            // A probe of the path MTU may already be too large for the local interface.
            Err(error) if udp::is_msg_size_err(&error) => Ok(()),
            sent => sent,
        }
    }

    fn answer(&self, transmit: &Transmit, contents: &[u8]) {
        let transmit = udp::Transmit {
            destination: transmit.destination,
            ecn: None,
            contents,
            segment_size: None,
            src_ip: transmit.src_ip,
        };
        let _ = self.plain.try_send((&self.socket).into(), &transmit);
    }
}

/// The buffers of one batch of received messages.
struct Inbox {
    buffers: Vec<Vec<u8>>,
    metas: [RecvMeta; MAX_BATCH_MESSAGES],
}

impl Inbox {
    fn new() -> Inbox {
        Inbox {
            buffers: vec![vec![0; MAX_PAYLOAD_BYTES]; MAX_BATCH_MESSAGES],
            metas: [RecvMeta::default(); MAX_BATCH_MESSAGES],
        }
    }

    /// Gives up to a batch of datagrams of `socket` to `take`. Returns true if there may be more. The socket was empty
    /// at `empty`.
    fn read(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
        empty: &mut Present,
        take: &mut dyn FnMut(Datagram),
    ) -> bool {
        let looked = Present::look();
        let mut slices = self.buffers.iter_mut();
        let mut slices: [IoSliceMut<'_>; MAX_BATCH_MESSAGES] =
            std::array::from_fn(|_| match slices.next() {
                Some(buffer) => IoSliceMut::new(buffer),
                None => IoSliceMut::new(&mut []),
            });
        let from = UdpSockRef::from(socket);
        let count = match state.recv(from, &mut slices, &mut self.metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                *empty = looked;
                return false;
            }
            // Reports about earlier datagrams must be ignored, because anyone may have forged them (RFC 9000, "Path MTU
            // Discovery").
            Err(error) => {
                return error.kind() == io::ErrorKind::ConnectionRefused
                    || udp::is_msg_size_err(&error);
            }
        };
        let present = Present::look();
        for (meta, buffer) in self.metas.iter().zip(&self.buffers).take(count) {
            let message = buffer.get(..meta.len).unwrap_or_default();
            let at = present.arrival(meta.timestamp, empty);
            let size = meta.stride.max(1);
            for part in message.chunks((SHARED_BYTES / size).max(1) * size) {
                let mut memory = BytesMut::from(part);
                while !memory.is_empty() {
                    take(Datagram {
                        at,
                        path: FourTuple::new(meta.addr, meta.dst_ip),
                        ecn: meta.ecn.map(|ecn| match ecn {
                            udp::EcnCodepoint::Ect0 => EcnCodepoint::Ect0,
                            udp::EcnCodepoint::Ect1 => EcnCodepoint::Ect1,
                            udp::EcnCodepoint::Ce => EcnCodepoint::Ce,
                        }),
                        payload: memory.split_to(size.min(memory.len())),
                    });
                }
            }
        }
        true
    }
}

/// Asks the kernel for the arrival time of each datagram, instead of joining datagrams.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn ask_for_times(socket: &UdpSocket) {
    use nix::sys::socket::{setsockopt, sockopt};

    if setsockopt(socket, sockopt::UdpGroSegment, &false).is_ok() {
        // If this fails, a datagram's arrival is the time at which it is read.
        let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    }
}

/// `noq-udp` reads times only in glibc's format.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn ask_for_times(_: &UdpSocket) {}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn read(socket: &mut Socket) -> Vec<Datagram> {
        let mut came = Vec::new();
        while socket.read(&mut |datagram| came.push(datagram)) {}
        came
    }

    fn send(from: &Socket, to: SocketAddr, contents: &[u8], segment_size: Option<usize>) {
        let transmit = Transmit {
            destination: to,
            size: contents.len(),
            ecn: Some(EcnCodepoint::Ce),
            segment_size,
            src_ip: None,
        };
        from.send(&transmit, contents).unwrap();
    }

    /// Tests that a datagram has the kernel's time, and also the codepoint and the address, which share the room for
    /// control messages.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_datagram_has_the_time_at_which_it_came() {
        for ip in ["127.0.0.1", "::1"] {
            let listening = Socket::listening(SocketAddr::new(ip.parse().unwrap(), 0)).unwrap();
            let mut sending = Socket::sending(listening.local_addr().unwrap(), true).unwrap();
            let port = sending.local_addr().unwrap().port();
            let to = SocketAddr::new(ip.parse().unwrap(), port);
            let waited = std::time::Duration::from_millis(20);
            // The kernel begins to record times a moment after the first socket asks for them (`net_enable_timestamp`).
            // Until then it returns the time of the read.
            let mut notes_times = false;
            for _ in 0..500 {
                let before = Instant::now();
                send(&listening, to, b"abcabc", Some(3));
                std::thread::sleep(waited);
                let read = read(&mut sending);
                assert_eq!(read.len(), 2);
                for one in &read {
                    assert_eq!(&one.payload[..], b"abc");
                    assert_eq!(one.ecn, Some(EcnCodepoint::Ce));
                    assert_eq!(one.path.local_ip(), Some(to.ip()));
                    assert!(one.at >= before);
                }
                notes_times = read.iter().all(|one| one.at.elapsed() >= waited);
                if notes_times {
                    break;
                }
            }
            assert!(notes_times, "{ip}");
        }
    }

    /// Addresses that the system refuses do not affect other sends.
    #[test]
    fn a_refused_datagram_does_not_affect_others() {
        let mut peer = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = peer.local_addr().unwrap();
        let socket = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let before = socket.most_datagrams(1000);
        let broadcast = Ipv4Addr::BROADCAST;
        for (destination, src_ip) in [
            (SocketAddr::new(to.ip(), 0), None),
            ((broadcast, to.port()).into(), None),
            (to, Some(broadcast.into())),
        ] {
            let transmit = Transmit {
                destination,
                size: 6,
                ecn: Some(EcnCodepoint::Ect0),
                segment_size: None,
                src_ip,
            };
            socket.answer(&transmit, b"abcabc");
            // An accepted client may have such an address, too.
            assert!(src_ip.is_none() || socket.send(&transmit, b"abcabc").is_err());
        }
        assert_eq!(socket.most_datagrams(1000), before);
        send(&socket, to, b"abcabc", Some(3));
        let read = read(&mut peer);
        assert_eq!(read.len(), 2);
        assert!(read.iter().all(|one| one.ecn == Some(EcnCodepoint::Ce)));
    }

    #[test]
    fn what_is_kept_of_a_message_keeps_little_of_it() {
        let mut listening = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = listening.local_addr().unwrap();
        let sending = Socket::sending(to, false).unwrap();
        send(&sending, to, &[7; 60_000], Some(1000));
        let mut read = read(&mut listening);
        assert_eq!(read.len(), 60);
        let mut kept = read.remove(1).payload;
        drop(read);
        assert_eq!(kept.len(), 1000);
        kept.clear();
        assert!(!kept.try_reclaim(SHARED_BYTES + 1));
    }

    #[test]
    fn joined_datagrams_come_apart() {
        let mut listening = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = listening.local_addr().unwrap();
        let sending = Socket::sending(to, true).unwrap();
        send(&sending, to, b"aaabbbc", Some(3));
        let read = read(&mut listening);
        let read: Vec<_> = read.iter().map(|one| &one.payload[..]).collect();
        assert_eq!(read, [b"aaa".as_slice(), b"bbb", b"c"]);
    }

    /// A probe of the path MTU that is too large for the interface is lost, and the connection continues.
    #[test]
    fn a_datagram_that_is_too_large_is_lost() {
        let mut listening = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = listening.local_addr().unwrap();
        let sending = Socket::sending(to, false).unwrap();
        send(&sending, to, &[7; MAX_BURST_BYTES + 1], None);
        send(&sending, to, &[7; 10], None);
        let read = read(&mut listening);
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].payload.len(), 10);
    }

    /// A burst has as many datagrams as the kernel takes at once, for any size.
    #[test]
    fn a_burst_is_no_longer_than_the_kernel_takes() {
        let mut listening = Socket::listening((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = listening.local_addr().unwrap();
        let sending = Socket::sending(to, false).unwrap();
        assert_eq!(sending.most_datagrams(u16::MAX), 1);
        assert_eq!(sending.most_datagrams(0), sending.most_datagrams(1));
        let size = 1452;
        let count = sending.most_datagrams(size);
        let size = usize::from(size);
        send(&sending, to, &vec![7; count * size], Some(size));
        let read = read(&mut listening);
        assert_eq!(read.len(), count);
        // The packets are not ECN-capable, whatever noq requests.
        assert!(read.iter().all(|one| one.ecn.is_none()));
    }
}
