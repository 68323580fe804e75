//! The actions of `fullpipe kernel` that take programs for the kernel, in a build that has none.

use kernel::{Algorithm, Error};

use super::load::Options;
use program::failure::Failure;

/// There is no program of which the kernel could refuse something.
pub fn check() -> Vec<(&'static str, Option<String>)> {
    Vec::new()
}

/// Refuses options that make no sense first.
pub fn load(options: &Options) -> Result<(), Failure> {
    options.settings()?;
    Err(Failure::failed(Error::NotBuilt))
}

pub fn unload(_: &[Algorithm]) -> Result<(), Failure> {
    Err(Failure::failed(Error::NotBuilt))
}

pub fn status(_: bool) -> Result<(), Failure> {
    Err(Failure::failed(Error::NotBuilt))
}
