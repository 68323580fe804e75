//! The permission of this process to load programs into the kernel.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::thread::{CapabilitySet, capabilities};

use crate::Error;
use crate::requirement::{Requirement, met};

/// Checks that this process may attach a program.
///
/// # Errors
///
/// [`Error::Lacking`].
pub fn check_permission() -> Result<(), Error> {
    met(&[permission()])
}

/// `PROC_USER_INIT_INO` (<linux/proc_ns.h>).
const FIRST_USER_NAMESPACE: u64 = 0xEFFF_FFFD;

/// In any other user namespace, capabilities do not count: bpf(2) requires those of the first one (user_namespaces(7)).
fn is_in_first_user_namespace() -> bool {
    fs::metadata("/proc/self/ns/user").is_ok_and(|about| about.ino() == FIRST_USER_NAMESPACE)
}

/// A program that reads sockets (CAP_BPF and CAP_PERFMON), changes them (CAP_NET_ADMIN), and is found again by its
/// number (CAP_SYS_ADMIN; bpf(2), capabilities(7)).
pub(crate) fn permission() -> Requirement {
    let held = capabilities(None).map_or(CapabilitySet::empty(), |held| held.effective);
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let lack = (!held.contains(needed) || !is_in_first_user_namespace())
        .then_some("this takes root: CAP_SYS_ADMIN and CAP_NET_ADMIN, outside of any container");
    Requirement::new("permission", lack)
}
