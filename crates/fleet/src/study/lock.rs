//! Who has a control group: one study, or policies that take over from each other. Two programs that draw arms would each change what
//! the other one counts. And who has the routes of a network namespace: one study.
//!
//! A file is locked (flock(2)) for as long as it is open, so however its holder ends. It is where only root makes files, and nobody
//! else can open it: whoever can open a file can lock it, and everybody can open a control group's directory. Processes that have another
//! `/run`, in another mount namespace, lock other files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::holder::{Holder, Steerer};

/// Where these files are.
const DIRECTORY: &str = "/run";

/// How a control group is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// By a study: nobody else has it.
    Alone,
    /// By a policy, beside others: the later one takes over.
    Shared,
}

/// Why one is not held.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Somebody else has it.
    Held(Holder),
    /// The file cannot be made or locked.
    System(PathBuf, io::Error),
}

/// A control group that is held, as long as this lives.
#[derive(Debug)]
pub(crate) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// The file once more: what is held stays held until both are closed.
    pub fn again(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Drop for Held {
    /// The file goes with its last holder; whoever is killed leaves it, and it does no harm.
    fn drop(&mut self) {
        if self.file.try_lock().is_ok() && is_there(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        // A process that is being started has a copy of the open file for a moment, and would hold it for so long.
        let _ = self.file.unlock();
    }
}

/// Whether an open file is the one that its path leads to: its last holder may have removed it meanwhile.
fn is_there(file: &File, path: &Path) -> bool {
    let number = |about: io::Result<fs::Metadata>| about.ok().map(|of| (of.dev(), of.ino()));
    let open = number(file.metadata());
    open.is_some() && open == number(fs::metadata(path))
}

impl Claim {
    /// Holds the control group of this number.
    pub fn lay(self, group: u64) -> Result<Held, Refused> {
        self.lay_in(Path::new(DIRECTORY), &of_group(group))
    }

    /// Holds the routes of the network namespace of this number.
    pub fn lay_routes(self, namespace: u64) -> Result<Held, Refused> {
        let name = format!("fullpipe-route-{namespace}.lock");
        self.lay_in(Path::new(DIRECTORY), &name)
    }

    fn lay_in(self, directory: &Path, name: &str) -> Result<Held, Refused> {
        self.lay_at(directory.join(name))
    }

    /// Locks this file, which is made if it is not there, and which only its owner can open.
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

/// The file of a control group.
fn of_group(group: u64) -> String {
    format!("fullpipe-steer-{group}.lock")
}

/// The processes that have a policy in force for the control group of this number.
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
        // Nobody else can open it, and so nobody else can lock it.
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
        // Nothing is left.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        lay(Claim::Alone).unwrap();
        let nowhere = Claim::Alone.lay_in(&directory.path().join("no"), "7");
        assert!(matches!(nowhere, Err(Refused::System(..))), "{nowhere:?}");
    }
}
