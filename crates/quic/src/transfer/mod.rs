//! Files over QUIC, from one machine to another, that arrive whole and verified or not at all.
//!
//! [`Receiver::bind`] makes a [`Ticket`]; [`send()`] takes it.
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
//!    the unfinished files, readable by the owner only, and the same command prints the same ticket again.
//! 4. The holder of the ticket is malicious: a name is refused by the receiver unless it is one plain component; no
//!    existing file is replaced unless the receiver's user asked for it; messages, streams and memory are bounded. What it
//!    can do is fill the disk, which the receiver's user allowed by passing on the ticket.
//! 5. Disks and programs fail: a file appears under its name only when every block, and the whole, have the hashes that
//!    the sender computed; what is resumed is read and hashed again first.
//! 6. Other users can write to the output directory: a state folder that is not the receiver's own is refused, one that
//!    others could look into is closed, and no symbolic link in it is followed.
//! 7. Not covered: who sees the ticket may send, and may learn the names of an unfinished transfer (on the sender, a list
//!    of running commands shows it); who watches the path sees sizes and times; whoever can read the receiver's state
//!    folder or memory is the receiver; a flood that fills the path keeps everybody out.
//!
//! # The protocol
//!
//! QUIC with ALPN `fullpipe-transfer/2`. A bidirectional stream for control, a unidirectional one for each block of
//! 256 KiB, the earlier the more urgent.
//!
//! 1. Sender, in the flight that ends its handshake: proof (32 bytes), a number of its own that lets the
//!    receiver know it again (16 bytes), `wire::Offer` (names and sizes).
//! 2. Receiver: `wire::Answer`: for every file which blocks are verified, and a digest of their hashes; or why not. So
//!    data leave one round trip after the handshake.
//! 3. Sender: for each file, if its own blocks have the same digest: for every missing block, in order, a stream with its
//!    hash and its bytes; then, on the control stream, the hash of the whole file.
//! 4. Receiver: verifies, writes, records each block, and says so (`wire::Reply`); gives the file its name; says so.
//! 5. When the last file has its name: sender closes the connection with code 1, receiver forgets the ticket.
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
mod guests;
mod listen;
mod name;
mod part;
mod proof;
mod recv;
mod send;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod ticket;
mod tree;
mod turned_away;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::controller::Controllers;
use noq::{TransportConfig, VarInt};

use crate::endpoint;

pub use connect::{SenderConfig, send};
pub use error::{Error, Refusal};
pub use name::{NameProblem, STATE_FOLDER, check as check_name};
pub use recv::{Receiver, ReceiverConfig, Resumption};
pub use ticket::{MAX_ADDRESSES, Secret, Ticket, TicketError};
pub use tree::BLOCK;
pub use wire::MAX_FILES;

/// A peer that is silent for this long is gone.
const IDLE_TIMEOUT_MS: u32 = 10_000;

/// A few of these may get lost before a peer seems silent.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// What may wait of one stream: a block with its hash, or a message.
const STREAM_WINDOW: VarInt = VarInt::from_u32(1 << 20);

/// Blocks that may be on their way at the same time: as many as the window of the whole connection holds.
const STREAMS: u32 = 128;

/// Blocks that may wait between disk and network, so that neither waits for the other.
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
    /// Both sides know what is to be done: all files, in order, with what is verified of each already.
    Begun(&'a [FileStatus]),
    /// More of a file is verified, by the receiver.
    Verified {
        /// The file's place among those of [`Event::Begun`].
        file: usize,
        /// Its bytes that are verified now, those of earlier attempts included.
        bytes: u64,
    },
    /// A file is whole, verified, and has its name.
    Complete {
        /// The file's place among those of [`Event::Begun`].
        file: usize,
    },
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

/// A file of the transfer at its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// How many of them are verified already.
    pub verified: u64,
}

/// A file that has been transferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// Its name.
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
