//! In place of programs for the kernel, where the feature `load` is off.

use std::convert::Infallible;
use std::os::fd::OwnedFd;

use crate::check::Requirement;
use crate::{Algorithm, Error, Keeping, Registered, Settings};

/// What has been loaded; here nothing ever.
#[derive(Debug)]
pub struct Loaded(Infallible);

impl Loaded {
    /// The maps of what its connections keep.
    ///
    /// # Errors
    ///
    /// None, as there are none.
    pub fn flows(&self) -> Result<Vec<OwnedFd>, Error> {
        match self.0 {}
    }
}

/// Loads controllers; here it only says why not.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn load(_all: &[Settings], _version: &str) -> Result<Loaded, Error> {
    Err(Error::NotBuilt)
}

/// Keeps controllers; here it only says why not.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn keep(_all: &[Settings], _version: &str, _keeping: Keeping) -> Result<(), Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn keeping() -> Result<Keeping, Error> {
    Err(Error::NotBuilt)
}

/// The map of what connections keep.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn flows(_algorithm: Algorithm) -> Result<Option<OwnedFd>, Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn find(_algorithm: Algorithm) -> Result<Option<Registered>, Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn unload(_registered: &Registered) -> Result<(), Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn requirements() -> Vec<Requirement> {
    vec![Requirement::new(
        "program",
        Some(Error::NotBuilt.to_string()),
    )]
}
