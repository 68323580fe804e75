//! Files over QUIC, from one machine to another, that arrive whole and verified or not at all.
//!
//! [`Receiver::bind`] makes a [`Ticket`]; [`send()`] takes it. For Unix: what is safe of a directory that others write to rests
//! on its calls.
//!
//! # What it protects against
//!
//! 1. Somebody on the path reads and changes packets at will: everything is under TLS 1.3, and the ticket pins the
//!    receiver's certificate, so that no third party can stand in for the receiver.
//! 2. Somebody reaches the receiver's port without a ticket: nothing is offered, and no disk is touched, before a
//!    proof of the 128-bit secret. The proof is keyed BLAKE3 over keying material exported from this very TLS session,
//!    so it reveals nothing and is good for no other session. It is compared in constant time. Connections without a proof
//!    are few, short-lived, and get little memory; they compete for their places by address, and each address has a share
//!    of handshakes. However many there are, they neither end a transfer nor keep a sender with the proof out, unless
//!    they come from its own address faster than that share, or use up the path or the processor.
//! 3. A ticket is used twice: it belongs to the first list of files that is offered with it (the sender may replace the
//!    list on purpose, with `restart`), and to the sender that is sending them: another one is turned away until the first
//!    has been silent for three seconds. It is spent, key and secret deleted, when all of them have arrived. Until then
//!    it must stay valid, or a crash could not be survived; so certificate, key, secret and port are kept beside
//!    the unfinished files, readable by the owner only, and the same command prints the same ticket again. A receiver
//!    with [`ReceiverConfig::keep`] spends no ticket: who has it may send until the receiver's user ends that, and
//!    senders wait for each other.
//! 4. The holder of the ticket is malicious: a path is refused by the receiver unless its components are plain names;
//!    no symbolic link on the way is followed; no existing file is replaced unless the receiver's user asked for it;
//!    messages, streams and memory are bounded. What it can do is fill the disk, which the receiver's user allowed by
//!    passing on the ticket.
//! 5. Disks and programs fail: a file appears under its name only when every block, and the whole, have the hashes that
//!    the sender computed; what is resumed is read and hashed again first.
//! 6. Other users can write to the output directory: a state folder that is not the receiver's own is refused, one that
//!    others could look into is closed, and no symbolic link in it is followed.
//! 7. Not covered: who sees the ticket may send, and may learn the names of an unfinished transfer; who watches the path
//!    sees sizes and times; whoever can read the receiver's state folder or memory is the receiver; a flood that fills the
//!    path keeps everybody out.
//!
//! # The protocol
//!
//! QUIC with ALPN `fullpipe-transfer/3`. A bidirectional stream for control; unidirectional ones for content, the earlier
//! the more urgent: one for each block of 256 KiB of a large file, and one for each batch of files that are smaller than
//! that. Both sides compute from offer and answer what travels in which order (`plan`), so nothing that travels says what
//! it is, and no file costs a round trip.
//!
//! 1. Sender, in the flight that ends its handshake: proof (32 bytes), a number of its own that lets the
//!    receiver know it again (16 bytes), `wire::Offer` (paths, sizes, holes).
//! 2. Receiver: `wire::Answer`: which files are complete, with their hashes; of which large files which blocks are
//!    verified, with a digest of their hashes; or why not. So data leave one round trip after the handshake.
//! 3. Sender: if its own files have the same hashes: streams of hashes and content for all that is missing, but for
//!    blocks that are holes; after the blocks of a large file, on the control stream, the hash of the whole.
//! 4. Receiver: verifies, writes, records, and says how far it is (`wire::Reply`); makes contents last, those of many
//!    files together; gives the files their names; says so.
//! 5. When the last file has its name: sender closes the connection with code 1, receiver forgets the ticket, or with
//!    [`ReceiverConfig::keep`] the transfer.
//!
//! Whatever fails, fails with a reply or a closing code that tells the other side; what is verified stays. A peer that
//! is silent for ten seconds is gone. The receiver goes on listening: the sender's same command continues. A sender
//! that gets no acknowledgement for three seconds connects again while it goes on waiting, and uses what answers first;
//! it takes over from its former self, which the receiver knows by the sender's number. A receiver that was killed and
//! started again says so with stateless resets, and the sender connects again at once.
//!
//! Why a stream for each block, and not one for each file: a stream is delivered in order, so a single lost packet makes
//! QUIC hold all that follows. noq closes a connection when it has to hold more than some 2000 packets of one stream,
//! which is 3 MB: less than a long fat path has in flight.

