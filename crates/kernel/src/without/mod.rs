//! Stand-ins for programs in the kernel, for builds without the feature `load`.

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

/// Loaded controllers. There are none here.
#[derive(Debug)]
pub struct Loaded(Infallible);

impl Loaded {
    /// The maps of their connections' state.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn flows(&self) -> Result<Vec<OwnedFd>, Error> {
        match self.0 {}
    }
}

/// Loads controllers. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn load(_all: &[Settings], _version: &str) -> Result<Loaded, Error> {
    Err(Error::NotBuilt)
}

/// Keeps controllers. Here it always fails.
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

/// The map of connections' state.
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

/// Removes controllers. Here there are none.
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

/// What is remembered of client networks. There is nothing here.
#[derive(Debug)]
pub struct Memory(Infallible);

/// What a kept program remembers. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn memory(_name: &str) -> Result<Option<Memory>, Error> {
    Err(Error::NotBuilt)
}

/// A program that sets connections' controllers. There is none here.
#[derive(Debug)]
pub struct Attached(Infallible);

/// Attaches the program to a control group. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn attach(_cgroup: &File, _steering: &Steering) -> Result<Attached, Error> {
    Err(Error::NotBuilt)
}

/// Attaches the program with an earlier one's memory. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn attach_with(
    _cgroup: &File,
    _steering: &Steering,
    _memory: Option<&Memory>,
) -> Result<Attached, Error> {
    Err(Error::NotBuilt)
}

/// Removes the program that is kept under this name. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn release(_name: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

/// Whether a program is kept under this name. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn is_kept(_name: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

/// The settings of a kept program. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn in_force(_name: &str, _address: IpAddr) -> Result<Option<InForce>, Error> {
    Err(Error::NotBuilt)
}

/// Removes programs whose control groups are gone. Here it always fails.
///
/// # Errors
///
/// [`Error::NotBuilt`].
pub fn sweep() -> Result<usize, Error> {
    Err(Error::NotBuilt)
}

impl Attached {
    /// Keeps the program.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn keep(&mut self, _name: &str) -> Result<bool, Error> {
        match self.0 {}
    }

    /// Detaches the program.
    pub fn detach(self) {
        match self.0 {}
    }

    /// The owner of the kept program.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn kept(&self, _name: &str) -> Result<Kept, Error> {
        match self.0 {}
    }

    /// Renews the lease.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn renew(&self, _span: Duration) -> Result<(), Error> {
        match self.0 {}
    }

    /// How long there was no lease.
    pub fn lapsed(&self) -> Duration {
        match self.0 {}
    }

    /// Replaces the rules.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn replace(&mut self, _steering: &Steering, _lease: Duration) -> Result<(), Error> {
        match self.0 {}
    }

    /// Whether the kernel still runs the program.
    pub fn is_attached(&self) -> bool {
        match self.0 {}
    }

    /// The connections that have ended.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn ended(&self) -> Result<Vec<EndedConnection>, Error> {
        match self.0 {}
    }

    /// The objects.
    pub fn objects(&self) -> Vec<ToldObject> {
        match self.0 {}
    }

    /// The map of the data that is stored with connections.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn connections(&self) -> Result<OwnedFd, Error> {
        match self.0 {}
    }

    /// What it remembers.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn memory(&self) -> Result<Option<Memory>, Error> {
        match self.0 {}
    }

    /// The program's counters.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn counts(&self) -> Result<SteeringCounts, Error> {
        match self.0 {}
    }
}
