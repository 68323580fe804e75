//! The start and the end of recoveries.
//!
//! RFC 9002 ("Recovery") has one start for losses and marks: within a recovery, whatever its cause, there is no second
//! reduction. A controller that responds only to losses must still learn of a loss in a recovery that a mark began
//! ([`congestion::Recovery::Entered`]). So losses have their own start.

use congestion::Cause;

/// The reaction to a loss or a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A recovery starts.
    Recovery,
    /// The losses of a recovery start that a mark began.
    Losses,
}

/// The last or present recovery, or the time after a timeout. Packets are numbered by order of sending.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Episode {
    /// The newest packet sent before it started.
    start: Option<u64>,
    /// The newest packet sent before its first loss was found, or that of an earlier recovery.
    losses: Option<u64>,
    is_on: bool,
    /// True if it can still be spurious. A recovery that a mark began cannot.
    is_undoable: bool,
}

impl Episode {
    /// Returns what the loss of this packet starts.
    pub(super) fn lost(&self, packet: u64) -> Option<Start> {
        if Some(packet) > self.start {
            Some(Start::Recovery)
        } else {
            (Some(packet) > self.losses).then_some(Start::Losses)
        }
    }

    /// Returns what the mark of this packet starts.
    pub(super) fn marked(&self, packet: u64) -> Option<Start> {
        (Some(packet) > self.start).then_some(Start::Recovery)
    }

    /// Starts it with `cause`. Packets up to `newest` were sent before.
    pub(super) fn begin(&mut self, cause: Cause, start: Start, newest: u64) {
        if start == Start::Recovery {
            self.start = Some(newest);
        }
        if cause == Cause::Loss {
            self.losses = Some(newest);
        }
        self.is_on = true;
        self.is_undoable = cause == Cause::Loss;
    }

    /// True if the ACK of this packet ends it: the packet left after the start, and after the losses became known.
    pub(super) fn is_over(&self, packet: u64) -> bool {
        Some(packet) > self.start.max(self.losses)
    }

    /// Ends it. Returns true if there was one.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.is_on)
    }

    /// Undoes it. Returns true if that was possible.
    pub(super) fn undo(&mut self) -> bool {
        let is_undoable = std::mem::take(&mut self.is_undoable);
        self.is_on &= !is_undoable;
        is_undoable
    }
}
