//! The process that removes rules and routes when the study's is gone.

use std::fs::File;
use std::io;
use std::process::{Child, Command, Stdio};

use linux::command::Init;

/// A process that [undoes](linux::routing::undo_at_end) when this one ends, however that is; or when this is dropped.
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts it. It holds the lock, too: as long as it is at work, nobody begins anew.
    pub fn start(undo: &Init, lock: File) -> io::Result<Keeper> {
        let mut command = Command::new(&undo.program);
        command.args(&undo.arguments);
        command.stdin(Stdio::piped()).stdout(lock);
        command.spawn().map(Keeper)
    }

    /// Whether it is there.
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
