//! The process that removes the study's rules and routes if the study has ended, or does not renew their lease.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};

use linux::command::Init;
use rustix::process::{Pid, Signal, kill_process};

/// A process that [undoes](linux::routing::undo_at_end) the study's changes when this process ends, for whatever
/// reason, when it does not renew the lease in time, or when the keeper is dropped.
pub(super) struct Keeper {
    process: Child,
    input: Option<UnixStream>,
}

impl Keeper {
    /// Starts the process. The process holds the lock, too: while it is at work, no other study can begin.
    pub fn start(undo: &Init, lock: File) -> io::Result<Keeper> {
        let (input, far) = UnixStream::pair()?;
        // A keeper that does not read must not block the study.
        input.set_nonblocking(true)?;
        let mut command = Command::new(&undo.program);
        command.args(&undo.arguments);
        command.stdin(OwnedFd::from(far)).stdout(lock);
        Ok(Keeper {
            process: command.spawn()?,
            input: Some(input),
        })
    }

    /// True if the process is running.
    pub fn is_there(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Renews the lease of the rules and routes.
    pub fn renew(&mut self) {
        if let Some(input) = &mut self.input {
            // If the process has ended, `is_there` reports it.
            let _ = input.write(&[1]);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.take());
        // A stopped process would not end.
        let _ = kill_process(Pid::from_child(&self.process), Signal::CONT);
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_process_that_was_stopped_ends() {
        let cat = Init {
            program: "cat".into(),
            arguments: Vec::new(),
        };
        let keeper = Keeper::start(&cat, tempfile::tempfile().unwrap()).unwrap();
        let process = Pid::from_child(&keeper.process);
        kill_process(process, Signal::STOP).unwrap();
        // If the process does not end, the keeper waits for it for ever.
        let (tell, told) = mpsc::channel();
        let dropping = thread::spawn(move || {
            drop(keeper);
            let _ = tell.send(());
        });
        let has_ended = told.recv_timeout(Duration::from_secs(60)).is_ok();
        if !has_ended {
            kill_process(process, Signal::KILL).unwrap();
        }
        dropping.join().unwrap();
        assert!(has_ended);
    }
}
