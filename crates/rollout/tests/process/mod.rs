//! A process that a test starts, so that it can be killed: this program, which runs one of its ignored tests.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use experiment::Plan;
use linux::command::Init;
use rollout::study::{Lookup, Read, Study, StudyDirectory};
use rustix::process::{Pid, Signal, kill_process};
use units::Bytes;

/// The environment variable with the directory of the process.
const PLACE: &str = "FULLPIPE_TEST_DIRECTORY";

/// The timeout for steps that take a moment or a lease.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The interval between two attempts at a step that takes a moment.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(50);

/// Waits until `attempt` succeeds, and returns its result.
pub fn wait_for<T, E: Display>(what: &str, mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let begin = Instant::now();
    loop {
        match attempt() {
            Ok(result) => return result,
            Err(why) => assert!(begin.elapsed() < TIMEOUT, "{what}: {why}"),
        }
        thread::sleep(ATTEMPT_INTERVAL);
    }
}

/// The time of day, in seconds since 1970.
pub fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs_f64()
}

/// Begins the study of the plan in the directory of this process.
pub fn begin_study(directory: &Path, undo: &Init) -> Study {
    let text = fs::read_to_string(directory.join("given.toml")).expect("a plan");
    let plan = Plan::parse(&text).expect("a plan that makes sense");
    let place = StudyDirectory::make(&directory.join("data"), &text, &plan, now());
    let keep = Bytes::new(100_000_000);
    let study = Study::begin(place.expect("a place"), keep, Lookup::default(), undo);
    study.unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until a study has begun in the directory `data`, and returns it.
pub fn begun(data: &Path) -> StudyDirectory {
    wait_for("a study begins", || StudyDirectory::find(data))
}

/// The data of a study.
pub fn read(data: &Path) -> Read {
    rollout::study::read(&[data], Vec::new(), &mut Lookup::default()).expect("data")
}

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
