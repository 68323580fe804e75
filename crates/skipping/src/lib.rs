//! What a test cannot check on this machine, said where somebody sees it.
//!
//! A test that lacks something (root, a program, a feature of the kernel or the file system) passes, and [`skip!`] says what it
//! did not check, and what it lacks. The test harness captures what a passing test prints with `eprintln!`. So the line is written
//! to the process's stderr itself. If `FULLPIPE_SKIPPED` names a file, the line is also appended to that file: `.ci/run` prints the
//! lines of a whole run at its end, and counts them.

use std::env;
use std::fmt::Arguments;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

/// The first word of each line.
pub const MARK: &str = "SKIPPED";

/// The environment variable that names the file.
pub const FILE: &str = "FULLPIPE_SKIPPED";

/// Says what is not checked here and why, in the words of `format!`: `skip!("relay over IPv6: no loopback: {error}")`.
///
/// # Panics
/// The file that `FULLPIPE_SKIPPED` names cannot be written.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {
        $crate::note(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::module_path!(),
            ::core::format_args!($($reason)+),
        )
    };
}

/// The function behind [`skip!`].
#[doc(hidden)]
pub fn note(package: &str, module: &str, reason: Arguments<'_>) {
    let line = line(package, thread::current().name(), module, reason);
    let file = env::var_os(FILE);
    if let Err(error) = write(&line, file.as_ref().map(Path::new)) {
        panic!("{FILE}: {file:?}: {error}");
    }
}

/// The harness runs a test in a thread of the test's name. Other threads are known by the code's module.
fn line(package: &str, thread: Option<&str>, module: &str, reason: Arguments<'_>) -> String {
    let test = thread.filter(|name| *name != "main").unwrap_or(module);
    let reason = reason.to_string();
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{MARK} {package} {test}: {reason}\n")
}

/// Writes the line at once, so that lines of other tests do not mix with it.
fn write(line: &str, file: Option<&Path>) -> io::Result<()> {
    // Nobody may be reading.
    let _ = io::stderr().write_all(line.as_bytes());
    let Some(file) = file else { return Ok(()) };
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_test_and_the_lack() {
        let here = thread::current();
        let named = line(
            "p",
            here.name(),
            "m",
            format_args!("IPv6:\nno {}", "loopback"),
        );
        assert_eq!(
            named,
            "SKIPPED p tests::a_line_names_the_test_and_the_lack: IPv6: no loopback\n"
        );
        for thread in [Some("main"), None] {
            let named = line("p", thread, "m", format_args!("x"));
            assert_eq!(named, "SKIPPED p m: x\n");
        }
    }

    #[test]
    fn the_file_keeps_all_lines() {
        let file = env::temp_dir().join(format!("fullpipe-skipped-{}", std::process::id()));
        for line in ["a\n", "b\n"] {
            write(line, Some(&file)).expect("a file");
        }
        let kept = std::fs::read_to_string(&file);
        std::fs::remove_file(&file).expect("the file");
        assert_eq!(kept.expect("text"), "a\nb\n");
    }
}
