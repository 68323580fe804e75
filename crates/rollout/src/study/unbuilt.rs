//! In a build without programs for the kernel, nothing is attached to a control group. Each attempt gets
//! [`Error::NotBuilt`].

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use kernel::{Error, InForce, Steering, SteeringCounts};
use units::Duration;

use super::group::ControlGroup;
use super::tended::{HoldError, Tended};

/// A program on a control group. It cannot be made in this build.
#[derive(Debug)]
pub(crate) enum Hold {}

impl Hold {
    pub fn begin(_: ControlGroup, _: Steering, _: Duration, _: bool) -> Result<Hold, HoldError> {
        Err(Error::NotBuilt.into())
    }

    pub fn took_over(&self) -> bool {
        match *self {}
    }

    pub fn is_attached(&self) -> bool {
        match *self {}
    }

    pub fn connections(&self) -> Result<Option<OwnedFd>, Error> {
        match *self {}
    }

    pub fn counts(&self) -> SteeringCounts {
        match *self {}
    }

    pub fn replace(&mut self, _: Steering) -> Result<(), HoldError> {
        match *self {}
    }

    pub fn tend(&mut self) -> Tended {
        match *self {}
    }

    pub fn release(&mut self) {
        match *self {}
    }
}

pub(crate) fn in_force(_: &str, _: IpAddr) -> Result<Option<InForce>, Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn is_kept(_: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn release(_: &str) -> Result<bool, Error> {
    Err(Error::NotBuilt)
}

pub(crate) fn sweep() -> Result<usize, Error> {
    Err(Error::NotBuilt)
}
