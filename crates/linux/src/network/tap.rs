//! The packets that a host sends and receives, as tcpdump captures them: a packet socket in its namespace (packet(7)).

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket, sockopt,
};

use super::host::Host;
use crate::Error;
use crate::error::Context;

/// The bytes kept of each packet: all headers, with their options.
const SNAP_BYTES: usize = 160;

/// The size of the receive buffer, in bytes, for packets that arrive between reads.
const RECEIVE_BUFFER_BYTES: usize = 64 << 20;

/// The longest wait for a packet, in milliseconds.
const WAIT_MS: u16 = 20;

/// A captured packet.
#[derive(Debug)]
pub struct Tapped<'t> {
    /// The time, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// Its length, in bytes.
    pub len: usize,
    /// Its first bytes, from the IP header on.
    pub data: &'t [u8],
}

/// Captures the packets that a host sends and receives.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    data: [u8; SNAP_BYTES],
    control: Vec<u8>,
}

impl Tap {
    /// Opens a capture at this host.
    ///
    /// # Errors
    ///
    /// The process lacks CAP_NET_RAW in its namespace.
    pub fn of(host: &Host) -> Result<Tap, Error> {
        let socket = host.inside(|| {
            let socket = socket(
                AddressFamily::Packet,
                SockType::Datagram,
                SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
                SockProtocol::EthAll,
            )?;
            setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
            // Refused outside the first user namespace; the default size is used then.
            let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES);
            Ok(socket)
        })?;
        Ok(Tap {
            socket: socket
                .map_err(|error: Errno| io::Error::from(error))
                .context("cannot capture packets; this takes CAP_NET_RAW in the namespace")?,
            data: [0; SNAP_BYTES],
            control: nix::cmsg_space!(nix::sys::time::TimeSpec),
        })
    }

    /// The next packet; `None` if none arrives within a short time.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn next_packet(&mut self) -> io::Result<Option<Tapped<'_>>> {
        let mut descriptors = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut descriptors, PollTimeout::from(WAIT_MS)) {
            Ok(0) | Err(Errno::EINTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut parts = [IoSliceMut::new(&mut self.data)];
        let received = recvmsg::<()>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut self.control),
            MsgFlags::MSG_TRUNC,
        );
        let message = match received {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let len = message.bytes;
        let stamp = message
            .cmsgs()
            .map_err(io::Error::from)?
            .find_map(|control| {
                let ControlMessageOwned::ScmTimestampns(stamp) = control else {
                    return None;
                };
                let (seconds, nanos) = (stamp.tv_sec(), stamp.tv_nsec());
                let nanos = u64::try_from(nanos).ok()?;
                Some(u64::try_from(seconds).ok()? * 1_000_000_000 + nanos)
            });
        let Some(unix_nanos) = stamp else {
            return Err(io::Error::other("the kernel adds no timestamps to packets"));
        };
        Ok(Some(Tapped {
            unix_nanos,
            len,
            data: &self.data[..len.min(SNAP_BYTES)],
        }))
    }
}
