//! Files over QUIC, from one machine to another, that arrive whole and verified or not at all.
//!
//! [`Receiver::bind`] makes a [`Ticket`]; [`send()`] takes it. For Unix only: the protection of a directory that
//! others can write to depends on Unix system calls.
//!
//! # Threats
//!
//! 1. An attacker on the path reads and changes packets at will. Everything is under TLS 1.3, and the ticket pins the
//!    receiver's certificate, so no third party can impersonate the receiver.
//! 2. An attacker reaches the receiver's port without a ticket. Nothing is offered, and no disk is touched, before a
//!    proof of the 128-bit secret. The proof is keyed BLAKE3 over keying material exported from this TLS session, so
//!    it reveals nothing and is invalid in every other session. It is compared in constant time. Connections without a
//!    proof are few, short-lived, and get little memory. They compete for their places by address, and each address
//!    has a share of handshakes. They neither end a transfer nor keep a sender with the proof out, unless they come
//!    from its own address faster than that share, or use up the path or the processor.
//! 3. A ticket is used twice. It belongs to the first list of files that is offered with it (the sender may replace
//!    the list on purpose, with `restart`), and to the sender that is sending them: another one is turned away until
//!    the first has been silent for three seconds. When all files have arrived, the ticket is invalid, and key and
//!    secret are deleted. Until then it must stay valid, so that a transfer survives a crash. Certificate, key, secret
//!    and port are therefore kept beside the unfinished files, readable by the owner only, and the same command prints
//!    the same ticket again. A receiver with [`ReceiverConfig::keep`] keeps its ticket valid: its holders may send
//!    until the receiver's user ends that, and senders wait for each other.
//! 4. The holder of the ticket is malicious. The receiver refuses a path unless its components are plain names. It
//!    follows no symbolic link. It replaces no existing file unless its user asked for that, and never one of the same
//!    transfer. Holes cost nothing, and work for a sender ends with its connection. Messages, streams and memory are
//!    bounded. A holder can fill the disk, which the receiver's user allowed by passing on the ticket.
//! 5. Disks and programs fail. A file appears under its name only when every block, and the whole, have the hashes
//!    that the sender computed. A resumed part is read and hashed again first.
//! 6. Other users can write to the output directory. A state folder of another user is refused, and one that others
//!    can read is made private. No symbolic link in it is followed, and it is held open, so that it cannot be
//!    replaced.
//! 7. The receiver is malicious. The blocks that it claims to have must have the sender's hashes. Its reports are
//!    bounded and may not go back, and it can open no streams. It can keep the sender waiting.
//! 8. Not covered: anyone who sees the ticket may send, and may learn the names of an unfinished transfer; an observer
//!    of the path sees sizes and times; anyone who can read the receiver's state folder or memory can act as the
//!    receiver; a flood that fills the path keeps everybody out.
//!
//! # The protocol
//!
//! QUIC with ALPN `fullpipe-transfer/4`. A bidirectional stream carries control messages. Unidirectional streams carry
//! content, the earlier ones with higher priority: one for each block of 256 KiB of a large file, and one for each
//! batch of smaller files. Both sides compute the order of transmission from offer and answer (`plan`), so content
//! needs no labels, and no file costs a round trip.
//!
//! 1. Sender, in the flight that ends its handshake: the proof (32 bytes), a random number by which the receiver
//!    recognises it (16 bytes), and `message::Offer` (paths, sizes, holes).
//! 2. Receiver: `message::Answer`: the complete files with their hashes; the verified blocks of large files with a
//!    digest of their hashes; or the reason of a refusal. So data leave one round trip after the handshake.
//! 3. Sender, if its own files have the same hashes: streams of hashes and content for everything that is missing,
//!    except blocks that are holes; after the blocks of a large file, on the control stream, the hash that verifies
//!    the whole (`seal`).
//! 4. Receiver: verifies, writes and records, and reports its progress (`message::Reply`). It makes contents durable,
//!    those of many files together, gives the files their names, and reports that.
//! 5. When the last file has its name, the sender closes the connection with code 1. The receiver forgets the ticket,
//!    or with [`ReceiverConfig::keep`] the transfer.
//!
//! Every failure is reported to the other side by a reply or a closing code, and verified content stays. A peer that
//! is silent for ten seconds is gone. The receiver goes on listening: the sender's same command continues. A sender
//! that gets no acknowledgement for three seconds connects again while it goes on waiting, and uses the connection
//! that answers first. The receiver recognises it by its number and lets it replace its former connection. A receiver
//! that was killed and restarted answers with stateless resets, and the sender connects again at once.
//!
//! Each block has a stream of its own, instead of each file, because a stream is delivered in order: after a single
//! lost packet, QUIC has to hold all later data of the stream. noq closes a connection that has to hold more than some
//! 2000 packets of one stream. This is 3 MB, less than a long fat path has in flight.

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
