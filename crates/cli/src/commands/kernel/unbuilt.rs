//! The actions of `fullpipe kernel` that take programs for the kernel, in a build that has none.

use kernel::{Algorithm, Error};

use super::load::Options;
use program::failure::Failure;

/// Without programs, the kernel has nothing to refuse.
pub fn check() -> Vec<(&'static str, Option<String>)> {
    Vec::new()
}

/// Invalid options are reported first.
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
