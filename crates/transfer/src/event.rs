//! What is told of a transfer.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use quic::connection::Connection;

use crate::error::Error;
use crate::message::{Offered, Progress};
use crate::skipped::Skipped;

/// Is told what happens, for progress bars and logs. Called from the task that runs the transfer: must be quick.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// What happens in a transfer.
#[derive(Debug)]
pub enum Event<'a> {
    /// A connection to the peer is up. On the receiver: with the right proof. Its statistics are the caller's to read.
    Connected(&'a Connection),
    /// Sender only: something is not sent.
    Skipped {
        /// Where it is.
        path: &'a Path,
        /// Why it is not sent.
        why: Skipped,
    },
    /// Sender only: something cannot be sent, and nothing is until it is mended or skipped.
    Unsendable {
        /// Where it is.
        path: &'a Path,
        /// Why it cannot be sent.
        why: Skipped,
    },
    /// Receiver only: something does not get the path that the sender has given it, because that is taken.
    Renamed {
        /// The sender's path.
        from: &'a str,
        /// The one that it gets.
        to: &'a str,
    },
    /// Both sides know what is to be done.
    Begun(&'a Status),
    /// More is verified, by the receiver.
    Verified {
        /// The bytes that are verified now, those of earlier attempts included and holes not.
        bytes: u64,
    },
    /// Files are whole, verified, and have their names.
    Complete {
        /// So many files and directories, those of earlier attempts included.
        files: u64,
    },
    /// Receiver only, with [`ReceiverConfig::keep`](crate::ReceiverConfig::keep): a transfer is complete, and the next one may come.
    Received(&'a [Transferred]),
    /// Sender only: the receiver acknowledges nothing any more, and is being connected to again.
    Reconnecting,
    /// Receiver only: connections without the ticket's secret, or that never got as far as that. However many there are,
    /// they are told of ever more rarely.
    TurnedAway {
        /// From where the latest of them came.
        peer: SocketAddr,
        /// Why it was turned away.
        error: &'a Error,
        /// How many others there were since the last such event.
        others: u64,
    },
    /// Receiver only: the sender is gone, or its files were refused. The receiver waits for it to come back.
    Interrupted(&'a Error),
}

/// A transfer at its beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The path of its only file.
    pub name: Option<String>,
    /// How many files and directories it has.
    pub files: u64,
    /// How many of them are directories.
    pub directories: u64,
    /// How many of them are complete already.
    pub complete: u64,
    /// The bytes of all files.
    pub size: u64,
    /// How many of them are in no hole.
    pub data: u64,
    /// How many of those are verified already.
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

/// A file that has been transferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// Its path in the transfer, with `/` between the components.
    pub name: String,
    /// Where it is: on the sender its source, on the receiver the new file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The bytes of it that are in no hole of a whole block.
    pub data: u64,
    /// Its BLAKE3 hash; nothing if blocks of it are holes, of which nobody has computed a hash.
    pub hash: Option<[u8; 32]>,
    /// How many bytes of its data an earlier attempt had brought.
    pub resumed: u64,
}
