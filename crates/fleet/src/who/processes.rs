//! The processes of sockets: `/proc/PID/fd` names the sockets of each process that this user may see (proc_pid_fd(5)).

use std::ffi::OsStr;
use std::fs::{self, ReadDir};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashMap;

/// The maximum number of remembered sockets.
const MAX_SOCKETS: usize = 1 << 20;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name (`/proc/PID/comm`).
    pub name: String,
}

/// The sockets of all processes. The search takes small steps, because a process may have many thousands of files.
#[derive(Debug)]
pub struct Processes {
    proc: PathBuf,
    known: HashMap<u32, Arc<Process>>,
    walk: Option<Walk>,
}

/// An unfinished walk through `/proc`.
#[derive(Debug)]
struct Walk {
    processes: ReadDir,
    here: Option<CurrentProcess>,
    found: HashMap<u32, Arc<Process>>,
}

/// The current process of the walk.
#[derive(Debug)]
struct CurrentProcess {
    files: ReadDir,
    process: Arc<Process>,
}

impl Processes {
    /// The processes of this machine, or of another mount of `/proc`.
    pub fn new(proc: &Path) -> Processes {
        Processes {
            proc: proc.to_owned(),
            known: HashMap::new(),
            walk: None,
        }
    }

    /// The process that has the socket with this inode. If there are several, it is one of them.
    pub fn of(&self, inode: u32) -> Option<&Arc<Process>> {
        let found = self.walk.as_ref().and_then(|walk| walk.found.get(&inode));
        found.or_else(|| self.known.get(&inode))
    }

    /// True if a walk has begun and not ended.
    pub fn is_walking(&self) -> bool {
        self.walk.is_some()
    }

    /// Begins a walk. Without `/proc`, no socket has a process.
    pub fn begin(&mut self) {
        self.walk = fs::read_dir(&self.proc).ok().map(|processes| Walk {
            processes,
            here: None,
            found: HashMap::new(),
        });
    }

    /// Checks at most `files` files. Returns true if this ends the walk, which forgets sockets that it did not find.
    pub fn step(&mut self, files: usize) -> bool {
        let Some(walk) = &mut self.walk else {
            return false;
        };
        for _ in 0..files {
            if !walk.file() {
                self.known = std::mem::take(&mut walk.found);
                self.walk = None;
                return true;
            }
        }
        false
    }
}

impl Walk {
    /// Checks the next file or process. False if there is none.
    fn file(&mut self) -> bool {
        let Some(here) = &mut self.here else {
            let Some(next) = self.processes.next() else {
                return false;
            };
            // A process that has ended, or that this user may not see, has no files.
            self.here = next
                .ok()
                .and_then(|entry| CurrentProcess::at(&entry.path()));
            return true;
        };
        match here.files.next() {
            Some(Ok(file)) => {
                let target = fs::read_link(file.path()).unwrap_or_default();
                if let Some(inode) = socket(target.as_os_str())
                    && self.found.len() < MAX_SOCKETS
                {
                    self.found.insert(inode, Arc::clone(&here.process));
                }
            }
            Some(Err(_)) | None => self.here = None,
        }
        true
    }
}

impl CurrentProcess {
    fn at(directory: &Path) -> Option<CurrentProcess> {
        let pid = directory.file_name()?.to_str()?.parse().ok()?;
        let files = fs::read_dir(directory.join("fd")).ok()?;
        let name = fs::read(directory.join("comm")).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).trim_end().to_owned();
        let process = Arc::new(Process { pid, name });
        Some(CurrentProcess { files, process })
    }
}

/// The inode in `socket:[12345]`.
fn socket(target: &OsStr) -> Option<u32> {
    let inside = target.as_bytes().strip_prefix(b"socket:[")?;
    let number = inside.strip_suffix(b"]")?;
    str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn sockets_are_found_step_by_step_and_forgotten_when_they_are_gone() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, name, inodes) in [("17", "server\n", &[5, 6][..]), ("4", "a b\n", &[7])] {
            let fd = proc.path().join(pid).join("fd");
            fs::create_dir_all(&fd).unwrap();
            fs::write(proc.path().join(pid).join("comm"), name).unwrap();
            for inode in inodes {
                symlink(format!("socket:[{inode}]"), fd.join(inode.to_string())).unwrap();
            }
            symlink("/dev/null", fd.join("0")).unwrap();
            symlink("socket:[x]", fd.join("1")).unwrap();
        }
        fs::create_dir(proc.path().join("self")).unwrap();
        let mut processes = Processes::new(proc.path());
        assert!(!processes.step(1), "no walk has begun");
        processes.begin();
        let mut steps = 0;
        while !processes.step(1) {
            steps += 1;
        }
        assert!(steps > 7, "{steps}");
        let name = |processes: &Processes, inode| {
            let process = processes.of(inode)?;
            Some((process.pid, process.name.clone()))
        };
        assert_eq!(name(&processes, 6), Some((17, "server".to_owned())));
        assert_eq!(name(&processes, 7), Some((4, "a b".to_owned())));
        assert_eq!(name(&processes, 8), None);
        fs::remove_dir_all(proc.path().join("17")).unwrap();
        processes.begin();
        assert_eq!(
            name(&processes, 6),
            Some((17, "server".to_owned())),
            "until the walk ends"
        );
        while !processes.step(100) {}
        assert_eq!(name(&processes, 6), None);
    }
}
