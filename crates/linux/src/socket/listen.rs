//! Listening sockets.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Context;
use crate::{Error, Host};

/// The most connections that may wait to be accepted; `net.core.somaxconn` of the namespace (4096 by default) bounds
/// it too.
const BACKLOG: i32 = 65_535;

/// A listening socket, on an address of its own.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// Listens on an address of `host`; see [`listen_here`].
///
/// # Errors
///
/// Those of [`listen_here`], or the namespace cannot be entered.
pub fn listen(host: &Host, address: SocketAddr) -> Result<Listener, Error> {
    host.inside(|| listen_here(address))?
}

/// Listens on `address`; with port 0 the kernel chooses one. Earlier connections in TIME-WAIT do not prevent it
/// (`SO_REUSEADDR`).
///
/// # Errors
///
/// The address is taken, or not this host's.
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
    /// Accepts the next connection; returns it with its remote address. It inherits the listener's options and
    /// controller.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if no connection waits; else those of accept(2).
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = self.socket.accept()?;
        stream.set_nonblocking(true)?;
        Ok((stream, from))
    }

    /// The local address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
