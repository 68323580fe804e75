//! The control group of the server.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use experiment::policy::Policy;
use fleet::who;
use linux::command::Init;
use rollout::steer;
use rollout::study::GroupError;

use super::everywhere;
use crate::laboratory::LabError;

/// The prefix of its name. The process ID of its maker follows.
const NAME: &str = "fullpipe-cdn-";

/// A control group, which is removed with this value.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes the group, and removes those that killed processes have left.
    pub fn make() -> Result<Group, LabError> {
        let root = who::root().ok_or(GroupError::NoFileSystem)?;
        for left in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = left.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(NAME));
            if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                let policy = Policy::parse(&everywhere(&left.path(), "cubic"))?;
                // A group that cannot be removed does no harm, because it has no connections.
                let _ = steer::stop(&policy);
                let _ = fs::remove_dir(left.path());
            }
        }
        let path = root.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| LabError::file(&path, error))?;
        Ok(Group(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The same init, which first enters the group. It must do so itself, because the processes that it starts see no
    /// control groups.
    pub fn entered(&self, init: &Init) -> Result<Init, LabError> {
        // In the shell, /proc/self/exe would be the shell itself.
        let own = "/proc/self/exe";
        let program = if init.program == Path::new(own) {
            std::env::current_exe().map_err(|error| LabError::file(Path::new(own), error))?
        } else {
            init.program.clone()
        };
        let script = "echo 0 > \"$0/cgroup.procs\" && exec \"$@\"";
        let mut arguments: Vec<OsString> = vec!["-c".into(), script.into()];
        arguments.extend([self.0.clone().into(), program.into()]);
        arguments.extend(init.arguments.iter().cloned());
        Ok(Init {
            program: "/bin/sh".into(),
            arguments,
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            // Its processes take a moment to end.
            thread::sleep(Duration::from_millis(50));
        }
    }
}
