//! The control group whose connections take part.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::holder::{Holder, Steerer};
use super::lock::{Claim, Held, Refused, steers};
use crate::who;

/// Why a control group will not do.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// There is no file system of them.
    #[error(
        "cgroup: there is no file system of control groups of version 2 here; mount one at /sys/fs/cgroup"
    )]
    NoFileSystem,
    /// It is not there.
    #[error("cgroup: {}: {why}; give the directory of a control group, such as system.slice/nginx.service", path.display())]
    Missing {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// Another process draws its connections' controllers.
    #[error("cgroup: {} is in use by {holder}; end that one first", path.display())]
    InUse {
        /// Which one.
        path: PathBuf,
        /// Who that is.
        holder: Holder,
    },
    /// It cannot be held.
    #[error("cgroup: cannot lock {}: {error}", path.display())]
    Lock {
        /// The file that is to be locked.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A policy is there, and nobody looks after it.
    #[error(
        "cgroup: {} may have a policy in force that a process has left, which did not end it; take it away first: \
         `fullpipe steer stop POLICY.toml`",
        path.display()
    )]
    Left {
        /// Which one.
        path: PathBuf,
    },
}

impl GroupError {
    /// Whether somebody else has it.
    pub fn is_in_use(&self) -> bool {
        matches!(self, GroupError::InUse { .. } | GroupError::Left { .. })
    }
}

/// A control group by its directory, which a service manager may remove and make anew.
#[derive(Debug, Clone)]
pub struct ControlGroup {
    path: PathBuf,
}

/// An open one.
#[derive(Debug)]
pub(crate) struct Opened {
    pub directory: File,
    inode: u64,
    /// What holds it, if this process does.
    held: Option<Arc<Held>>,
}

impl Opened {
    /// What it goes by where the program on it is kept.
    pub fn name(&self) -> String {
        format!("steer-{}", self.inode)
    }

    /// Whether a process has it.
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
    /// The one with this path, which is absolute or begins at the root of all control groups.
    ///
    /// # Errors
    ///
    /// There are none of version 2 here.
    pub fn at(path: &Path) -> Result<ControlGroup, GroupError> {
        let path = if path.is_absolute() {
            path.to_owned()
        } else {
            who::root().ok_or(GroupError::NoFileSystem)?.join(path)
        };
        Ok(ControlGroup { path })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<Opened, GroupError> {
        let open = || {
            let directory = File::open(&self.path)?;
            let about = directory.metadata()?;
            Ok((directory, about))
        };
        let (directory, about) = open().map_err(|error| self.missing(&error))?;
        if !about.is_dir() || !self.path.join("cgroup.procs").exists() {
            return Err(self.missing(&io::Error::other("is no control group")));
        }
        Ok(Opened {
            directory,
            inode: about.ino(),
            held: None,
        })
    }

    /// Opens it, and holds it for as long as that is open.
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
            // Who may not do this attaches nothing, but may ask.
            Err(Refused::System(_, error)) if error.kind() == ErrorKind::PermissionDenied => None,
            Err(Refused::System(path, error)) => return Err(GroupError::Lock { path, error }),
        };
        // What it cannot be told of is not there.
        if claim == Claim::Alone && kernel::is_kept(&opened.name()).unwrap_or(false) {
            return Err(GroupError::Left {
                path: self.path.clone(),
            });
        }
        Ok(opened)
    }

    /// The open one once more: it stays held until both are closed.
    pub(super) fn again(&self, opened: &Opened) -> Result<Opened, GroupError> {
        let directory = opened.directory.try_clone();
        Ok(Opened {
            directory: directory.map_err(|error| self.missing(&error))?,
            inode: opened.inode,
            held: opened.held.clone(),
        })
    }

    fn missing(&self, error: &io::Error) -> GroupError {
        GroupError::Missing {
            path: self.path.clone(),
            why: error.to_string(),
        }
    }

    /// Whether the open one is what its path still leads to.
    pub(super) fn is(&self, opened: &Opened) -> bool {
        fs::metadata(&self.path).is_ok_and(|about| about.ino() == opened.inode)
    }
}
