//! Files that are skipped, and the reasons.

use std::io::ErrorKind;

use crate::name::NameProblem;

/// The reason why a file is not sent.
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
    /// No receiver accepts its name.
    #[error("its name {0}")]
    Name(NameProblem),
    /// Its name is not valid Unicode.
    #[error("its name is not valid UTF-8")]
    NotUnicode,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(ErrorKind),
    /// Its size differs from its content, as for many files of `/proc` and `/sys`.
    #[error("its size is not what reading it gives; send its content with `-`, from stdin")]
    Size,
}

impl Skipped {
    /// True if it is skipped in every transfer, so that the user need not be asked.
    pub(crate) fn is_usual(self) -> bool {
        matches!(self, Skipped::Link | Skipped::Special | Skipped::State)
    }
}
