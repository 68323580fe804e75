//! Who has a control group: one study, or policies that take over from each other. Two programs that draw arms would each change what
//! the other one counts.
//!
//! The group's directory is locked (flock(2)) for as long as its file is open, so however its holder ends.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;

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
    /// Locks an open directory; who has it, if somebody else does.
    pub fn lay(self, directory: &File) -> Result<(), Holder> {
        let locked = match self {
            Claim::Alone => directory.try_lock(),
            Claim::Shared => directory.try_lock_shared(),
        };
        match locked {
            Err(TryLockError::WouldBlock) => Err(Holder::of(directory)),
            // A file system without locks: nobody can be told from anybody.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }
}

impl Holder {
    fn of(directory: &File) -> Holder {
        let found = || -> io::Result<Option<u32>> {
            let inode = directory.metadata()?.ino();
            let locks = fs::read_to_string("/proc/locks")?;
            Ok(locks.lines().find_map(|line| holder(line, inode)))
        };
        let process = found().ok().flatten();
        Holder {
            process: process.map(|number| (number, command(number))),
        }
    }
}

/// The process of a line of `/proc/locks`, if it is of a lock of this inode (proc_locks(5)): `7: FLOCK  ADVISORY  WRITE 4711
/// 00:1c:42 0 EOF`.
fn holder(line: &str, inode: u64) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    let is_flock = words.next()? == "FLOCK";
    let process = words.nth(2)?.parse().ok()?;
    let of = words.next()?.rsplit(':').next()?.parse::<u64>().ok()?;
    (is_flock && of == inode).then_some(process)
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
    fn a_study_has_a_directory_alone_and_policies_share_it() {
        let directory = tempfile::tempdir().unwrap();
        let open = || File::open(directory.path()).unwrap();
        let (study, policy, other) = (open(), open(), open());
        Claim::Alone.lay(&study).unwrap();
        for claim in [Claim::Alone, Claim::Shared] {
            let holder = claim.lay(&policy).unwrap_err().to_string();
            let own = format!("process {} (", std::process::id());
            assert!(holder.starts_with(&own), "{holder}");
        }
        drop(study);
        Claim::Shared.lay(&policy).unwrap();
        Claim::Shared.lay(&other).unwrap();
        assert!(Claim::Alone.lay(&open()).is_err());
    }

    #[test]
    fn a_lock_has_its_process() {
        let line = "7: FLOCK  ADVISORY  WRITE 4711 00:1c:42 0 EOF";
        assert_eq!(holder(line, 42), Some(4711));
        assert_eq!(holder(line, 43), None);
        assert_eq!(holder(&line.replace("FLOCK", "POSIX"), 42), None);
        assert_eq!(holder("7: -> FLOCK", 42), None);
    }
}
