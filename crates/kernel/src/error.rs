//! The errors of loading controllers and other programs.

use std::io;

/// An error. Each prints as one line that says how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The cargo feature `load` is off.
    #[error(
        "this build has no programs for the kernel; build with --features kernel, which takes clang, libelf \
         and zlib"
    )]
    NotBuilt,
    /// The kernel, or this process, lacks something.
    #[error("{0}")]
    Lacking(String),
    /// A controller of this name already exists.
    #[error("{0} is loaded already; `fullpipe kernel unload` comes first")]
    AlreadyLoaded(&'static str),
    /// The kernel offers the controller, but it is not kept here.
    #[error(
        "{0} is not kept here: a process has loaded it for as long as it runs, or it was loaded in another mount namespace"
    )]
    Elsewhere(&'static str),
    /// There is no controller of this name.
    #[error("{0} is not loaded")]
    NotLoaded(&'static str),
    /// The controller is a default, so new connections would still use it.
    #[error(
        "{name} is the default of {whose}; `fullpipe kernel default reno` there comes first, or any other controller"
    )]
    IsDefault {
        /// The controller.
        name: &'static str,
        /// The namespaces, separated by commas.
        whose: String,
    },
    /// The kernel does not accept the program.
    #[error("the kernel refuses {program}: {reason}")]
    Refused {
        /// The kind of program.
        program: &'static str,
        /// The verifier's last message.
        reason: String,
        /// All messages.
        log: String,
    },
    /// The namespace, or its sockets, cannot be used.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// The attempted operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Error {
        Error::System {
            what: what.into(),
            source: source.into(),
        }
    }
}
