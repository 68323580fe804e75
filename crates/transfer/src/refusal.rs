//! Why a receiver takes no files.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::name::NameProblem;

/// Why the receiver does not take the files. Travels to the sender, so that both sides say the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The name is not one plain file name.
    #[error("the receiver refuses the name {name:?}: it {problem}")]
    Name {
        /// The name, shortened if it is very long.
        name: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A name comes twice in one offer, or as a file and as a directory.
    #[error("the receiver refuses {name:?}, which comes twice in one transfer")]
    SameName {
        /// The name.
        name: String,
    },
    /// Two names are one on the receiver's file system.
    #[error(
        "the receiver's file system takes {first:?} and {second:?} for one{}; nothing of them was lost: rename one of them, or receive with --rename, which keeps both",
        others(*.more)
    )]
    OneName {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// How many other names are taken, too.
        more: u64,
    },
    /// Something has got a name since the transfer began.
    #[error(
        "{name:?} appeared at the receiver during the transfer; it was left alone: move it away, then run the same command again"
    )]
    Appeared {
        /// The name.
        name: String,
    },
    /// The file system has no such names.
    #[error("the receiver's file system cannot store the name {name:?}: {message:?}")]
    Unstorable {
        /// The name.
        name: String,
        /// What the system said.
        message: String,
    },
    /// The file system, or a limit of the process, has no such large files.
    #[error("the receiver at {disk:?} takes no file as large as {name:?}, which has {size} bytes")]
    TooLarge {
        /// The name.
        name: String,
        /// The file's size in bytes.
        size: u64,
        /// Where.
        disk: String,
    },
    /// No files, or too many.
    #[error("the receiver refuses {files} files in one transfer, which has 1 to {max}", max = limits::MAX_FILES)]
    Count {
        /// How many.
        files: u64,
    },
    /// A file with this name exists.
    #[error(
        "the receiver already has {name:?}; it was left alone: move it away, or receive with --overwrite, or with --rename, which keeps both"
    )]
    Exists {
        /// The name.
        name: String,
    },
    /// Something that is no directory is where one is needed, a symbolic link maybe.
    #[error("the receiver has {name:?}, which is not a directory; it was left alone: move it away")]
    NotADirectory {
        /// The path.
        name: String,
    },
    /// Something that is not a file has this name, and no `overwrite` helps.
    #[error("the receiver has a directory {name:?}; it was left alone: move it away")]
    IsDirectory {
        /// The name.
        name: String,
    },
    /// The files cannot fit.
    #[error(
        "not enough room on the receiver's disk at {disk:?}: {needed} bytes are needed and {free} are free"
    )]
    NoSpace {
        /// Where.
        disk: String,
        /// The bytes still to come.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The disk became full.
    #[error(
        "the receiver's disk at {disk:?} is full; what was verified is kept: make room, then run the same command again"
    )]
    DiskFull {
        /// Where.
        disk: String,
    },
    /// The disk fails otherwise.
    #[error("the receiver cannot write at {disk:?}: {message:?}")]
    Disk {
        /// Where.
        disk: String,
        /// What the system said.
        message: String,
    },
    /// The file is not the one of which a part is here.
    #[error(
        "{name:?} is not what it was when an earlier attempt sent a part of it; that part is kept: send with --restart to begin anew"
    )]
    SourceChanged {
        /// The file.
        name: String,
    },
    /// The ticket serves another transfer.
    #[error(
        "the ticket belongs to an unfinished transfer of {}; send the same files, or begin anew with --restart",
        quoted(.names, *.more)
    )]
    OtherTransfer {
        /// The first names of that transfer.
        names: Vec<String>,
        /// How many more it has.
        more: u64,
    },
    /// What the receiver keeps of the unfinished transfer is damaged.
    #[error(
        "{path:?}, the receiver's state of the unfinished transfer, is damaged; begin anew with --restart"
    )]
    Damaged {
        /// The file.
        path: String,
    },
    /// A size, or holes, that no file has.
    #[error(
        "the receiver refuses {name:?}: a file has at most {} TiB, and its holes lie within it",
        limits::MAX_SIZE >> 40
    )]
    Size {
        /// The file.
        name: String,
    },
    /// What arrived is not what the sender says it is.
    #[error("{name:?} arrived damaged and was not kept; run the same command again to continue")]
    Corrupt {
        /// The file.
        name: String,
    },
}

fn others(more: u64) -> String {
    match more {
        0 => String::new(),
        more => format!(", and {more} more like that"),
    }
}

fn quoted(names: &[String], more: u64) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
