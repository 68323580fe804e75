//! How to receive.

use std::net::SocketAddr;
use std::path::PathBuf;

/// How to receive.
#[derive(Debug, Clone)]
pub struct ReceiverConfig {
    /// Where to listen; port 0 for any.
    pub listen: SocketAddr,
    /// What the ticket says instead of the addresses found; port 0 for the port that is listened on.
    pub advertise: Vec<SocketAddr>,
    /// The directory in which the files appear.
    pub out: PathBuf,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
    /// Whether what has a name that is taken gets another one: by something that is there already, or by another name of the
    /// transfer that the file system takes for the same.
    pub rename: bool,
    /// Forget an unfinished transfer, its ticket and its parts.
    pub fresh: bool,
    /// Go on after a transfer: the ticket is good for any number of them, one after the other.
    pub keep: bool,
}

/// What a receiver found in its output directory when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// Nothing: the ticket is new.
    None,
    /// An unfinished transfer: the ticket is the one that was printed before.
    SameTicket,
    /// An unfinished transfer, but its port is taken: only the new ticket works, and continues it.
    NewPort,
}
