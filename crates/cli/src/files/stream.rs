//! Reads files and pipes to their end, or until the user ends the command.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use capture::read::Opened;
use lab::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The name for stdin.
const STDIN: &str = "-";

/// The interval of checks whether the user has ended the command, while a pipe is silent: 0.1 s.
const WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The files that the program has open besides.
const OTHERS: u64 = 32;

/// Raises the number of files that may be open at once as far as the system allows it. Returns how many the caller may open.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let now = setrlimit(Resource::Nofile, most).map_or(limit, |()| most);
    now.current
        .map_or(u64::MAX, |most| most.saturating_sub(OTHERS))
}

/// Opens a file, or stdin for `-`.
pub fn open<'c>(path: &Path, cancel: &'c Cancel) -> io::Result<Opened<'c>> {
    let is_stdin = path == Path::new(STDIN);
    let file = if is_stdin {
        File::from(io::stdin().as_fd().try_clone_to_owned()?)
    } else {
        File::open(path)?
    };
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::other("is a directory; give the files in it"));
    }
    let is_regular = about.is_file();
    let source: Box<dyn Read + 'c> = if is_regular {
        Box::new(file)
    } else {
        Box::new(Live { file, cancel })
    };
    Ok(Opened {
        source,
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

/// A reader that may be silent for long. It ends when the user ends the command.
struct Live<'c> {
    file: File,
    cancel: &'c Cancel,
}

impl Read for Live<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.cancel.is_cancelled() {
            let mut files = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut files, Some(&WAIT)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.file.read(to),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}
