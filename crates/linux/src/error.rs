//! What can go wrong between this process and the kernel.

use std::io;

/// Why the kernel did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed; the text says what for, and what would mend it.
    #[error("{what}: {source}")]
    System {
        /// What was attempted, and what it takes.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has no congestion controller of that name.
    #[error("the kernel has no congestion controller {asked}; it offers {offered}")]
    UnknownController {
        /// The name that was asked for.
        asked: String,
        /// Those that there are, with commas.
        offered: String,
    },
    /// The kernel said something that makes no sense.
    #[error("the kernel's answer is not understood: {0}")]
    Answer(&'static str),
}

impl Error {
    /// The system call that was to do `what` failed with `source`.
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Error {
        Error::System {
            what: what.into(),
            source: source.into(),
        }
    }
}

/// Says what was attempted.
pub(crate) trait Context<T> {
    /// What failed was to do `what`.
    fn context(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|source| Error::system(what, source))
    }
}
