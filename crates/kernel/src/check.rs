//! The requirements of programs in the kernel, one by one.

#[cfg(not(feature = "load"))]
use crate::Error;
#[cfg(feature = "load")]
use crate::bpf;
#[cfg(not(feature = "load"))]
use crate::permission::permission;
use crate::requirement::Requirement;

/// The requirements of loading controllers, and whether this machine and this process meet them. Changes nothing.
pub fn check() -> Vec<Requirement> {
    #[cfg(feature = "load")]
    let all = bpf::requirements();
    #[cfg(not(feature = "load"))]
    let all = without_programs();
    all
}

/// The requirements of the program that steers connections, and whether this process meets them. Changes nothing.
pub fn check_steering() -> Vec<Requirement> {
    #[cfg(feature = "load")]
    let all = bpf::steering_requirements();
    #[cfg(not(feature = "load"))]
    let all = without_programs();
    all
}

/// A build without programs lacks them first.
#[cfg(not(feature = "load"))]
fn without_programs() -> Vec<Requirement> {
    let lack = Some(Error::NotBuilt.to_string());
    vec![Requirement::new("program", lack), permission()]
}
