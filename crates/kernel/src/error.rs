//! Why a kernel does not run a controller, or another program.

use std::io;

/// What went wrong; each is a line that says what would mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The cargo feature `load` is off.
    #[error(
        "this fullpipe was built without programs for the kernel; build it with --features kernel, which takes clang, libelf \
         and zlib"
    )]
    NotBuilt,
    /// The kernel, or this process, lacks something.
    #[error("{0}")]
    Lacking(String),
    /// A controller of that name is there already.
    #[error("{0} is loaded already; `fullpipe kernel unload` comes first")]
    AlreadyLoaded(&'static str),
    /// The kernel offers it, but it is not kept here.
    #[error(
        "{0} is not kept here: a process has loaded it for as long as it runs, or it was loaded in another mount namespace"
    )]
    Elsewhere(&'static str),
    /// There is none of that name.
    #[error("{0} is not loaded")]
    NotLoaded(&'static str),
    /// New connections would go on to use it.
    #[error(
        "{name} is the default of {whose}; `fullpipe kernel default reno` there comes first, or any other controller"
    )]
    IsDefault {
        /// The controller.
        name: &'static str,
        /// The namespaces, with commas.
        whose: String,
    },
    /// The kernel does not accept the program.
    #[error("the kernel refuses {program}: {reason}")]
    Refused {
        /// What it is.
        program: &'static str,
        /// The verifier's last word.
        reason: String,
        /// All that was said.
        log: String,
    },
    /// The namespace, or its sockets.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was attempted.
        what: String,
        /// What the system said.
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
