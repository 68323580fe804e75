//! The side that is connected to.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Context;
use crate::{Error, Host};

/// How many connections may wait to be accepted; `net.core.somaxconn` of the namespace (4096 unless set) bounds it too.
const BACKLOG: i32 = 65_535;

/// A socket that waits for connections, on an address of its own.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// Listens on an address of `host`; see [`listen_here`].
///
/// # Errors
///
/// As [`listen_here`], and if the namespace cannot be entered.
pub fn listen(host: &Host, address: SocketAddr) -> Result<Listener, Error> {
    host.inside(|| listen_here(address))?
}

/// Listens on `address`; port 0 lets the kernel choose one. What earlier connections left in TIME-WAIT does not stand in
/// the way (`SO_REUSEADDR`).
///
/// # Errors
///
/// If the address is taken, or not this host's.
pub fn listen_here(address: SocketAddr) -> Result<Listener, Error> {
    let open = || -> io::Result<Listener> {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM.nonblocking().cloexec(),
            Some(Protocol::TCP),
        )?;
        socket.set_reuse_address(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let socket = TcpListener::from(socket);
        let address = socket.local_addr()?;
        Ok(Listener { socket, address })
    };
    open().context(format!("cannot listen on {address}"))
}

impl Listener {
    /// The next connection and where it comes from. It inherits the listener's options and controller.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if none waits; else as accept(2).
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = self.socket.accept()?;
        stream.set_nonblocking(true)?;
        Ok((stream, from))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
