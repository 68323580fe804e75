//! Files over QUIC, from one machine to another, that arrive whole and verified or not at all.
//!
//! [`Receiver::bind`] makes a [`Ticket`]; [`send()`] takes it. For Unix only: the protection of a directory that
//! others can write to depends on Unix system calls.
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
//!    no symbolic link on the way is followed; no existing file is replaced unless the receiver's user asked for it, and none of
//!    the same transfer in any case; holes cost nothing, and work for a sender ends when its connection does;
//!    messages, streams and memory are bounded. What it can do is fill the disk, which the receiver's user allowed by
//!    passing on the ticket.
//! 5. Disks and programs fail: a file appears under its name only when every block, and the whole, have the hashes that
//!    the sender computed; what is resumed is read and hashed again first.
//! 6. Other users can write to the output directory: a state folder that is not the receiver's own is refused, one that
//!    others could look into is closed, no symbolic link in it is followed, and it is held open, so that nothing else takes
//!    its place.
//! 7. The receiver is malicious: what it claims to have must have the sender's hashes, what it says is bounded and may not go
//!    back, and it can open no streams. It can keep the sender waiting.
//! 8. Not covered: who sees the ticket may send, and may learn the names of an unfinished transfer; who watches the path
//!    sees sizes and times; whoever can read the receiver's state folder or memory is the receiver; a flood that fills the
//!    path keeps everybody out.
//!
//! # The protocol
//!
//! QUIC with ALPN `fullpipe-transfer/4`. A bidirectional stream for control; unidirectional ones for content, the earlier
//! the more urgent: one for each block of 256 KiB of a large file, and one for each batch of files that are smaller than
//! that. Both sides compute from offer and answer what travels in which order (`plan`), so nothing that travels says what
//! it is, and no file costs a round trip.
//!
//! 1. Sender, in the flight that ends its handshake: proof (32 bytes), a number of its own that lets the
//!    receiver know it again (16 bytes), `message::Offer` (paths, sizes, holes).
//! 2. Receiver: `message::Answer`: which files are complete, with their hashes; of which large files which blocks are
//!    verified, with a digest of their hashes; or why not. So data leave one round trip after the handshake.
//! 3. Sender: if its own files have the same hashes: streams of hashes and content for all that is missing, but for
//!    blocks that are holes; after the blocks of a large file, on the control stream, what the whole is verified by
//!    (`seal`).
//! 4. Receiver: verifies, writes, records, and says how far it is (`message::Reply`); makes contents last, those of many
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

mod code;
mod directory;
mod disk;
mod error;
mod event;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod hashes;
mod limits;
mod message;
mod name;
mod plan;
mod proof;
mod ranges;
mod receiver;
mod refusal;
mod seal;
mod sender;
mod skipped;
mod sparse;
mod stop;
#[cfg(test)]
mod tests;
mod ticket;
mod transport;
mod tree;
mod wire;
mod wire_error;

pub use error::Error;
pub use event::{Event, Status, Transferred, Watch};
pub use name::{NameProblem, STATE_FOLDER, check as check_name};
pub use receiver::{Receiver, ReceiverConfig, Resumption};
pub use refusal::Refusal;
pub use sender::{SenderConfig, send};
pub use skipped::Skipped;
pub use ticket::{Ticket, TicketError};
