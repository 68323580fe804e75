//! A controller that the kernel offers and that no process has to hold.

use std::time::SystemTime;

use units::Duration;

use crate::{Algorithm, Error, Settings, bpf};

/// A controller that was loaded and [kept](crate::keep).
#[derive(Debug)]
pub struct Registered {
    /// The time since it was loaded.
    pub age: Duration,
    /// The version of the program that loaded it.
    pub version: String,
    /// The settings with which it was loaded.
    pub settings: Settings,
}

impl Registered {
    /// Looks for the controller.
    ///
    /// # Errors
    ///
    /// [`Error::NotBuilt`]; or the controller is there, but this process may not look at it (CAP_SYS_ADMIN).
    pub fn find(algorithm: Algorithm) -> Result<Option<Registered>, Error> {
        bpf::find(algorithm)
    }

    /// When it was loaded.
    pub fn since(&self) -> SystemTime {
        SystemTime::now() - self.age.into()
    }
}
