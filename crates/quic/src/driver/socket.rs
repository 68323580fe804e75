//! Datagrams in and out, in batches, with the time at which the kernel took them in.

use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant, SystemTime};

use noq::udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState, is_msg_size_err};

use crate::controller::MAX_BURST;

/// How many messages are read at once, each of which may be many datagrams that the kernel has joined (GRO).
const BATCH: usize = 16;

/// The longest message.
const MESSAGE: usize = 1 << 16;

/// By how much the system's clock may have moved against the monotonic one between two reads. If it was by more, somebody
/// has set it, and what it says of arrivals means nothing.
const SLEW: Duration = Duration::from_millis(1);

/// A UDP socket.
pub(super) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    memory: Vec<Vec<u8>>,
    metas: [RecvMeta; BATCH],
    clock: Clock,
    /// Whether what is sent may say that it is capable of ECN.
    ecn: bool,
}

/// What became of an attempt to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It is the network's now, or lost.
    Away,
    /// The socket's buffer is full.
    Blocked,
}

impl Socket {
    pub(super) fn new(socket: UdpSocket, ecn: bool) -> io::Result<Socket> {
        let state = UdpSocketState::new((&socket).into())?;
        // A wish: without it, what is read counts as having arrived when it is read.
        #[cfg(target_os = "linux")]
        let _ = nix::sys::socket::setsockopt(
            &socket,
            nix::sys::socket::sockopt::ReceiveTimestampns,
            &true,
        );
        Ok(Socket {
            socket,
            state,
            memory: vec![vec![0; MESSAGE]; BATCH],
            metas: [RecvMeta::default(); BATCH],
            clock: Clock::new(),
            ecn,
        })
    }

    pub(super) fn may_discover_mtu(&self) -> bool {
        !self.state.may_fragment()
    }

    /// How many datagrams of this size one call may send.
    pub(super) fn segments(&self, datagram: u16) -> usize {
        let fitting = MAX_BURST / u64::from(datagram.max(1));
        usize::try_from(fitting)
            .unwrap_or(usize::MAX)
            .clamp(1, self.state.max_gso_segments().get())
    }

    /// Reads what has arrived, as much as one call brings, and gives each message with the time of its arrival to `take`.
    /// Returns whether there was something.
    pub(super) fn receive(&mut self, mut take: impl FnMut(Instant, &RecvMeta, &[u8])) -> bool {
        let mut buffers = self.memory.iter_mut();
        let mut buffers: [IoSliceMut<'_>; BATCH] =
            std::array::from_fn(|_| IoSliceMut::new(buffers.next().map_or(&mut [], |b| b)));
        // What goes wrong concerns a datagram, or an earlier one of ours that somebody has answered by ICMP, which
        // anybody can do. It is as good as lost.
        let received = self
            .state
            .recv((&self.socket).into(), &mut buffers, &mut self.metas);
        let count = match received {
            Ok(count) => count,
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        };
        self.clock.look(Instant::now(), SystemTime::now());
        for (meta, buffer) in self.metas.iter().zip(&buffers).take(count) {
            if let Some(content) = buffer.get(..meta.len) {
                take(self.clock.arrival(meta.timestamp), meta, content);
            }
        }
        count > 0
    }

    /// Sends one or more datagrams to one peer.
    pub(super) fn send(&self, transmit: &noq_proto::Transmit, contents: &[u8]) -> Sent {
        let ecn = transmit.ecn.filter(|_| self.ecn).map(|ecn| match ecn {
            noq_proto::EcnCodepoint::Ect0 => EcnCodepoint::Ect0,
            noq_proto::EcnCodepoint::Ect1 => EcnCodepoint::Ect1,
            noq_proto::EcnCodepoint::Ce => EcnCodepoint::Ce,
        });
        let out = Transmit {
            destination: transmit.destination,
            ecn,
            contents: contents.get(..transmit.size).unwrap_or_default(),
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        match self.state.try_send((&self.socket).into(), &out) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Sent::Blocked,
            // Too large for the interface, as a probe for the path's MTU may be; or the network is gone for now. Either
            // way it is a loss, which the protocol finds.
            Err(error) if is_msg_size_err(&error) => Sent::Away,
            Err(_) | Ok(()) => Sent::Away,
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Brings the kernel's times of arrival, which are of the system's clock, to the monotonic one.
#[derive(Debug)]
struct Clock {
    epoch: Instant,
    /// The last look at both clocks.
    now: Instant,
    system: Duration,
    /// Between the looks before the last and the last, nobody has set the system's clock.
    is_steady: bool,
}

impl Clock {
    fn new() -> Clock {
        let now = Instant::now();
        Clock {
            epoch: now,
            now,
            system: since_1970(SystemTime::now()),
            is_steady: true,
        }
    }

    fn look(&mut self, now: Instant, system: SystemTime) {
        let system = since_1970(system);
        let monotonic = now.saturating_duration_since(self.now);
        let passed = system.saturating_sub(self.system);
        self.is_steady = system >= self.system && passed.abs_diff(monotonic) <= SLEW;
        (self.now, self.system) = (now, system);
    }

    /// When what the kernel took in at `timestamp` arrived; by the time of the last look.
    fn arrival(&self, timestamp: Option<Duration>) -> Instant {
        let age = timestamp
            .filter(|_| self.is_steady)
            .and_then(|timestamp| self.system.checked_sub(timestamp))
            .unwrap_or_default();
        self.now
            .checked_sub(age)
            .unwrap_or(self.now)
            .max(self.epoch)
    }
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_does_not_make_packets_older() {
        let mut clock = Clock::new();
        let (now, system) = (clock.now, SystemTime::UNIX_EPOCH + clock.system);
        let after = |millis| Duration::from_millis(millis);
        clock.look(now + after(10), system + after(10));
        let stamp = Some(clock.system - after(3));
        assert_eq!(clock.arrival(stamp), now + after(7));
        assert_eq!(clock.arrival(None), now + after(10));
        // From the future: read at once.
        assert_eq!(
            clock.arrival(Some(clock.system + after(1))),
            now + after(10)
        );
        // Set forward by a second, and back again.
        clock.look(now + after(20), system + after(1020));
        assert_eq!(clock.arrival(stamp), now + after(20));
        clock.look(now + after(30), system + after(30));
        assert_eq!(clock.arrival(stamp), now + after(30));
        clock.look(now + after(40), system + after(40));
        let stamp = Some(clock.system - after(1));
        assert_eq!(clock.arrival(stamp), now + after(39));
        // Before there was a socket.
        assert_eq!(clock.arrival(Some(Duration::ZERO)), now);
    }
}
