//! Where packets go in and out.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use noq::{AsyncUdpSocket, Endpoint, EndpointConfig, Runtime as _, ServerConfig, TokioRuntime};
use socket2::{Domain, Protocol, Socket, Type};

use super::error::EndpointError;
use super::identity::Identity;

/// What is asked of the kernel as a socket's buffers; it gives what its own limits allow. The default of most systems,
/// about 200 kB, is less than two milliseconds of 1 Gbit/s.
pub(crate) const SOCKET_BUFFER: usize = 4 << 20;

/// Where an endpoint's sockets come from.
pub trait Sockets: Send + Sync {
    /// A socket at `address` (port 0: any).
    fn open(&self, address: SocketAddr) -> io::Result<Box<dyn AsyncUdpSocket>>;
}

/// The system's own UDP sockets.
#[derive(Debug)]
pub struct Udp;

impl Sockets for Udp {
    fn open(&self, address: SocketAddr) -> io::Result<Box<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(open(address, true)?)
    }
}

/// Opens a socket of `sockets` at `address` (port 0: any) and an endpoint on it, which accepts connections if `server` says
/// how and as whom. An IPv6 wildcard address serves IPv4 too where the system can. Its packets are capable of ECN: what
/// controls its congestion must [answer marks](crate::controller::Controllers::responds_to_ecn). Must be called within a tokio runtime.
///
/// # Errors
/// The system gives no such socket.
pub fn bind(
    sockets: &dyn Sockets,
    address: SocketAddr,
    server: Option<(ServerConfig, &Identity)>,
) -> Result<Endpoint, EndpointError> {
    let (server, config) = match server {
        Some((server, identity)) => (Some(server), identity.endpoint_config()),
        None => (None, EndpointConfig::default()),
    };
    sockets
        .open(address)
        .and_then(|socket| {
            let runtime = Arc::new(TokioRuntime);
            Endpoint::new_with_abstract_socket(config, server, socket, runtime)
        })
        .map_err(|source| EndpointError::Bind { address, source })
}

/// A socket at `address`. One of IPv6 serves IPv4 too, if `is_both` says so and the system can.
pub(crate) fn open(address: SocketAddr, is_both: bool) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // Each of these is a wish: a system that refuses one still gives a working socket.
    if address.is_ipv6() {
        let _ = socket.set_only_v6(!is_both);
    }
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}
