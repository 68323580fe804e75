//! What is left of a connection that is closed.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::SockRef;

/// From now on, to close the connection ends it at once: the other side is sent a reset, what is not acknowledged is
/// forgotten, and nothing of the connection is left in this host (`SO_LINGER` zero, socket(7); RFC 9293, "ABORT").
///
/// # Errors
///
/// The kernel refuses.
pub fn abort_on_close(socket: &impl AsFd) -> io::Result<()> {
    SockRef::from(socket).set_linger(Some(Duration::ZERO))
}
