//! Where packets go in and out.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use noq_udp::UdpSocketState;
use socket2::{Domain, Protocol, Socket, Type};

/// What is asked of the kernel as a socket's buffers; it gives what its own limits allow. The default of most systems,
/// about 200 kB, is less than two milliseconds of 1 Gbit/s.
pub const SOCKET_BUFFER: usize = 4 << 20;

/// As how many datagrams the kernel sends one write (UDP GSO): 1 where it does not cut writes.
///
/// # Errors
///
/// There is no UDP socket on the loopback interface.
pub fn most_segments() -> io::Result<usize> {
    let socket = open((Ipv4Addr::LOCALHOST, 0).into(), false)?;
    let state = UdpSocketState::new((&socket).into())?;
    Ok(state.max_gso_segments().get())
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
