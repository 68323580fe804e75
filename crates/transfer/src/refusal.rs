//! Reasons why a receiver rejects files.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::name::NameProblem;

/// The reason why the receiver rejects the files. It is sent to the sender, so both sides report the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The name is not one plain file name.
    #[error("the receiver refuses the name {name:?}: it {problem}")]
    Name {
        /// The name, shortened if it is very long.
        name: String,
        /// The problem of the name.
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
        /// The first name.
        first: String,
        /// The second name.
        second: String,
        /// The number of other names that collide.
        more: u64,
    },
    /// A name has been taken since the start of the transfer.
    #[error(
        "{name:?} appeared at the receiver during the transfer; it was left alone: move it away, then run the same command again"
    )]
    Appeared {
        /// The name.
        name: String,
    },
    /// The file system cannot store such a name.
    #[error("the receiver's file system cannot store the name {name:?}: {message:?}")]
    Unstorable {
        /// The name.
        name: String,
        /// The system's error.
        message: String,
    },
    /// The file is larger than the file system, or a limit of the process, allows.
    #[error("the receiver at {disk:?} takes no file as large as {name:?}, which has {size} bytes")]
    TooLarge {
        /// The name.
        name: String,
        /// The file's size in bytes.
        size: u64,
        /// The output directory.
        disk: String,
    },
    /// The number of files is zero or too large.
    #[error("the receiver refuses {files} files in one transfer, which has 1 to {max}", max = limits::MAX_FILES)]
    Count {
        /// The number of files.
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
    /// A parent is not a directory but, for example, a symbolic link.
    #[error("the receiver has {name:?}, which is not a directory; it was left alone: move it away")]
    NotADirectory {
        /// The path.
        name: String,
    },
    /// A directory has this name, which `overwrite` does not replace.
    #[error("the receiver has a directory {name:?}; it was left alone: move it away")]
    IsDirectory {
        /// The name.
        name: String,
    },
    /// The disk has too little room.
    #[error(
        "not enough room on the receiver's disk at {disk:?}: {needed} bytes are needed and {free} are free"
    )]
    NoSpace {
        /// The output directory.
        disk: String,
        /// The bytes still to come.
        needed: u64,
        /// The free bytes.
        free: u64,
    },
    /// The disk became full.
    #[error(
        "the receiver's disk at {disk:?} is full; what was verified is kept: make room, then run the same command again"
    )]
    DiskFull {
        /// The output directory.
        disk: String,
    },
    /// Another error of the disk.
    #[error("the receiver cannot write at {disk:?}: {message:?}")]
    Disk {
        /// The output directory.
        disk: String,
        /// The system's error.
        message: String,
    },
    /// The file is not the one of which a part is present.
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
        /// The number of its other names.
        more: u64,
    },
    /// The receiver's state of the unfinished transfer is damaged.
    #[error(
        "{path:?}, the receiver's state of the unfinished transfer, is damaged; begin anew with --restart"
    )]
    Damaged {
        /// The file.
        path: String,
    },
    /// The size or the holes are impossible.
    #[error(
        "the receiver refuses {name:?}: a file has at most {} TiB, and its holes lie within it",
        limits::MAX_SIZE >> 40
    )]
    Size {
        /// The file.
        name: String,
    },
    /// The content does not have the sender's hash.
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
