//! New namespaces for the calling thread (namespaces(7)).

use std::os::fd::AsFd;

use nix::sched::{CloneFlags, setns, unshare};

use crate::Error;
use crate::error::Context;

/// A kind of namespace.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Namespace {
    Network,
    Mount,
    /// A PID namespace, which applies to the thread's children, not to itself (pid_namespaces(7)).
    Pid,
}

impl Namespace {
    /// Moves the calling thread to a new namespace of this kind.
    ///
    /// # Errors
    ///
    /// The process lacks CAP_SYS_ADMIN, or the kernel allows no further namespace. The error is one line.
    pub(crate) fn unshare(self) -> Result<(), Error> {
        let (flag, name, short) = match self {
            Namespace::Network => (CloneFlags::CLONE_NEWNET, "network", "net"),
            Namespace::Mount => (CloneFlags::CLONE_NEWNS, "mount", "mnt"),
            Namespace::Pid => (CloneFlags::CLONE_NEWPID, "PID", "pid"),
        };
        unshare(flag).map_err(|source| {
            let why = match source {
                nix::Error::EPERM => "this takes CAP_SYS_ADMIN, which root has".to_owned(),
                nix::Error::ENOSPC => format!("sysctl user.max_{short}_namespaces allows no more"),
                nix::Error::EINVAL => "this kernel has none".to_owned(),
                _ => "the kernel refuses".to_owned(),
            };
            Error::system(format!("cannot make a {name} namespace: {why}"), source)
        })
    }
}

/// Moves the calling thread to this network namespace.
///
/// # Errors
///
/// The process lacks CAP_SYS_ADMIN.
pub(crate) fn enter(network: impl AsFd) -> Result<(), Error> {
    setns(network, CloneFlags::CLONE_NEWNET)
        .context("cannot enter the network namespace; this takes CAP_SYS_ADMIN")
}
