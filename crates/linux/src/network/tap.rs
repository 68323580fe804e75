//! What a host sends and receives, as tcpdump sees it: a packet socket in its namespace (packet(7)).

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

/// Of each packet so much is kept: all headers, with their options.
const SNAP: usize = 160;

/// What arrives while nobody reads must fit.
const BUFFER: usize = 64 << 20;

/// How long to wait for a packet, in milliseconds.
const WAIT: u16 = 20;

/// A packet that passed.
#[derive(Debug)]
pub struct Tapped<'t> {
    /// When, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// How long it is.
    pub len: usize,
    /// Its beginning: from IP's header on.
    pub data: &'t [u8],
}

/// Sees what a host sends and receives.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    data: [u8; SNAP],
    control: Vec<u8>,
}

impl Tap {
    /// Of this host.
    ///
    /// # Errors
    ///
    /// Without CAP_NET_RAW in its namespace.
    pub fn of(host: &Host) -> Result<Tap, Error> {
        let socket = host.inside(|| {
            let socket = socket(
                AddressFamily::Packet,
                SockType::Datagram,
                SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
                SockProtocol::EthAll,
            )?;
            setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
            // Refused outside the first user namespace; the default then has to do.
            let _ = setsockopt(&socket, sockopt::RcvBufForce, &BUFFER);
            Ok(socket)
        })?;
        Ok(Tap {
            socket: socket
                .map_err(|error: Errno| io::Error::from(error))
                .context("cannot capture packets; this takes CAP_NET_RAW in the namespace")?,
            data: [0; SNAP],
            control: nix::cmsg_space!(nix::sys::time::TimeSpec),
        })
    }

    /// The next packet; `None` if none passes for a moment.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn next_packet(&mut self) -> io::Result<Option<Tapped<'_>>> {
        let mut descriptors = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut descriptors, PollTimeout::from(WAIT)) {
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
            return Err(io::Error::other("the kernel stamps no packets"));
        };
        Ok(Some(Tapped {
            unix_nanos,
            len,
            data: &self.data[..len.min(SNAP)],
        }))
    }
}
