//! Limits of a transfer and of its messages.

/// The most files and directories in one transfer.
pub const MAX_FILES: usize = 4_000_000;

/// The maximum size of a file in bytes: more than a disk has.
pub const MAX_SIZE: u64 = 64 << 40;

/// The maximum size of an [`Offer`](crate::message::Offer) in bytes: a million paths of 250 bytes.
pub const MAX_OFFER: usize = 256 << 20;

/// The most partial files that the receiver reports.
pub const MAX_PARTS: usize = 1024;

/// The maximum size of an [`Answer`](crate::message::Answer) to an offer of `files` files, in bytes.
pub fn max_answer(files: usize) -> usize {
    (8 << 20) + 64 * files
}

/// The maximum size of a [`Reply`](crate::message::Reply) in bytes.
pub const MAX_REPLY: usize = 16 << 10;

/// The maximum size of a [`Refusal`](crate::Refusal) in bytes: a few paths.
pub const MAX_REFUSAL: usize = 64 << 10;

/// The longest text within a message, such as a path in an error, in bytes.
pub const MAX_TEXT: usize = 4 << 10;
