//! The congestion controller of a socket.

use std::io;
use std::os::fd::AsFd;

use socket2::SockRef;

use crate::Error;
use crate::network::controllers_here;

/// Gives a socket the congestion controller of that name (`TCP_CONGESTION`). On a listener, those that it accepts later
/// have it too; on a connection that runs, it begins with what the old one left.
///
/// # Errors
///
/// [`Error::UnknownController`], which names those that there are, if called in the socket's namespace; another if the
/// controller is not allowed to this user (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_controller(socket: &impl AsFd, name: &str) -> Result<(), Error> {
    SockRef::from(socket)
        .set_tcp_congestion(name.as_bytes())
        .map_err(|source| match source.kind() {
            // A name that is too long is cut by the kernel, not refused: it is not found either.
            io::ErrorKind::NotFound => match controllers_here() {
                Ok(offered) => Error::UnknownController {
                    asked: name.to_owned(),
                    offered: offered.join(", "),
                },
                Err(error) => error,
            },
            io::ErrorKind::PermissionDenied => Error::system(
                format!(
                    "cannot use the congestion controller {name}; this takes CAP_NET_ADMIN, or its name in \
                     net.ipv4.tcp_allowed_congestion_control"
                ),
                source,
            ),
            _ => Error::system(
                format!("cannot use the congestion controller {name}"),
                source,
            ),
        })
}
