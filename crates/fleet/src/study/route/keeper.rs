//! The process that removes the study's rules and routes when the study's process has ended.

use std::fs::File;
use std::io;
use std::process::{Child, Command, Stdio};

use linux::command::Init;

/// A process that [undoes](linux::routing::undo_at_end) the study's changes when this process ends, for whatever
/// reason, or when the keeper is dropped.
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts the process. The process holds the lock, too: while it is at work, no other study can begin.
    pub fn start(undo: &Init, lock: File) -> io::Result<Keeper> {
        let mut command = Command::new(&undo.program);
        command.args(&undo.arguments);
        command.stdin(Stdio::piped()).stdout(lock);
        command.spawn().map(Keeper)
    }

    /// Whether the process is running.
    pub fn is_there(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
