//! A process that a test starts, so that it can be killed: this program, which runs one of its ignored tests.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// The environment variable with the directory of the process.
const PLACE: &str = "FULLPIPE_TEST_DIRECTORY";

/// The directory of this process, if a test has started it.
pub fn directory() -> Option<PathBuf> {
    std::env::var_os(PLACE).map(PathBuf::from)
}

/// Such a process. It is killed when this is dropped.
pub struct Running(pub Child);

impl Running {
    /// Starts the study in the directory.
    pub fn start(directory: &Path) -> Running {
        Running::start_test("runs_a_study", directory)
    }

    /// Starts one of the ignored tests, which works in the directory.
    pub fn start_test(test: &str, directory: &Path) -> Running {
        let log = File::options()
            .create(true)
            .append(true)
            .open(directory.join("log"));
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", test, "--nocapture"])
            .env(PLACE, directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a log"))
            .spawn();
        Running(child.expect("it starts"))
    }

    /// Sends a signal to the process.
    pub fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it runs");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
