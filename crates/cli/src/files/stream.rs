//! Reads files and pipes to their end, or until the user ends the command.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lab::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use trace::Opened;

/// The name for stdin.
const STDIN: &str = "-";

/// The interval of checks for an end of the command while a pipe is silent: 0.1 s.
const CHECK_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The number of other files that the program has open.
const OTHER_FILES: u64 = 32;

/// Raises the limit of open files as far as the system allows it. Returns the number of files that the caller may
/// open.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let now = setrlimit(Resource::Nofile, most).map_or(limit, |()| most);
    now.current
        .map_or(u64::MAX, |most| most.saturating_sub(OTHER_FILES))
}

/// Opens a file, or stdin for `-`. A pipe that nobody writes to is opened, too, and is silent. The file ends when the
/// user ends the command.
pub fn open<'c>(path: &Path, cancel: &'c Cancel) -> io::Result<Opened<'c>> {
    let is_stdin = path == Path::new(STDIN);
    let file = if is_stdin {
        File::from(io::stdin().as_fd().try_clone_to_owned()?)
    } else {
        // A pipe is opened at once; otherwise the system call would wait for its writer, and restart after each signal.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)?
    };
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::other("is a directory; give the files in it"));
    }
    let is_regular = about.is_file();
    Ok(Opened {
        source: Box::new(Stream {
            file,
            may_be_silent: !is_regular,
            cancel,
        }),
        is_lasting: is_regular && !is_stdin,
    })
}

/// Its name in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    }
}

/// A reader that ends when the user ends the command.
struct Stream<'c> {
    file: File,
    /// True if it may be silent for long.
    may_be_silent: bool,
    cancel: &'c Cancel,
}

impl Read for Stream<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.cancel.is_cancelled() {
            if self.may_be_silent {
                let mut files = [PollFd::new(&self.file, PollFlags::IN)];
                match poll(&mut files, Some(&CHECK_INTERVAL)) {
                    Ok(0) | Err(Errno::INTR) => continue,
                    Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            match self.file.read(to) {
                // Another reader of the same pipe was faster.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn what_never_ends_ends_with_the_command() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).expect("a pipe");
        for path in [&*pipe, Path::new("/dev/zero")] {
            let cancel = Cancel::new();
            let mut opened = open(path, &cancel).expect("it opens without a writer");
            assert!(!opened.is_lasting);
            thread::scope(|scope| {
                scope.spawn(|| cancel.cancel());
                let ended = io::copy(&mut opened.source, &mut io::sink());
                assert!(ended.is_ok());
            });
        }
    }

    #[test]
    fn a_pipe_is_read_whoever_opens_it_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).expect("a pipe");
        let cancel = Cancel::new();
        let mut opened = open(&pipe, &cancel).expect("it opens without a writer");
        thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, b"some").expect("a reader"));
            let mut text = String::new();
            opened.source.read_to_string(&mut text).expect("a writer");
            assert_eq!(text, "some");
        });
    }
}