mod accept;
mod connect;
mod disk;
mod error;
mod folders;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod guests;
mod hashes;
mod intake;
mod journal;
mod listen;
mod name;
mod part;
mod plan;
mod proof;
mod ranges;
mod reader;
mod recv;
mod send;
mod source;
mod sparse;
mod store;
#[cfg(test)]
mod tests;
mod ticket;
mod tree;
mod turned_away;
mod wire;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use noq::{TransportConfig, VarInt};
use quic::controller::Controllers;
use quic::endpoint;

pub use connect::{SenderConfig, send};
pub use error::{Error, Refusal};
pub use name::{NameProblem, STATE_FOLDER, check as check_name};
pub use recv::{Receiver, ReceiverConfig, Resumption};
pub use source::Skipped;
pub use ticket::{Ticket, TicketError};

/// A peer that is silent for this long is gone.
const IDLE_TIMEOUT_MS: u32 = 10_000;

/// A few of these may get lost before a peer seems silent.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// What may wait of one stream: a block with its hash, a batch, or a piece of a message.
const STREAM_WINDOW: VarInt = VarInt::from_u32(1 << 20);

/// Streams that may be on their way at the same time: as many as the window of the whole connection holds.
const STREAMS: u32 = 128;

/// Streams that may wait between disk and network, so that neither waits for the other.
const QUEUE: usize = 8;

/// How long the last words of a failing transfer may take.
const FAREWELL: Duration = Duration::from_secs(3);

/// Is told what happens, for progress bars and logs. Called from the task that runs the transfer: must be quick.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// What happens in a transfer.
#[derive(Debug)]
pub enum Event<'a> {
    /// A connection to the peer is up. On the receiver: with the right proof. Its statistics are the caller's to read.
    Connected(&'a noq::Connection),
    /// Sender only: something in a directory is not sent.
    Skipped {
        /// Where it is.
        path: &'a Path,
        /// Why it is not sent.
        why: Skipped,
    },
    /// Both sides know what is to be done.
    Begun(&'a Status),
    /// More is verified, by the receiver.
    Verified {
        /// The bytes that are verified now, those of earlier attempts included.
        bytes: u64,
    },
    /// Files are whole, verified, and have their names.
    Complete {
        /// So many files and directories, those of earlier attempts included.
        files: u64,
    },
    /// Receiver only, with [`ReceiverConfig::keep`]: a transfer is complete, and the next one may come.
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
    /// How many of them are verified already.
    pub verified: u64,
}

impl Status {
    fn of(files: &[wire::Offered], begun: &wire::Progress) -> Status {
        Status {
            name: match files {
                [file] => Some(file.path.clone()),
                _ => None,
            },
            files: files.len() as u64,
            directories: files.iter().filter(|file| file.is_directory()).count() as u64,
            complete: begun.files,
            size: files
                .iter()
                .map(|file| file.size)
                .fold(0, u64::saturating_add),
            verified: begun.bytes,
        }
    }
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
    /// Its BLAKE3 hash.
    pub hash: [u8; 32],
    /// How many bytes of it an earlier attempt had brought.
    pub resumed: u64,
}

fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = endpoint::transport(controllers);
    config
        .stream_receive_window(STREAM_WINDOW)
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE))
        // Nobody reads any, so a peer must not be able to pile them up.
        .datagram_receive_buffer_size(None);
    config
}
