//! The memory that the scenarios of all runs take, which are planned before the first one runs.

use document::DocumentError;

/// The most objects and flows of background traffic in all runs. Each takes some 600 bytes. A shared link with the most
/// connections of one run fits.
const MAX_FLOWS: u64 = 2_500_000;

/// The most changes of paths in all runs. Each has some 100 bytes.
const MAX_CHANGES: u64 = 4_000_000;

/// What there is still room for.
#[derive(Debug)]
pub(crate) struct Room {
    flows: u64,
    changes: u64,
}

impl Room {
    /// The room for the runs of all draws.
    pub fn new() -> Room {
        Room {
            flows: MAX_FLOWS,
            changes: MAX_CHANGES,
        }
    }

    /// Takes the room for one of these flows in each of `runs`.
    pub fn flow(&mut self, runs: u64) -> Result<(), DocumentError> {
        match self.flows.checked_sub(runs) {
            Some(left) => self.flows = left,
            None => {
                let reason = format!(
                    "more than {MAX_FLOWS} objects and flows in all runs of all lines; give longer intervals, or fewer lines"
                );
                return Err(DocumentError::new("traffic", reason));
            }
        }
        Ok(())
    }

    /// Takes the room for these changes of a path in each of `runs`.
    pub fn changes(&mut self, count: u64, runs: u64) -> Result<(), DocumentError> {
        match self.changes.checked_sub(count.saturating_mul(runs)) {
            Some(left) => self.changes = left,
            None => {
                let reason = format!(
                    "more than {MAX_CHANGES} changes in all runs of all lines; give longer times between them, or fewer lines"
                );
                return Err(DocumentError::new("swing.every", reason));
            }
        }
        Ok(())
    }
}
