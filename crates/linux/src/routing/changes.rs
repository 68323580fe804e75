//! Changes of routes.

use std::io;

use netlink_packet_core::NetlinkBuffer;
use netlink_packet_route::route::RouteHeader;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::Error;
use crate::error::Context;

/// Listens for changes of routes in the table `main`.
pub struct Changes {
    socket: Socket,
}

/// The multicast groups for routes (`RTNLGRP_IPV4_ROUTE`, `RTNLGRP_IPV6_ROUTE` of linux/rtnetlink.h).
const MULTICAST_GROUPS: [u32; 2] = [7, 11];

/// The offset of the table in `struct rtmsg`.
const TABLE_AT: usize = 4;

impl Changes {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The kernel has no socket for this.
    pub fn listen_here() -> Result<Changes, Error> {
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            for group in MULTICAST_GROUPS {
                socket.add_membership(group)?;
            }
            socket.set_non_blocking(true)?;
            Ok::<_, io::Error>(socket)
        };
        let socket = open().context("cannot listen for changes of routes")?;
        Ok(Changes { socket })
    }

    /// Whether a route has changed since the last call.
    pub fn any(&self) -> bool {
        let (mut is_any, mut message) = (false, Vec::with_capacity(1 << 16));
        loop {
            message.clear();
            match self.socket.recv(&mut message, 0) {
                Ok(_) => {
                    let about = NetlinkBuffer::new_checked(&message);
                    let table = about
                        .ok()
                        .and_then(|of| of.payload().get(TABLE_AT).copied());
                    is_any |= table == Some(RouteHeader::RT_TABLE_MAIN);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return is_any,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The receive buffer has overflowed.
                Err(_) => return true,
            }
        }
    }
}
