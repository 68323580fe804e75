//! A control group for the test.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// A control group, which is removed when this is dropped.
pub struct Group(pub PathBuf);

impl Group {
    /// Makes a control group; nothing if cgroup v2 is not available, or no group may be made.
    pub fn make() -> Option<Group> {
        let path = fleet::who::root()?.join(format!("fullpipe-study-test-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    /// Removes the group and makes it again, as a service manager does.
    pub fn make_anew(&self) {
        let begin = Instant::now();
        // The group's processes need a moment to end.
        while let Err(error) = fs::remove_dir(&self.0) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{error}");
            thread::sleep(Duration::from_millis(50));
        }
        // Long enough for the study to notice.
        thread::sleep(Duration::from_secs(1));
        fs::create_dir(&self.0).expect("a control group");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}
