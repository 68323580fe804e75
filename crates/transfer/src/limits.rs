//! How much a transfer may have, and how much a message.

/// The most files and directories in one transfer.
pub const MAX_FILES: usize = 4_000_000;

/// The largest file: more than a disk has.
pub const MAX_SIZE: u64 = 64 << 40;

/// The largest [`Offer`](crate::message::Offer): a million paths of 250 bytes.
pub const MAX_OFFER: usize = 256 << 20;

/// The most files of which the receiver reports a part.
pub const MAX_PARTS: usize = 1024;

/// The largest [`Answer`](crate::message::Answer) to an offer of so many files.
pub fn max_answer(files: usize) -> usize {
    (8 << 20) + 64 * files
}

/// The largest [`Reply`](crate::message::Reply).
pub const MAX_REPLY: usize = 16 << 10;

/// The largest [`Refusal`](crate::Refusal): a few paths.
pub const MAX_REFUSAL: usize = 64 << 10;

/// The longest text within a message, such as a path in an error.
pub const MAX_TEXT: usize = 4 << 10;
