//! A control group of the test's own.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// A control group, which goes with this.
pub struct Group(pub PathBuf);

impl Group {
    /// Nothing where there are none of version 2, or none may be made.
    pub fn make() -> Option<Group> {
        let path = fleet::who::root()?.join(format!("fullpipe-study-test-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    /// Removes it and makes it again, as a service manager does.
    pub fn make_anew(&self) {
        let begin = Instant::now();
        // Its processes take a moment to go.
        while let Err(error) = fs::remove_dir(&self.0) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{error}");
            thread::sleep(Duration::from_millis(50));
        }
        // So long that the study notices.
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
