//! The requirements of programs in the kernel, one by one.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::thread::{CapabilitySet, capabilities};

use crate::Error;

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its name.
    pub what: &'static str,
    /// Why it is not met, and how to meet it. `None` if it is met.
    pub lack: Option<String>,
}

impl Requirement {
    pub(crate) fn new(what: &'static str, lack: Option<impl Into<String>>) -> Requirement {
        Requirement {
            what,
            lack: lack.map(Into::into),
        }
    }
}

/// The requirements of loading controllers, and whether this machine and this process meet them. Changes nothing.
pub fn check() -> Vec<Requirement> {
    of_programs(
        #[cfg(feature = "load")]
        crate::bpf::requirements,
    )
}

/// The requirements of attaching the program that steers connections, and whether this machine and this process meet
/// them. Changes nothing.
pub fn check_steering() -> Vec<Requirement> {
    of_programs(
        #[cfg(feature = "load")]
        crate::bpf::steering_requirements,
    )
}

/// The requirements on the kernel and on the process. A build without programs lacks them first.
fn of_programs(#[cfg(feature = "load")] kernel: fn() -> Vec<Requirement>) -> Vec<Requirement> {
    #[cfg(feature = "load")]
    let mut all = kernel();
    #[cfg(not(feature = "load"))]
    let mut all = vec![Requirement::new(
        "program",
        Some(Error::NotBuilt.to_string()),
    )];
    all.push(permission());
    all
}

/// Checks that this process may attach a program.
///
/// # Errors
///
/// [`Error::Lacking`].
pub fn check_permission() -> Result<(), Error> {
    let Requirement { what, lack } = permission();
    lack.map_or(Ok(()), |lack| {
        Err(Error::Lacking(format!("{what}: {lack}")))
    })
}

/// `PROC_USER_INIT_INO` (<linux/proc_ns.h>).
const FIRST_USER_NAMESPACE: u64 = 0xEFFF_FFFD;

/// In any other user namespace, capabilities do not count: bpf(2) requires those of the first one (user_namespaces(7)).
fn is_in_first_user_namespace() -> bool {
    fs::metadata("/proc/self/ns/user").is_ok_and(|about| about.ino() == FIRST_USER_NAMESPACE)
}

/// A program that reads sockets (CAP_BPF and CAP_PERFMON), changes them (CAP_NET_ADMIN), and is found again by its
/// number (CAP_SYS_ADMIN; bpf(2), capabilities(7)).
fn permission() -> Requirement {
    let held = capabilities(None).map_or(CapabilitySet::empty(), |held| held.effective);
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let lack = (!held.contains(needed) || !is_in_first_user_namespace())
        .then_some("this takes root: CAP_SYS_ADMIN and CAP_NET_ADMIN, outside of any container");
    Requirement::new("permission", lack)
}
