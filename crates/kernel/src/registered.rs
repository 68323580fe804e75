//! A controller that the kernel offers, and that no program has to hold.

use std::time::SystemTime;

use units::Duration;

use crate::{Algorithm, Error, Settings, bpf};

/// A controller that was loaded and [kept](crate::keep).
#[derive(Debug)]
pub struct Registered {
    /// How long it has been there.
    pub age: Duration,
    /// Whose it is: the version of the program that loaded it.
    pub version: String,
    /// What it was loaded with.
    pub settings: Settings,
}

impl Registered {
    /// Looks for it.
    ///
    /// # Errors
    ///
    /// [`Error::NotBuilt`]; or if it is there, but this process may not look at it (CAP_SYS_ADMIN).
    pub fn find(algorithm: Algorithm) -> Result<Option<Registered>, Error> {
        bpf::find(algorithm)
    }

    /// When it was loaded.
    pub fn since(&self) -> SystemTime {
        SystemTime::now() - self.age.into()
    }
}
