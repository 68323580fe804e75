//! The control group of the server.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use experiment::policy::Policy;
use fleet::study::GroupError;
use fleet::{steer, who};
use linux::command::Init;

use super::everywhere;
use crate::laboratory::LabError;

/// What its name begins with; the number of the process that made it follows.
const NAME: &str = "fullpipe-cdn-";

/// A control group, which goes with this.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes it, and takes away what processes have left that were killed.
    pub fn make() -> Result<Group, LabError> {
        let root = who::root().ok_or(GroupError::NoFileSystem)?;
        for left in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = left.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(NAME));
            if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                let policy = Policy::parse(&everywhere(&left.path(), "cubic"))?;
                // What cannot be taken away does no harm: no connection is in it.
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

    /// The same init, which enters the group first. It must do so itself: what it starts sees no control groups.
    pub fn entered(&self, init: &Init) -> Result<Init, LabError> {
        // The shell is another program than this one.
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
            // Its processes take a moment to go.
            thread::sleep(Duration::from_millis(50));
        }
    }
}
