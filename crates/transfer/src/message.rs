//! What sender and receiver say to each other.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_SIZE;
use crate::ranges::Ranges;
use crate::refusal::Refusal;
use crate::tree;
use crate::wire_error::WireError;

/// The sender wants to send these files, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Forget what an earlier attempt left.
    pub restart: bool,
    /// The files and directories.
    pub files: Vec<Offered>,
}

/// A file or a directory in an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The path under which it shall appear, with `/` between its components. Anything may be in it: it comes from
    /// outside.
    pub path: String,
    /// A file's size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: Kind,
    /// Blocks of a large file that hold nothing but zeros, and do not travel.
    pub holes: Ranges,
}

/// What is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Whether it has holes, maybe smaller than a block.
        sparse: bool,
    },
}

/// The receiver's answer to an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The files of which something is there already, in the offer's order.
    Accepted(Vec<Held>),
    /// Not like this.
    Refused(Refusal),
}

/// What the receiver has of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The file's place in the offer.
    pub file: u32,
    /// How much of it.
    pub state: State,
}

/// How much of a file is there, verified by reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// All of it, and under its name.
    Complete {
        /// What it is verified by ([`crate::seal`]): the sender's file must have the same.
        hash: [u8; 32],
    },
    /// Some blocks of a large file.
    Part {
        /// Which.
        blocks: Ranges,
        /// The BLAKE3 hash over their block hashes in order: the sender's file must give the same.
        digest: [u8; 32],
    },
}

/// What the receiver reports while files are coming in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// How far it has come.
    Progress(Progress),
    /// The transfer is over, and why.
    Failed(Refusal),
}

/// How far the receiver has come, earlier attempts included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The bytes that are verified, without holes.
    pub bytes: u64,
    /// The files and directories that have their names.
    pub files: u64,
}

impl Offered {
    /// Whether it travels as a whole, with others.
    pub fn is_small(&self) -> bool {
        self.is_directory() || self.size <= tree::BLOCK
    }

    /// Whether its owner may execute it.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, Kind::File { executable, .. } if executable)
    }

    /// Whether it has holes, maybe smaller than a block.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, Kind::File { sparse, .. } if sparse)
    }

    /// That something else arrived in its place.
    pub fn corrupt(&self) -> Refusal {
        Refusal::Corrupt {
            name: self.path.clone(),
        }
    }

    /// The bytes that are no holes: what travels and is verified.
    pub fn data(&self) -> u64 {
        self.size - self.holes.bytes(self.size).min(self.size)
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Checks that its size and its holes make sense.
    ///
    /// # Errors
    /// They do not.
    pub fn check(&self) -> Result<(), WireError> {
        let most = if self.is_directory() { 0 } else { MAX_SIZE };
        if self.size > most || (self.is_small() && !self.holes.is_empty()) {
            return Err(WireError::Sense);
        }
        self.holes.check(self.size)
    }
}
