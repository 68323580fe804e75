//! The actions of `fullpipe kernel` that take programs for the kernel.

use std::collections::BTreeSet;

use kernel::{Algorithm, Error, Keeping, Registered};

use super::load::Options;
pub use super::status::run as status;
use program::failure::Failure;
use program::output;

/// The kernel's reason to refuse each controller, if it does.
pub fn check() -> Vec<(&'static str, Option<String>)> {
    let all = Algorithm::ALL.iter().map(|&algorithm| {
        let refused = kernel::check_controller(algorithm).err();
        (
            algorithm.kernel_name(),
            refused.map(|error| error.to_string()),
        )
    });
    all.collect()
}

/// Loads all of the controllers, or none.
pub fn load(options: &Options) -> Result<(), Failure> {
    let all = options.settings()?;
    let keeping = Keeping::of_this_kernel().map_err(Failure::failed)?;
    kernel::keep(&all, env!("CARGO_PKG_VERSION"), keeping).map_err(|error| {
        if let (Error::Refused { log, .. }, true) = (&error, options.log) {
            output::note(log);
        }
        Failure::failed(error)
    })?;
    for settings in &all {
        let name = settings.algorithm().kernel_name();
        output::note(format_args!("{name} is loaded"));
    }
    Ok(())
}

/// Removes the requested controllers, or all loaded ones.
pub fn unload(asked: &[Algorithm]) -> Result<(), Failure> {
    let mut all = BTreeSet::from_iter(asked.iter().copied());
    for &algorithm in Algorithm::ALL.iter().filter(|_| asked.is_empty()) {
        if Registered::find(algorithm)
            .map_err(Failure::failed)?
            .is_some()
        {
            all.insert(algorithm);
        }
    }
    if all.is_empty() {
        return Err(Failure::failed("no controller is loaded"));
    }
    let all = Vec::from_iter(all);
    kernel::unload(&all).map_err(Failure::failed)?;
    all.into_iter().try_for_each(tell_users)
}

/// Prints that it is unloaded, and the connections that still have it.
fn tell_users(algorithm: Algorithm) -> Result<(), Failure> {
    let name = algorithm.kernel_name();
    let users = kernel::users(name).map_err(Failure::failed)?;
    match users.iter().map(|user| user.connections).sum() {
        0 => output::note(format_args!("{name} is unloaded")),
        1 => output::note(format_args!(
            "{name} is unloaded; one connection keeps it until it ends"
        )),
        more => output::note(format_args!(
            "{name} is unloaded; {more} connections keep it until they end"
        )),
    }
    Ok(())
}
