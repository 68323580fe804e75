//! The control group whose connections take part.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::geteuid;

use super::hold::is_kept;
use super::holder::{Holder, Steerer};
use super::lock::{Claim, Held, Refused, steers};
use fleet::who;

/// A reason why a control group cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// No cgroup v2 file system is mounted.
    #[error(
        "cgroup: there is no file system of control groups of version 2 here; mount one at /sys/fs/cgroup"
    )]
    NoFileSystem,
    /// The control group does not exist.
    #[error("cgroup: {}: {why}; give the directory of a control group, such as system.slice/nginx.service", path.display())]
    Missing {
        /// The control group's directory.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
    /// Another process assigns controllers to the group's connections.
    #[error("cgroup: {} is in use by {holder}; end that one first", path.display())]
    InUse {
        /// The control group's directory.
        path: PathBuf,
        /// The other process.
        holder: Holder,
    },
    /// The lock cannot be taken.
    #[error("cgroup: cannot lock {}: {error}", path.display())]
    Lock {
        /// The file to be locked.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A policy may be in force without a process that maintains it.
    #[error(
        "cgroup: {} may still have the policy of a process that was killed; remove it first with \
         `fullpipe steer stop POLICY.toml`",
        path.display()
    )]
    Left {
        /// The control group's directory.
        path: PathBuf,
    },
}

impl GroupError {
    /// True if another process uses the control group, or has left a policy there.
    pub fn is_in_use(&self) -> bool {
        matches!(self, GroupError::InUse { .. } | GroupError::Left { .. })
    }
}

/// A control group, given by its directory. A service manager may remove the group and make it anew.
#[derive(Debug, Clone)]
pub struct ControlGroup {
    path: PathBuf,
}

/// True if a group can be used without its lock. A process that is not root's may not lock the group. It cannot attach
/// a program either, but may use the open group otherwise.
fn is_harmless(error: &io::Error, is_root: bool) -> bool {
    error.kind() == ErrorKind::PermissionDenied && !is_root
}

/// An open control group.
#[derive(Debug)]
pub(crate) struct Opened {
    #[cfg_attr(
        not(feature = "load"),
        expect(dead_code, reason = "nothing is attached")
    )]
    pub directory: File,
    inode: u64,
    /// The lock, if this process has it.
    held: Option<Arc<Held>>,
}

impl Opened {
    /// The name under which the program on this control group is kept.
    pub fn name(&self) -> String {
        format!("steer-{}", self.inode)
    }

    /// True if a process has locked the control group.
    pub fn is_held(&self) -> bool {
        matches!(Claim::Alone.lay(self.inode), Err(Refused::Held(_)))
    }

    /// The processes that have a policy in force.
    pub fn steers(&self) -> io::Result<Vec<Steerer>> {
        let steerers = steers(self.inode)?;
        if steerers.is_empty()
            && let Err(Refused::Held(holder)) = Claim::Alone.lay(self.inode)
            && holder.is_hidden()
        {
            return Err(io::Error::other(
                "a process holds it that /proc does not show here, such as one of another container",
            ));
        }
        Ok(steerers)
    }
}

impl ControlGroup {
    /// The control group with this path. The path is absolute, or relative to the root of all control groups, or as
    /// `/proc/PID/cgroup` shows it (cgroups(7)): `0::/system.slice/nginx.service`.
    ///
    /// # Errors
    ///
    /// No cgroup v2 file system is mounted.
    pub fn at(path: &Path) -> Result<ControlGroup, GroupError> {
        let path = path.strip_prefix("0::").unwrap_or(path);
        let path = if path.is_absolute() {
            path.to_owned()
        } else {
            who::root().ok_or(GroupError::NoFileSystem)?.join(path)
        };
        Ok(ControlGroup { path })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the control group.
    pub(crate) fn open(&self) -> Result<Opened, GroupError> {
        let open = || {
            let directory = File::open(&self.path)?;
            let about = directory.metadata()?;
            Ok((directory, about))
        };
        let (directory, about) = open().map_err(|error| self.missing(&error))?;
        // Version 1 has no such file.
        if !about.is_dir() || !self.path.join("cgroup.controllers").exists() {
            let why = "is not a control group of version 2";
            return Err(self.missing(&io::Error::other(why)));
        }
        Ok(Opened {
            directory,
            inode: about.ino(),
            held: None,
        })
    }

    /// Opens the control group, and locks it for as long as the result lives.
    pub(crate) fn claim(&self, claim: Claim) -> Result<Opened, GroupError> {
        let mut opened = self.open()?;
        opened.held = match claim.lay(opened.inode) {
            Ok(held) => Some(Arc::new(held)),
            Err(Refused::Held(holder)) => {
                return Err(GroupError::InUse {
                    path: self.path.clone(),
                    holder,
                });
            }
            Err(Refused::System(_, error)) if is_harmless(&error, geteuid().is_root()) => None,
            Err(Refused::System(path, error)) => return Err(GroupError::Lock { path, error }),
        };
        // Without an answer from the kernel, nothing counts as kept.
        if claim == Claim::Alone && is_kept(&opened.name()).unwrap_or(false) {
            return Err(GroupError::Left {
                path: self.path.clone(),
            });
        }
        Ok(opened)
    }

    fn missing(&self, error: &io::Error) -> GroupError {
        GroupError::Missing {
            path: self.path.clone(),
            why: error.to_string(),
        }
    }
}

/// Functions for a program that stays attached.
#[cfg(feature = "load")]
impl ControlGroup {
    /// Duplicates the open group. The lock stays until both are closed.
    pub(super) fn again(&self, opened: &Opened) -> Result<Opened, GroupError> {
        let directory = opened.directory.try_clone();
        Ok(Opened {
            directory: directory.map_err(|error| self.missing(&error))?,
            inode: opened.inode,
            held: opened.held.clone(),
        })
    }

    /// True if the path still leads to the open group.
    pub(super) fn is(&self, opened: &Opened) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|about| about.ino() == opened.inode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_the_kernel_shows_it() {
        let Some(root) = who::root() else {
            skipping::skip!("there is no file system of control groups");
            return;
        };
        let path = |text: &str| ControlGroup::at(Path::new(text)).unwrap().path;
        for text in ["system.slice/a.service", "0::/system.slice/a.service"] {
            assert_eq!(path(text), root.join("system.slice/a.service"), "{text}");
        }
        assert_eq!(path("0::/"), root);
        assert_eq!(path("/sys/a"), Path::new("/sys/a"));
    }

    #[test]
    fn root_needs_the_lock() {
        let (denied, full) = (ErrorKind::PermissionDenied, ErrorKind::StorageFull);
        let is_harmless = |kind: ErrorKind, is_root| is_harmless(&kind.into(), is_root);
        assert!(is_harmless(denied, false));
        assert!(!is_harmless(denied, true) && !is_harmless(full, false));
    }
}
