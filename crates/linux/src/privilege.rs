//! What this process may do: namespaces and network devices of its own take CAP_SYS_ADMIN and CAP_NET_ADMIN, which
//! root has, and everybody in a user namespace of their own (user_namespaces(7)), where the kernel allows one.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use crate::Error;

/// What [`Network::create`](crate::Network::create) takes.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN);

/// Whether [`acquire`] made a user namespace: what is in it is this process's own.
static OWN_NAMESPACE: AtomicBool = AtomicBool::new(false);

/// Sees to it that this process may make network namespaces and furnish them. With CAP_SYS_ADMIN and CAP_NET_ADMIN
/// there is nothing to do. Otherwise the process enters a user namespace of its own, in which it has every capability
/// over what it makes itself, none over the machine, and keeps its user and group.
///
/// To be called before the process has a second thread.
///
/// # Errors
///
/// One line that says what the kernel or a sandbox forbids, and what allows it.
pub fn acquire() -> Result<(), Error> {
    let held = capabilities(None)
        .map_err(|source| Error::system("cannot read this process's capabilities", source))?;
    if held.effective.contains(NEEDED) {
        return Ok(());
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|source| Error::system(no_user_namespace(source), source))?;
    // Whoever may not drop groups of others maps its own only after giving up setgroups(2) (user_namespaces(7)).
    map("setgroups", "deny")?;
    map("uid_map", &format!("{user} {user} 1"))?;
    map("gid_map", &format!("{group} {group} 1"))?;
    OWN_NAMESPACE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Writes one of the files that say who is who in the new namespace.
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

/// What it means that the kernel makes no user namespace.
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

/// What is missing first of all, and who has it.
fn missing() -> &'static str {
    if geteuid().is_root() {
        "root without CAP_SYS_ADMIN and CAP_NET_ADMIN (in a container: `--cap-add SYS_ADMIN --cap-add NET_ADMIN`)"
    } else {
        "no CAP_SYS_ADMIN and CAP_NET_ADMIN (root has them)"
    }
}

/// Whether a file has a line that is `text`.
fn reads(file: &str, text: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|content| content.lines().any(|line| line.trim() == text))
}

/// What a command keeps over the namespaces that are this process's own: to choose any congestion controller, to
/// configure and capture, to serve on any port.
const NETWORK: [CapabilitySet; 3] = [
    CapabilitySet::NET_ADMIN,
    CapabilitySet::NET_RAW,
    CapabilitySet::NET_BIND_SERVICE,
];

/// Sees to it that a program that the calling thread starts may still mount, though its user be nobody special, and,
/// in a user namespace of ours, administer the network: a program inherits the capabilities of the ambient set
/// (capabilities(7)).
pub(crate) fn bequeath() -> Result<(), Error> {
    if geteuid().is_root() {
        return Ok(());
    }
    let network = if OWN_NAMESPACE.load(Ordering::Relaxed) {
        NETWORK.as_slice()
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

/// Gives up what only the init needs. Who was root remains so.
pub(crate) fn renounce() -> Result<(), Error> {
    if geteuid().is_root() {
        return Ok(());
    }
    let failed = |source| Error::system("cannot give up capabilities", source);
    let mut held = capabilities(None).map_err(failed)?;
    held.effective -= CapabilitySet::SYS_ADMIN;
    held.permitted -= CapabilitySet::SYS_ADMIN;
    held.inheritable -= CapabilitySet::SYS_ADMIN;
    // What is not permitted and inheritable leaves the ambient set too.
    set_capabilities(None, held).map_err(failed)
}
