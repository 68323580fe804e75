//! The kernel object that a file holds, so that a controller stays.

use crate::{Error, bpf};

/// The way in which a controller is kept that no process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// By a link. The controller goes with the last of its files and processes.
    ByLink,
    /// By the map of its operations, as before Linux 6.4. The controller goes when the map's entry is deleted.
    ByOperations,
}

impl Keeping {
    /// Both ways.
    pub const ALL: [Keeping; 2] = [Keeping::ByLink, Keeping::ByOperations];

    /// The way that suits the running kernel.
    ///
    /// # Errors
    ///
    /// The machine lacks something; [`Error::NotBuilt`].
    pub fn of_this_kernel() -> Result<Keeping, Error> {
        bpf::keeping()
    }
}
