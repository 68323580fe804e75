//! The receiver's configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

/// The receiver's configuration.
#[derive(Debug, Clone)]
pub struct ReceiverConfig {
    /// The address to listen on; port 0 for any free one.
    pub listen: SocketAddr,
    /// The addresses in the ticket, instead of the detected ones; port 0 for the port of the socket.
    pub advertise: Vec<SocketAddr>,
    /// The directory in which the files appear.
    pub out: PathBuf,
    /// Existing files may be replaced.
    pub overwrite: bool,
    /// A file whose name is taken gets another one. A name is taken by an existing file, or by a name in the same
    /// transfer that the file system treats as the same.
    pub rename: bool,
    /// Discard an unfinished transfer, its ticket and its parts.
    pub fresh: bool,
    /// Continue after a transfer: the ticket is valid for any number of them, one after the other.
    pub keep: bool,
}

/// The state of the output directory at the receiver's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// No unfinished transfer: the ticket is new.
    None,
    /// An unfinished transfer: the ticket is the same as before.
    SameTicket,
    /// An unfinished transfer whose port is taken: only the new ticket is valid, and continues it.
    NewPort,
}
