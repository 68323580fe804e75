//! The state of a connection after its closing.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::SockRef;

/// Makes closing the connection end it at once: the other side gets a reset, unacknowledged data are discarded, and
/// nothing of the connection is left in this host (`SO_LINGER` zero, socket(7); RFC 9293, "ABORT").
///
/// # Errors
///
/// The kernel refuses.
pub fn abort_on_close(socket: &impl AsFd) -> io::Result<()> {
    SockRef::from(socket).set_linger(Some(Duration::ZERO))
}
