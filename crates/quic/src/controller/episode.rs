//! Recoveries: when one starts, and when it is over.
//!
//! RFC 9002 ("Recovery") has one start for losses and marks: within a recovery, whatever its cause, there is no second
//! reduction. A controller that minds losses only still has to hear of one in a recovery that a mark began
//! ([`congestion::Recovery::Entered`]), so losses have a start of their own beside it.

use congestion::Cause;

/// What a loss or a mark starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A recovery.
    Recovery,
    /// The losses of a recovery that a mark began.
    Losses,
}

/// The recovery, or the time after a timeout: the last one, or the one that is going on. Packets are named by the order of
/// sending.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Episode {
    /// The newest packet sent when it started.
    start: Option<u64>,
    /// The newest packet sent when its first loss was found, or that of an earlier one.
    losses: Option<u64>,
    is_on: bool,
    /// It can still turn out to have been unnecessary. A mark never does.
    is_undoable: bool,
}

impl Episode {
    /// What the loss of this packet starts.
    pub(super) fn lost(&self, packet: u64) -> Option<Start> {
        if Some(packet) > self.start {
            Some(Start::Recovery)
        } else {
            (Some(packet) > self.losses).then_some(Start::Losses)
        }
    }

    /// What the mark of this packet starts.
    pub(super) fn marked(&self, packet: u64) -> Option<Start> {
        (Some(packet) > self.start).then_some(Start::Recovery)
    }

    /// It starts with `cause`: what has been sent by now, `newest` at last, belongs to before.
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

    /// True if the ACK of this packet ends it: it left after the start, and after the losses became known.
    pub(super) fn is_over(&self, packet: u64) -> bool {
        Some(packet) > self.start.max(self.losses)
    }

    /// Ends it; whether it was going on.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.is_on)
    }

    /// Takes it back; whether that could be done.
    pub(super) fn undo(&mut self) -> bool {
        let is_undoable = std::mem::take(&mut self.is_undoable);
        self.is_on &= !is_undoable;
        is_undoable
    }
}
