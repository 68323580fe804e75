//! The messages between sender and receiver.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_SIZE;
use crate::ranges::Ranges;
use crate::refusal::Refusal;
use crate::tree;
use crate::wire_error::WireError;

/// The sender's list of files, in the order of their transmission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Discard the state of an earlier attempt.
    pub restart: bool,
    /// The files and directories.
    pub files: Vec<Offered>,
}

/// A file or a directory in an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The path at the receiver, with `/` between its components. It comes from outside and may contain anything.
    pub path: String,
    /// A file's size in bytes.
    pub size: u64,
    /// A file or a directory.
    pub kind: Kind,
    /// The blocks of a large file that are holes. They are not sent.
    pub holes: Ranges,
}

/// The kind of an offered entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File {
        /// True if its owner may execute it.
        executable: bool,
        /// True if it has holes, even smaller than a block.
        sparse: bool,
    },
}

/// The receiver's answer to an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The files of which the receiver has something, in the offer's order.
    Accepted(Vec<Held>),
    /// The offer is refused.
    Refused(Refusal),
}

/// The receiver's state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The file's index in the offer.
    pub file: u32,
    /// The part of it that is present.
    pub state: State,
}

/// The part of a file that the receiver has, verified by reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The whole file, under its name.
    Complete {
        /// The hash that verifies it ([`crate::seal`]); the sender's file must have the same.
        hash: [u8; 32],
    },
    /// Some blocks of a large file.
    Part {
        /// Their indexes.
        blocks: Ranges,
        /// The BLAKE3 hash over their block hashes in order: the sender's file must give the same.
        digest: [u8; 32],
    },
}

/// The receiver's report while files arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The progress.
    Progress(Progress),
    /// The transfer has failed.
    Failed(Refusal),
}

/// The receiver's progress, including earlier attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The verified bytes, without holes.
    pub bytes: u64,
    /// The files and directories that have their names.
    pub files: u64,
}

impl Offered {
    /// True if it is sent as a whole, in a batch.
    pub fn is_small(&self) -> bool {
        self.is_directory() || self.size <= tree::BLOCK
    }

    /// True if its owner may execute it.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, Kind::File { executable, .. } if executable)
    }

    /// True if it has holes, even smaller than a block.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, Kind::File { sparse, .. } if sparse)
    }

    /// The refusal of damaged content of this file.
    pub fn corrupt(&self) -> Refusal {
        Refusal::Corrupt {
            name: self.path.clone(),
        }
    }

    /// The bytes outside holes, which are sent and verified.
    pub fn data(&self) -> u64 {
        self.size - self.holes.bytes(self.size).min(self.size)
    }

    /// True for a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Checks that its size and its holes are possible.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self) -> Result<(), WireError> {
        let most = if self.is_directory() { 0 } else { MAX_SIZE };
        if self.size > most || (self.is_small() && !self.holes.is_empty()) {
            return Err(WireError::Sense);
        }
        self.holes.check(self.size)
    }
}
