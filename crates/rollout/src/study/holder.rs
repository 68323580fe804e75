//! Finds the processes that hold a lock, from the kernel's list `/proc/locks`. The list has process numbers. When a
//! process has ended, another process may get its number.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The maximum number of characters of a command line that are shown.
const MAX_COMMAND_CHARS: usize = 80;

/// The process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The process's number and command line.
    process: Option<(u32, String)>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((number, command)) => write!(f, "process {number} ({command})"),
            None => f.write_str("another process"),
        }
    }
}

impl Holder {
    /// True if the process that took the lock is gone, while another process still has the locked file open.
    pub fn is_gone(&self) -> bool {
        // A process that has ended has no command line, even if its parent has not waited for it yet.
        let known = self.process.as_ref();
        known.is_some_and(|(_, command)| command.is_empty())
    }

    pub(super) fn of(file: &File) -> Holder {
        let process = locks(file).unwrap_or_default().into_iter().next();
        Holder {
            process: process.map(|(_, number)| (number, command(number))),
        }
    }

    /// True if this process cannot see the holder.
    pub(super) fn is_hidden(&self) -> bool {
        self.process.is_none()
    }
}

/// A process that has a policy in force.
#[derive(Debug)]
pub struct Steerer {
    /// The process's number.
    process: u32,
    /// A handle of the process, which stays valid if the number is reused.
    handle: OwnedFd,
}

impl Steerer {
    /// The processes that hold a shared lock on this file.
    pub(super) fn of(file: &File) -> io::Result<Vec<Steerer>> {
        Steerer::all(|| {
            let locks = locks(file)?.into_iter();
            let shared = locks.filter(|(kind, _)| kind == "READ");
            Ok(shared.map(|(_, process)| process).collect())
        })
    }

    /// The processes with these numbers. It asks for the numbers twice, because between the first list and the opening
    /// of a process, the process may end and another one get its number.
    fn all(mut ask: impl FnMut() -> io::Result<Vec<u32>>) -> io::Result<Vec<Steerer>> {
        let mut found: Vec<Steerer> = Vec::new();
        for process in ask()? {
            let Some(pid) = Pid::from_raw(process.cast_signed()) else {
                continue;
            };
            if found.iter().any(|one| one.process == process) {
                continue;
            }
            match pidfd_open(pid, PidfdFlags::empty()) {
                Ok(handle) => found.push(Steerer { process, handle }),
                Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let still = ask()?;
        found.retain(|one| still.contains(&one.process));
        Ok(found)
    }

    /// The process's number.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Makes the process read its policy again, with SIGHUP. Only this program gets it: SIGHUP would end others.
    ///
    /// # Errors
    ///
    /// The process has ended, or does not run the same program as this process.
    pub fn reload(&self) -> io::Result<()> {
        let program = |of: &str| {
            let about = fs::metadata(format!("/proc/{of}/exe"))?;
            io::Result::Ok((about.dev(), about.ino()))
        };
        let process = self.process;
        if program(&process.to_string())? != program("self")? {
            let runs = fs::read_link(format!("/proc/{process}/exe"))?;
            return Err(io::Error::other(format!(
                "it runs another program than this one, {}; if that is a fullpipe: kill -HUP {process}",
                runs.display()
            )));
        }
        Ok(pidfd_send_signal(&self.handle, Signal::HUP)?)
    }
}

/// The locks on a file: the kind of each lock, and its process.
fn locks(file: &File) -> io::Result<Vec<(String, u32)>> {
    let proc = Path::new("/proc");
    check_own(proc)?;
    let about = file.metadata()?;
    // Splits the device number into major and minor (makedev(3)).
    let (device, inode) = (about.dev(), about.ino());
    let major = (device >> 8 & 0xfff) | (device >> 32 & !0xfff);
    let minor = (device & 0xff) | (device >> 12 & !0xff);
    let of = format!("{major:02x}:{minor:02x}:{inode}");
    let all = fs::read_to_string(proc.join("locks"))?;
    Ok(all.lines().filter_map(|line| lock(line, &of)).collect())
}

/// Checks that this `/proc` has the process numbers of this process's own namespace.
fn check_own(proc: &Path) -> io::Result<()> {
    let own = fs::read_link(proc.join("self"))?;
    if own == Path::new(&std::process::id().to_string()) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} is of another namespace of processes (proc(5))",
        proc.display()
    )))
}

