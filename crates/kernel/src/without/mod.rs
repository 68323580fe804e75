//! In place of programs for the kernel, where the feature `load` is off.

use std::convert::Infallible;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use units::Duration;

use crate::check::Requirement;
use crate::{
    Algorithm, EndedConnection, Error, InForce, Keeping, Kept, Registered, Settings, Steering,
    SteeringCounts, ToldObject,
};

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

pub(crate) fn accepted(_algorithm: Algorithm) -> Result<(), Error> {
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

/// Removes controllers; here there are none.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn unload(_all: &[Algorithm]) -> Result<(), Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn steering_requirements() -> Vec<Requirement> {
    requirements()
}

pub(crate) fn requirements() -> Vec<Requirement> {
    vec![Requirement::new(
        "program",
        Some(Error::NotBuilt.to_string()),
    )]
}

/// What steers connections; here nothing ever.
#[derive(Debug)]
pub struct Attached(Infallible);

/// Attaches the program to a control group; here it only says why not.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn attach(_cgroup: &File, _steering: &Steering) -> Result<Attached, Error> {
    Err(Error::NotBuilt)
}

/// Takes away what is kept under this name; here it only says why not.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn release(_name: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

/// Whether a program is kept under this name; here none is.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn is_kept(_name: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

/// What a program has that is kept; here none is.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn in_force(_name: &str, _address: IpAddr) -> Result<Option<InForce>, Error> {
    Err(Error::NotBuilt)
}

/// Takes away what belongs to nothing any more; here there is nothing.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn sweep() -> Result<usize, Error> {
    Err(Error::NotBuilt)
}

impl Attached {
    /// It would be kept.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn keep(&mut self, _name: &str) -> Result<bool, Error> {
        match self.0 {}
    }

    /// Whose would be kept.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn kept(&self, _name: &str) -> Result<Kept, Error> {
        match self.0 {}
    }

    /// The program would work for this long.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn renew(&self, _span: Duration) -> Result<(), Error> {
        match self.0 {}
    }

    /// It would take other rules.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn replace(&mut self, _steering: &Steering) -> Result<(), Error> {
        match self.0 {}
    }

    /// Whether the kernel still runs it.
    pub fn is_attached(&self) -> bool {
        match self.0 {}
    }

    /// The connections that have ended.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn ended(&self) -> Result<Vec<EndedConnection>, Error> {
        match self.0 {}
    }

    /// The objects.
    pub fn objects(&self) -> Vec<ToldObject> {
        match self.0 {}
    }

    /// The map of what it would keep with connections.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn connections(&self) -> Result<OwnedFd, Error> {
        match self.0 {}
    }

    /// How often it did what.
    ///
    /// # Errors
    ///
    /// None, as there is none.
    pub fn counts(&self) -> Result<SteeringCounts, Error> {
        match self.0 {}
    }
}
