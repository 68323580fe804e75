//! Locks a control group for one study, or for policies that take over from each other. Two programs that draw arms
//! would each change the connections that the other one counts. Also locks the routes of a network namespace for one
//! study.
//!
//! A lock is a file that is locked with flock(2) while it is open, so the lock ends however its holder ends. The file
//! is in a directory where only root can create files, and only root can open it. This matters because every process
//! that can open a file can lock it, and every user can open a control group's directory. Processes with another
//! `/run`, in another mount namespace, lock other files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::holder::{Holder, Steerer};

/// The directory of the lock files.
const DIRECTORY: &str = "/run";

/// The kind of hold on a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// A study holds it, exclusively.
    Alone,
    /// A policy holds it, together with other policies. The latest one takes over.
    Shared,
}

/// A reason why the lock was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another process holds it.
    Held(Holder),
    /// The lock file cannot be made or locked.
    System(PathBuf, io::Error),
}

/// A lock that is held while this lives.
#[derive(Debug)]
pub(crate) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Duplicates the open file. The lock stays until both are closed.
    pub fn again(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Drop for Held {
    /// The last holder removes the file. A killed holder leaves the file, which does no harm.
    fn drop(&mut self) {
        if self.file.try_lock().is_ok() && is_there(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        // A process that is being started has a copy of the open file for a moment, which would hold the lock.
        let _ = self.file.unlock();
    }
}

/// True if the path still leads to the open file. Its last holder may have removed it meanwhile.
fn is_there(file: &File, path: &Path) -> bool {
    let number = |about: io::Result<fs::Metadata>| about.ok().map(|of| (of.dev(), of.ino()));
    let open = number(file.metadata());
    open.is_some() && open == number(fs::metadata(path))
}

impl Claim {
    /// Locks the control group with this inode number.
    pub fn lay(self, group: u64) -> Result<Held, Refused> {
        self.lay_in(Path::new(DIRECTORY), &of_group(group))
    }

    /// Locks the routes of the network namespace with this inode number.
    pub fn lay_routes(self, namespace: u64) -> Result<Held, Refused> {
        let name = format!("fullpipe-route-{namespace}.lock");
        self.lay_in(Path::new(DIRECTORY), &name)
    }

    fn lay_in(self, directory: &Path, name: &str) -> Result<Held, Refused> {
        self.lay_at(directory.join(name))
    }

    /// Locks this file. Creates the file if it does not exist; only its owner can open the file.
    pub fn lay_at(self, path: PathBuf) -> Result<Held, Refused> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options.mode(0o600);
        loop {
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(error) => return Err(Refused::System(path, error)),
            };
            let locked = match self {
                Claim::Alone => file.try_lock(),
                Claim::Shared => file.try_lock_shared(),
            };
            match locked {
                Ok(()) if is_there(&file, &path) => return Ok(Held { file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Refused::Held(Holder::of(&file))),
                Err(TryLockError::Error(error)) => return Err(Refused::System(path, error)),
            }
        }
    }
}

/// The name of a control group's lock file.
fn of_group(group: u64) -> String {
    format!("fullpipe-steer-{group}.lock")
}

/// The processes that have a policy in force for the control group with this inode number.
pub(crate) fn steers(group: u64) -> io::Result<Vec<Steerer>> {
    match File::open(Path::new(DIRECTORY).join(of_group(group))) {
        Ok(file) => Steerer::of(&file),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_has_a_group_alone_and_policies_share_it() {
        let directory = tempfile::tempdir().unwrap();
        let lay = |claim: Claim| claim.lay_in(directory.path(), "7");
        let refused = |claim| match lay(claim) {
            Err(Refused::Held(holder)) => holder.to_string(),
            other => panic!("{other:?}"),
        };
        let study = lay(Claim::Alone).unwrap();
        // No other user can open the file, so no other user can lock it.
        assert_eq!(study.file.metadata().unwrap().mode() & 0o777, 0o600);
        for claim in [Claim::Alone, Claim::Shared] {
            let holder = refused(claim);
            let own = format!("process {} (", std::process::id());
            assert!(holder.starts_with(&own), "{holder}");
        }
        Claim::Alone.lay_in(directory.path(), "8").unwrap();
        drop(study);
        let (policy, other) = (lay(Claim::Shared).unwrap(), lay(Claim::Shared).unwrap());
        drop(policy);
        refused(Claim::Alone);
        let shared = Steerer::of(&other.file).unwrap();
        let shared: Vec<u32> = shared.iter().map(Steerer::process).collect();
        assert_eq!(shared, [std::process::id()]);
        drop(other);
        // No file is left.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        lay(Claim::Alone).unwrap();
        let nowhere = Claim::Alone.lay_in(&directory.path().join("no"), "7");
        assert!(matches!(nowhere, Err(Refused::System(..))), "{nowhere:?}");
    }
}
