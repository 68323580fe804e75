//! Who has a control group: one study, or policies that take over from each other. Two programs that draw arms would each change what
//! the other one counts. And who has the routes of a network namespace: one study.
//!
//! A file is locked (flock(2)) for as long as it is open, so however its holder ends. It is where only root makes files, and nobody
//! else can open it: whoever can open a file can lock it, and everybody can open a control group's directory.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

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

/// Who holds a control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process, and what that is.
    process: Option<(u32, String)>,
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
    }
}

/// Whether an open file is the one that its path leads to: its last holder may have removed it meanwhile.
fn is_there(file: &File, path: &Path) -> bool {
    let number = |about: io::Result<fs::Metadata>| about.ok().map(|of| (of.dev(), of.ino()));
    let open = number(file.metadata());
    open.is_some() && open == number(fs::metadata(path))
}

/// So much of a command is shown.
const SHOWN: usize = 80;

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((number, command)) => write!(f, "process {number} ({command})"),
            None => f.write_str("another process"),
        }
    }
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
        let path = directory.join(name);
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

/// The process that has a policy in force for the control group of this number.
pub(crate) fn steers(group: u64) -> Option<u32> {
    let file = File::open(Path::new(DIRECTORY).join(of_group(group))).ok()?;
    // The latest has taken over.
    let mut shared = locks(&file).into_iter().filter(|(kind, _)| kind == "READ");
    shared.next_back().map(|(_, process)| process)
}

impl Holder {
    /// Whether the process is gone that has locked it, and another one still has it open.
    pub fn is_gone(&self) -> bool {
        // What has ended has no command line, whether or not somebody has taken note of its end.
        let known = self.process.as_ref();
        known.is_some_and(|(_, command)| command.is_empty())
    }

    fn of(file: &File) -> Holder {
        let process = locks(file).into_iter().next();
        Holder {
            process: process.map(|(_, number)| (number, command(number))),
        }
    }
}

/// The locks of a file: how it is locked, and by which process.
fn locks(file: &File) -> Vec<(String, u32)> {
    let read = || -> io::Result<Vec<(String, u32)>> {
        let about = file.metadata()?;
        // The numbers of a device as one (makedev(3)).
        let (device, inode) = (about.dev(), about.ino());
        let major = (device >> 8 & 0xfff) | (device >> 32 & !0xfff);
        let minor = (device & 0xff) | (device >> 12 & !0xff);
        let of = format!("{major:02x}:{minor:02x}:{inode}");
        let all = fs::read_to_string("/proc/locks")?;
        Ok(all.lines().filter_map(|line| lock(line, &of)).collect())
    };
    read().unwrap_or_default()
}

/// A line of `/proc/locks`, if it is of a lock of this file (proc_locks(5)): `7: FLOCK  ADVISORY  WRITE 4711 00:1c:42 0 EOF`.
fn lock(line: &str, file: &str) -> Option<(String, u32)> {
    let mut words = line.split_whitespace().skip(1);
    let is_flock = words.next()? == "FLOCK";
    let kind = words.nth(1)?.to_owned();
    let process = words.next()?.parse().ok()?;
    (is_flock && words.next()? == file).then_some((kind, process))
}

/// What a process was started as.
fn command(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let shown: String = line.trim().chars().take(SHOWN).collect();
    shown.escape_debug().to_string()
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
        assert_eq!(
            locks(&other.file),
            [("READ".to_owned(), std::process::id())]
        );
        drop(other);
        // Nothing is left.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        lay(Claim::Alone).unwrap();
        let nowhere = Claim::Alone.lay_in(&directory.path().join("no"), "7");
        assert!(matches!(nowhere, Err(Refused::System(..))), "{nowhere:?}");
    }

    #[test]
    fn a_lock_has_its_process() {
        let line = "7: FLOCK  ADVISORY  WRITE 4711 00:1c:42 0 EOF";
        let is =
            |line: &str, file| lock(line, file).map(|(kind, process)| format!("{kind} {process}"));
        assert_eq!(is(line, "00:1c:42").as_deref(), Some("WRITE 4711"));
        assert_eq!(is(line, "00:1d:42"), None);
        assert_eq!(is(&line.replace("FLOCK", "POSIX"), "00:1c:42"), None);
        assert_eq!(is("7: -> FLOCK", "00:1c:42"), None);
    }
}
