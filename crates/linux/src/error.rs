//! Errors between this process and the kernel.

use std::io;

/// A reason why the kernel did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed; the text names its purpose and a remedy.
    #[error("{what}: {source}")]
    System {
        /// The attempted action, and the privilege or feature that it takes.
        what: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel has no congestion controller of that name.
    #[error("the kernel has no congestion controller {asked}; it offers {offered}")]
    UnknownController {
        /// The requested name.
        asked: String,
        /// The available names, separated by commas.
        offered: String,
    },
    /// The kernel's answer is invalid.
    #[error("cannot parse the kernel's answer: {0}")]
    Answer(&'static str),
}

impl Error {
    /// A failure of a system call that was to do `what`.
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Error {
        Error::System {
            what: what.into(),
            source: source.into(),
        }
    }
}

/// Adds the attempted action to an error.
pub(crate) trait Context<T> {
    /// Converts an error of an attempt to do `what`.
    fn context(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|source| Error::system(what, source))
    }
}
