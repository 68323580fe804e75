//! The clock by which the kernel's programs tell when something was.

use nix::time::{ClockId, clock_gettime};
use units::Duration;

use crate::Error;

/// The time since the machine was started, with what it slept (`CLOCK_BOOTTIME`): nobody sets it.
///
/// # Errors
///
/// The system has no such clock.
pub fn since_boot() -> Result<Duration, Error> {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME)
        .map_err(|source| Error::system("cannot read CLOCK_BOOTTIME", source))?;
    Ok(std::time::Duration::from(now).into())
}
