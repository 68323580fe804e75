//! The control group whose connections take part.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::lock::{Claim, Holder};
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
}

impl Opened {
    /// What it goes by where the program on it is kept.
    pub fn name(&self) -> String {
        format!("steer-{}", self.inode)
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
            return Err(self.missing(&std::io::Error::other("is no control group")));
        }
        Ok(Opened {
            directory,
            inode: about.ino(),
        })
    }

    /// Opens it, and holds it for as long as that is open.
    pub(crate) fn claim(&self, claim: Claim) -> Result<Opened, GroupError> {
        let opened = self.open()?;
        claim
            .lay(&opened.directory)
            .map_err(|holder| GroupError::InUse {
                path: self.path.clone(),
                holder,
            })?;
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
        })
    }

    fn missing(&self, error: &std::io::Error) -> GroupError {
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
