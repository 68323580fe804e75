//! Controllers of live connections: the machine's ability to set them, the time, and texts that `study` and `steer`
//! share.

use std::time::{SystemTime, UNIX_EPOCH};

use program::failure::Failure;
use rules::Interface;

/// The calendar time: seconds since 1970.
pub fn unix_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// Checks that this machine and this process can attach the program.
pub fn kernel_is_able() -> Result<(), Failure> {
    let lacking = kernel::check_steering().into_iter().find_map(|required| {
        let lack = required.lack?;
        Some(Failure::failed(format_args!("{}: {lack}", required.what)))
    });
    lacking.map_or(Ok(()), Err)
}

/// The interfaces of a rule or a plan in words; empty if there are none.
pub fn through(interfaces: &[Interface]) -> String {
    if interfaces.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = interfaces.iter().map(Interface::name).collect();
    format!(" through {}", names.join(", "))
}
