//! The congestion controller of a socket.

use std::io;
use std::os::fd::AsFd;

use socket2::SockRef;

use crate::Error;
use crate::network::controllers_here;

/// Sets the congestion controller of a socket by name (`TCP_CONGESTION`). Connections that a listener accepts later
/// inherit it. On an established connection, it starts from the old controller's state.
///
/// # Errors
///
/// [`Error::UnknownController`], which names the available ones if called in the socket's namespace; another error if
/// this user may not use the controller (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_controller(socket: &impl AsFd, name: &str) -> Result<(), Error> {
    SockRef::from(socket)
        .set_tcp_congestion(name.as_bytes())
        .map_err(|source| match source.kind() {
            // The kernel truncates a name that is too long, so it is not found either.
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
