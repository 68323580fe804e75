//! UDP sockets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use noq_udp::UdpSocketState;
use socket2::{Domain, Protocol, Socket, Type};

/// The requested size of a socket's buffers, in bytes; the kernel's limits may reduce it. The default of most systems,
/// about 200 kB, is less than two milliseconds of 1 Gbit/s.
pub const SOCKET_BUFFER_BYTES: usize = 4 << 20;

/// The number of datagrams into which the kernel divides one write (UDP GSO): 1 where it does not divide writes.
///
/// # Errors
///
/// There is no UDP socket on the loopback interface.
pub fn most_segments() -> io::Result<usize> {
    let socket = open((Ipv4Addr::LOCALHOST, 0).into(), false)?;
    let state = UdpSocketState::new((&socket).into())?;
    Ok(state.max_gso_segments().get())
}

/// Opens a socket at `address`. An IPv6 socket serves IPv4, too, if `is_both` is true and the system supports it.
pub(crate) fn open(address: SocketAddr, is_both: bool) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // These settings are optional: if a system refuses one, the socket still works.
    if address.is_ipv6() {
        let _ = socket.set_only_v6(!is_both);
    }
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER_BYTES);
    socket.bind(&address.into())?;
    Ok(socket.into())
}
