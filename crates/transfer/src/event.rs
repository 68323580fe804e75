//! The events of a transfer.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use quic::connection::Connection;

use crate::error::Error;
use crate::message::{Offered, Progress};
use crate::skipped::Skipped;

/// A callback for the events of a transfer, for progress bars and logs. It runs on the transfer's task and must return
/// quickly.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// An event of a transfer.
#[derive(Debug)]
pub enum Event<'a> {
    /// A connection to the peer is established; on the receiver, with a valid proof. The caller may read its
    /// statistics.
    Connected(&'a Connection),
    /// Sender only: a source is skipped.
    Skipped {
        /// Its path.
        path: &'a Path,
        /// The reason.
        why: Skipped,
    },
    /// Sender only: a source cannot be sent. The transfer does not start until it is mended or skipped.
    Unsendable {
        /// Its path.
        path: &'a Path,
        /// The reason.
        why: Skipped,
    },
    /// Receiver only: a file gets another path than the sender's, which is taken.
    Renamed {
        /// The sender's path.
        from: &'a str,
        /// The new path.
        to: &'a str,
    },
    /// The offer is accepted.
    Begun(&'a Status),
    /// The receiver has verified more data.
    Verified {
        /// All verified bytes, including earlier attempts, without holes.
        bytes: u64,
    },
    /// Files are verified and have their names.
    Complete {
        /// The number of such files and directories, including earlier attempts.
        files: u64,
    },
    /// Receiver only, with [`ReceiverConfig::keep`](crate::ReceiverConfig::keep): a transfer is complete, and the next
    /// one may come.
    Received(&'a [Transferred]),
    /// Sender only: the receiver sends no acknowledgements, and the sender reconnects.
    Reconnecting,
    /// Receiver only: connections without a valid proof of the ticket's secret were rejected. The interval between
    /// these events grows with their number.
    TurnedAway {
        /// The address of the latest.
        peer: SocketAddr,
        /// The reason for its rejection.
        error: &'a Error,
        /// The number of others since the previous event.
        others: u64,
    },
    /// Receiver only: the sender is gone, or its files were refused. The receiver waits for another connection.
    Interrupted(&'a Error),
}

/// The state of a transfer at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The path of its only file.
    pub name: Option<String>,
    /// The number of files and directories.
    pub files: u64,
    /// The number of directories.
    pub directories: u64,
    /// The number of files and directories that are complete already.
    pub complete: u64,
    /// The size of all files in bytes.
    pub size: u64,
    /// The bytes outside holes.
    pub data: u64,
    /// The bytes outside holes that are verified already.
    pub verified: u64,
}

impl Status {
    pub(crate) fn of(files: &[Offered], begun: &Progress) -> Status {
        Status {
            name: match files {
                [file] => Some(file.path.clone()),
                _ => None,
            },
            files: files.len() as u64,
            directories: files.iter().filter(|file| file.is_directory()).count() as u64,
            complete: begun.files,
            size: total(files, |file| file.size),
            data: total(files, Offered::data),
            verified: begun.bytes,
        }
    }
}

fn total(files: &[Offered], of: impl Fn(&Offered) -> u64) -> u64 {
    files.iter().map(of).fold(0, u64::saturating_add)
}

/// A transferred file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// Its path in the transfer, with `/` between the components.
    pub name: String,
    /// Its path on this machine: the source on the sender, the new file on the receiver.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The bytes outside holes of whole blocks.
    pub data: u64,
    /// Its BLAKE3 hash; `None` if blocks of it are holes, because nobody has computed a hash then.
    pub hash: Option<[u8; 32]>,
    /// The bytes of its data from earlier attempts.
    pub resumed: u64,
}
