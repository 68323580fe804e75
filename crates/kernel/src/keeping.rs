//! What of the kernel's a file holds, so that a controller stays.

use crate::{Error, bpf};

/// How a controller is kept that no process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// By a link: the controller goes with the last of its files and processes.
    ByLink,
    /// By the map of its operations, as before Linux 6.4: it goes when that is told to.
    ByOperations,
}

impl Keeping {
    /// Both.
    pub const ALL: [Keeping; 2] = [Keeping::ByLink, Keeping::ByOperations];

    /// The one that suits the kernel that runs.
    ///
    /// # Errors
    ///
    /// What the machine lacks; [`Error::NotBuilt`].
    pub fn of_this_kernel() -> Result<Keeping, Error> {
        bpf::keeping()
    }
}
