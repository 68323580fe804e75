//! The program of these tests, `crate::PROGRAM`, as a child process.
#![allow(dead_code, reason = "no program's tests use all of it")]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::PROGRAM;

/// The timeout of every wait in the tests: a guard against hanging, not a measurement.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// A command that ends on the signals that end programs, even if this process ignores them: `nohup` ignores SIGHUP, and a
/// script the signals of the keyboard for its background jobs. A child inherits what is ignored, but not what is handled.
pub fn command(program: &str) -> Command {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        let ends = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];
        for signal in ends.into_iter().filter(|signal| is_ignored(*signal)) {
            let handled = signal_hook::flag::register(signal.as_raw(), Arc::default());
            handled.expect("a signal that can be handled");
        }
    });
    Command::new(program)
}

/// True if this process ignores the signal (proc_pid_status(5)).
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// The command with these arguments, ready to run to its end.
pub fn fullpipe<'a>(arguments: impl IntoIterator<Item = &'a str>) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::from_std(command(PROGRAM));
    command.args(arguments).timeout(TEST_TIMEOUT);
    command
}

/// Asserts exit code `code`, nothing on stdout, and on stderr one line that contains all of `parts`.
pub fn refused<'a>(arguments: impl IntoIterator<Item = &'a str>, code: i32, parts: &[&str]) {
    let output = fullpipe(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let name = Path::new(PROGRAM).file_name().expect("a name").display();
    assert!(stderr.starts_with(&format!("{name}: ")), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{part} is not in: {stderr}");
    }
}

/// The command's whole output in `directory` on a terminal of 80 columns.
pub fn on_a_terminal(directory: &Path, arguments: &[&str]) -> String {
    let (running, terminal) = Running::start_on_a_terminal(directory, arguments);
    let mut shown = Vec::new();
    let mut some = [0; 4096];
    // The read fails when the other end is closed.
    while let Ok(read @ 1..) = rustix::io::read(&terminal, &mut some) {
        shown.extend(&some[..read]);
    }
    let (status, _, stderr) = running.finish();
    assert!(status.success(), "{stderr}");
    String::from_utf8(shown).expect("text").replace('\r', "")
}

/// A `fullpipe` in the background, which is killed when this is dropped.
pub struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts the command in the directory `directory`.
    pub fn start<'a>(directory: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Running {
        Running::of(spawn(directory, arguments))
    }

    /// Starts the command in `directory` on a terminal of its own with 80 columns. Returns the other end, too.
    pub fn start_on_a_terminal(directory: &Path, arguments: &[&str]) -> (Running, OwnedFd) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours)
            .and_then(|()| unlockpt(&ours))
            .expect("its other end");
        let name = ptsname(&ours, Vec::new()).expect("its name");
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size).expect("a size");
        let path = Path::new(name.to_str().expect("text"));
        let theirs = || {
            let file = File::options().read(true).write(true).open(path);
            Stdio::from(file.expect("the other end"))
        };
        let mut command = command(PROGRAM);
        command
            .args(arguments)
            .current_dir(directory)
            .env("TERM", "xterm-256color")
            .stdin(theirs())
            .stdout(theirs())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let stderr = lines(child.stderr.take().expect("piped"));
        let running = Running {
            child,
            stdout: lines(io::empty()),
            stderr,
        };
        (running, ours)
    }

    fn of(mut child: Child) -> Running {
        let stdout = lines(child.stdout.take().expect("piped"));
        let stderr = lines(child.stderr.take().expect("piped"));
        Running {
            child,
            stdout,
            stderr,
        }
    }

    /// Starts the command in a shell after these shell commands.
    pub fn start_after<'a>(
        directory: &Path,
        before: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Running {
        let mut command = command("sh");
        command
            .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
            .arg(PROGRAM)
            .args(arguments)
            .current_dir(directory);
        Running::of(start(&mut command))
    }

    /// Starts the command with a closed pipe as stdout.
    pub fn start_unread<'a>(
        directory: &Path,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Running {
        let mut child = spawn(directory, arguments);
        drop(child.stdout.take());
        let stderr = lines(child.stderr.take().expect("piped"));
        Running {
            child,
            stdout: lines(io::empty()),
            stderr,
        }
    }

    /// The next line on stdout.
    pub fn stdout_line(&mut self) -> String {
        match self.stdout.recv_timeout(TEST_TIMEOUT) {
            Ok(line) => line,
            Err(error) => panic!(
                "no line on stdout ({error}); stderr: {:?}",
                self.stderr_so_far()
            ),
        }
    }

    /// The next line on stderr that contains `part`; lines before it are dropped.
    pub fn stderr_line_with(&mut self, part: &str) -> String {
        let mut seen = Vec::new();
        // The timeout covers all lines together, because some commands print a line every minute.
        let start = Instant::now();
        loop {
            let rest = TEST_TIMEOUT.saturating_sub(start.elapsed());
            match self.stderr.recv_timeout(rest) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("no line with {part} on stderr ({error}), but {seen:#?}"),
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn stderr_so_far(&self) -> Vec<String> {
        self.stderr.try_iter().collect()
    }

    /// Sends a signal, as `kill` would.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a pid")).expect("not zero");
        kill_process(pid, signal).expect("still runs");
    }

    /// Waits for the end. Returns the exit status and the unread rest of stdout and stderr.
    pub fn finish(mut self) -> (ExitStatus, String, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("can be waited for") {
                break status;
            }
            assert!(
                start.elapsed() < TEST_TIMEOUT,
                "does not end: {:#?}",
                self.stderr_so_far()
            );
            thread::sleep(Duration::from_millis(20));
        };
        (status, rest(&self.stdout), rest(&self.stderr))
    }

    /// Waits for the end, which must have this exit code. Returns the unread rest of stdout and stderr.
    pub fn finish_with(self, code: i32) -> (String, String) {
        let (status, stdout, stderr) = self.finish();
        assert_eq!(status.code(), Some(code), "{stderr}");
        (stdout, stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // This fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn<'a>(directory: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Child {
    start(command(PROGRAM).args(arguments).current_dir(directory))
}

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// Reads lines in the background, so that the child never waits for its reader.
fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn rest(lines: &Receiver<String>) -> String {
    let mut text = String::new();
    loop {
        match lines.recv_timeout(TEST_TIMEOUT) {
            Ok(line) => {
                text.push_str(&line);
                text.push('\n');
            }
            Err(RecvTimeoutError::Disconnected) => return text,
            Err(RecvTimeoutError::Timeout) => panic!("the pipe stays open: {text}"),
        }
    }
}
