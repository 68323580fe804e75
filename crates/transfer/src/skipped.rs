//! Files that are not sent, and why.

use std::io::ErrorKind;

use crate::name::NameProblem;

/// Why something is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Skipped {
    /// It is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// It is a device, a socket or a named pipe.
    #[error("it is neither a file nor a directory")]
    Special,
    /// It belongs to an unfinished transfer.
    #[error("it is the state of an unfinished transfer")]
    State,
    /// Its name is one that no receiver takes.
    #[error("its name {0}")]
    Name(NameProblem),
    /// Its name is no Unicode text.
    #[error("its name is not valid UTF-8")]
    NotUnicode,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(ErrorKind),
    /// Reading gives more or less than its size, as for many files of `/proc` and `/sys`.
    #[error("its size is not what reading it gives; send its content with `-`, from stdin")]
    Size,
}

impl Skipped {
    /// Whether it is left out of every transfer, and no loss that a user has to be asked about.
    pub(crate) fn is_usual(self) -> bool {
        matches!(self, Skipped::Link | Skipped::Special | Skipped::State)
    }
}