/// Parses a line of `/proc/locks` (proc_locks(5)), if its lock is on this file.
///
/// `7: FLOCK  ADVISORY  WRITE 4711 00:1c:42 0 EOF`
fn lock(line: &str, file: &str) -> Option<(String, u32)> {
    let mut words = line.split_whitespace().skip(1);
    let is_flock = words.next()? == "FLOCK";
    let kind = words.nth(1)?.to_owned();
    let process = words.next()?.parse().ok()?;
    (is_flock && words.next()? == file).then_some((kind, process))
}

/// The command line of a process.
fn command(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let shown: String = line.trim().chars().take(MAX_COMMAND_CHARS).collect();
    shown.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;

    use super::*;

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

    #[test]
    #[ignore = "the process that the tests below start"]
    fn waits() {
        let _ = io::stdin().read_to_end(&mut Vec::new());
    }

    /// Starts a process that waits until its stdin ends.
    fn start(mut command: Command) -> Child {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        child.expect("it starts")
    }

    /// Starts a process that runs this program.
    fn start_own() -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "study::holder::tests::waits"]);
        start(command)
    }

    /// True if SIGHUP, signal 1, is ignored, by the kernel's signal mask (proc(5)).
    fn is_hangup_ignored() -> bool {
        let about = fs::read_to_string("/proc/self/status").unwrap();
        let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        u64::from_str_radix(mask.unwrap().trim(), 16).unwrap() & 1 != 0
    }

    #[test]
    fn all_that_share_a_lock_are_told_and_no_other_program_is() {
        // A child inherits what is ignored (nohup), but not what is handled.
        if is_hangup_ignored() {
            signal_hook::flag::register(Signal::HUP.as_raw(), Arc::default()).unwrap();
        }
        let mut own = [start_own(), start_own()];
        let mut other = start(Command::new("cat"));
        let mut numbers: Vec<u32> = own.iter().map(Child::id).collect();
        numbers.extend([other.id(), own[0].id()]);
        let found = Steerer::all(|| Ok(numbers.clone())).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        for one in &found {
            let told = one.reload();
            if one.process() == other.id() {
                let error = told.unwrap_err().to_string();
                assert!(error.contains("another program than this one"), "{error}");
            } else {
                told.unwrap();
            }
        }
        // `wait` closes their stdin, so every process ends.
        for child in &mut own {
            let ended = child.wait().unwrap();
            assert_eq!(ended.signal(), Some(Signal::HUP.as_raw()), "{ended}");
        }
        assert!(other.wait().unwrap().success());
        for one in found {
            one.reload().unwrap_err();
        }
    }

    #[test]
    fn whose_lock_has_gone_meanwhile_is_not_told() {
        let own = std::process::id();
        let mut asked = [vec![own, 1], vec![1]].into_iter();
        let found = Steerer::all(|| Ok(asked.next().unwrap())).unwrap();
        let found: Vec<u32> = found.iter().map(Steerer::process).collect();
        assert_eq!(found, [1]);
    }

    #[test]
    fn numbers_of_another_namespace_are_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let proc = directory.path();
        check_own(proc).unwrap_err();
        symlink("1", proc.join("self")).unwrap();
        let error = check_own(proc).unwrap_err().to_string();
        assert!(error.contains("another namespace"), "{error}");
        check_own(Path::new("/proc")).unwrap();
    }

    #[test]
    fn each_process_that_shares_a_lock_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let open = || {
            File::options()
                .create(true)
                .append(true)
                .open(&path)
                .unwrap()
        };
        let (one, two) = (open(), open());
        assert!(Steerer::of(&one).unwrap().is_empty());
        one.try_lock_shared().unwrap();
        two.try_lock_shared().unwrap();
        let found = Steerer::of(&one).unwrap();
        let found: Vec<u32> = found.iter().map(Steerer::process).collect();
        assert_eq!(found, [std::process::id()]);
        two.unlock().unwrap();
        one.unlock().unwrap();
        one.try_lock().unwrap();
        assert!(Steerer::of(&one).unwrap().is_empty());
    }
}
