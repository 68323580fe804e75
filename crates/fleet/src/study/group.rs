//! The control group whose connections take part.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
        let missing = |error: std::io::Error| GroupError::Missing {
            path: self.path.clone(),
            why: error.to_string(),
        };
        let (directory, about) = open().map_err(missing)?;
        if !about.is_dir() || !self.path.join("cgroup.procs").exists() {
            return Err(missing(std::io::Error::other("is no control group")));
        }
        Ok(Opened {
            directory,
            inode: about.ino(),
        })
    }

    /// Whether the open one is what its path still leads to.
    pub(super) fn is(&self, opened: &Opened) -> bool {
        fs::metadata(&self.path).is_ok_and(|about| about.ino() == opened.inode)
    }
}
