//! The privileges of this process. Creating namespaces and network devices takes CAP_SYS_ADMIN and CAP_NET_ADMIN. Root
//! has them, and so has every user in a user namespace of their own (user_namespaces(7)), where the kernel allows one.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use crate::Error;
use crate::error::Context;

/// The capabilities that [`Network::create`](crate::Network::create) takes.
const NEEDED_CAPABILITIES: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN);

/// Whether [`acquire`] created a user namespace, whose contents belong to this process.
static OWN_NAMESPACE: AtomicBool = AtomicBool::new(false);

/// Makes sure that this process may create and configure network namespaces. With CAP_SYS_ADMIN and CAP_NET_ADMIN there
/// is nothing to do. Otherwise the process enters a user namespace of its own. There it has every capability over what
/// it creates itself and none over the machine, and it keeps its user and group.
///
/// Call it before the process has a second thread.
///
/// # Errors
///
/// The kernel or a sandbox forbids it; the error says in one line which, and what would allow it.
pub fn acquire() -> Result<(), Error> {
    let held = capabilities(None).context("cannot read this process's capabilities")?;
    if held.effective.contains(NEEDED_CAPABILITIES) {
        return Ok(());
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|source| Error::system(no_user_namespace(source), source))?;
    // An unprivileged process may map its own group only after it has given up setgroups(2) (user_namespaces(7)).
    map("setgroups", "deny")?;
    map("uid_map", &format!("{user} {user} 1"))?;
    map("gid_map", &format!("{group} {group} 1"))?;
    OWN_NAMESPACE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Writes one of the files that map users and groups in the new namespace.
fn map(file: &str, text: &str) -> Result<(), Error> {
    fs::write(format!("/proc/self/{file}"), text).map_err(|source| {
        let why = if reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
            "AppArmor leaves them without capabilities (sysctl kernel.apparmor_restrict_unprivileged_userns=1)"
        } else {
            "the kernel refuses"
        };
        Error::system(format!("{}; no user namespace, /proc/self/{file}: {why}", missing()), source)
    })
}

/// The explanation of a failure to create a user namespace.
fn no_user_namespace(error: nix::Error) -> String {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    let why = match error {
        nix::Error::EINVAL if threads > 1 => "this process has several threads already",
        nix::Error::EINVAL => "this kernel has none (CONFIG_USER_NS)",
        nix::Error::ENOSPC => "sysctl user.max_user_namespaces allows no more",
        nix::Error::EPERM if reads("/proc/sys/kernel/unprivileged_userns_clone", "0") => {
            "sysctl kernel.unprivileged_userns_clone=0 forbids them"
        }
        nix::Error::EPERM if reads("/proc/self/status", "Seccomp:\t2") => {
            "a seccomp filter forbids them"
        }
        nix::Error::EPERM => "something forbids them, such as a chroot or a security module",
        _ => "the kernel refuses",
    };
    format!("{}; no user namespace: {why}", missing())
}

/// The missing capabilities, and who has them.
fn missing() -> &'static str {
    if geteuid().is_root() {
        "root without CAP_SYS_ADMIN and CAP_NET_ADMIN (in a container: `--cap-add SYS_ADMIN --cap-add NET_ADMIN`)"
    } else {
        "no CAP_SYS_ADMIN and CAP_NET_ADMIN (root has them)"
    }
}

/// Whether a file has the line `text`.
fn reads(file: &str, text: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|content| content.lines().any(|line| line.trim() == text))
}

/// The capabilities that a command keeps over this process's own namespaces: it may choose any congestion controller,
/// configure the network, capture packets, and serve on any port.
const NETWORK_CAPABILITIES: [CapabilitySet; 3] = [
    CapabilitySet::NET_ADMIN,
    CapabilitySet::NET_RAW,
    CapabilitySet::NET_BIND_SERVICE,
];

/// Makes sure that a program started by the calling thread may still mount, even if its user has no privileges. In a
/// user namespace of ours, it may administer the network too. A program inherits the capabilities of the ambient set
/// (capabilities(7)).
pub(crate) fn pass_to_child() -> Result<(), Error> {
    if geteuid().is_root() {
        return Ok(());
    }
    let network = if OWN_NAMESPACE.load(Ordering::Relaxed) {
        NETWORK_CAPABILITIES.as_slice()
    } else {
        &[]
    };
    let failed = |source| Error::system("cannot hand capabilities on", source);
    for &capability in network.iter().chain(&[CapabilitySet::SYS_ADMIN]) {
        let mut held = capabilities(None).map_err(failed)?;
        held.inheritable |= capability;
        set_capabilities(None, held).map_err(failed)?;
        configure_capability_in_ambient_set(capability, true).map_err(failed)?;
    }
    Ok(())
}

/// Drops the capability that only the init needs. Root remains root.
pub(crate) fn drop_init_capability() -> Result<(), Error> {
    if geteuid().is_root() {
        return Ok(());
    }
    let failed = |source| Error::system("cannot give up capabilities", source);
    let mut held = capabilities(None).map_err(failed)?;
    held.effective -= CapabilitySet::SYS_ADMIN;
    held.permitted -= CapabilitySet::SYS_ADMIN;
    held.inheritable -= CapabilitySet::SYS_ADMIN;
    // A capability that is not both permitted and inheritable leaves the ambient set too.
    set_capabilities(None, held).map_err(failed)
}
