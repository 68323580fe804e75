//! Connecting sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::set_controller;
use crate::error::Context;
use crate::{Error, Host};

/// The options of a connecting socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectOptions<'a> {
    /// The kernel's name of the congestion controller.
    pub controller: &'a str,
    /// The maximum payload of a packet, in both directions (`TCP_MAXSEG`); `None` leaves it to the MTU. Options, such
    /// as the twelve bytes of timestamps, are deducted from it.
    pub mss: Option<u16>,
}

/// Starts to connect a socket of `host`; see [`connect_here`].
///
/// # Errors
///
/// Those of [`connect_here`], or the namespace cannot be entered.
pub fn connect(
    host: &Host,
    from: IpAddr,
    to: SocketAddr,
    options: &ConnectOptions,
) -> Result<TcpStream, Error> {
    host.inside(|| connect_here(from, to, options))?
}

/// Starts to connect a socket from the address `from` to `to`. The connection is established once the socket is
/// writable and [`established`] returns true. The options are set before the first packet.
///
/// # Errors
///
/// [`Error::UnknownController`], or the kernel refuses.
pub fn connect_here(
    from: IpAddr,
    to: SocketAddr,
    options: &ConnectOptions,
) -> Result<TcpStream, Error> {
    let system =
        |source: io::Error| Error::system(format!("cannot connect from {from} to {to}"), source);
    let socket = Socket::new(
        Domain::for_address(to),
        Type::STREAM.nonblocking().cloexec(),
        Some(Protocol::TCP),
    )
    .map_err(system)?;
    set_controller(&socket, options.controller)?;
    socket.set_tcp_nodelay(true).map_err(system)?;
    if let Some(mss) = options.mss {
        socket
            .set_tcp_mss(mss.into())
            .context(format!("cannot set an MSS of {mss} bytes"))?;
    }
    // The port is chosen once the destination is known, so that one port serves many destinations.
    setsockopt(&socket, IpBindAddressNoPort, &true).map_err(|errno| system(errno.into()))?;
    socket
        .bind(&SocketAddr::new(from, 0).into())
        .map_err(system)?;
    match socket.connect(&to.into()) {
        Err(source) if source.raw_os_error() != Some(Errno::EINPROGRESS as i32) => {
            Err(system(source))
        }
        _ => Ok(socket.into()),
    }
}

/// Whether a connection that [`connect`] started is established.
///
/// # Errors
///
/// The reason why it failed: nobody listens there, nobody answers, or there is no route.
pub fn established(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match SockRef::from(stream).peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}
