//! The undoing of spurious losses (BBR draft, "Updating the Model Upon Detecting a Spurious Loss Recovery").

use units::{Bytes, Rate, Time};

use super::short_term::ShortTerm;
use super::{Bbr3, State};

/// The state that losses ended (`BBR.undo_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    Startup,
    Up,
}

/// The model before losses.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    state: Option<Return>,
    short_term: ShortTerm,
    inflight_long_term: Option<Bytes>,
}

/// The model to restore after a spurious recovery.
#[derive(Debug, Clone, Copy, Default)]
pub struct Undo {
    /// The model before the first loss of the latest recovery.
    recovery: Before,
    /// The model before the first of the latest losses, and their time. The transport reports a recovery after the
    /// losses that begin it, which may occur during the previous recovery.
    losses: Before,
    losses_at: Option<Time>,
}

impl Undo {
    /// Notes that the losses in progress end `state`.
    pub fn note_end_of(&mut self, state: Return) {
        self.losses.state = Some(state);
        self.recovery.state = Some(state);
    }
}

impl Bbr3 {
    /// `SaveStateUponLoss`, in two steps: here at the first loss of an ACK or a timer.
    ///
    /// The draft's pseudocode saves it again at the first loss of each round, and when the transport enters recovery,
    /// after those losses. The saved state would then include their effects, and no probe that they ended could
    /// continue. The draft's text says "when a loss recovery episode starts".
    pub(super) fn save_state_upon_loss(&mut self, now: Time) {
        if self.undo.losses_at == Some(now) {
            return;
        }
        self.undo.losses_at = Some(now);
        self.undo.losses = Before {
            state: None,
            short_term: self.short_term,
            inflight_long_term: self.inflight_long_term,
        };
    }

    /// The second step: a recovery or a timeout begins with the losses noted `now`. An ongoing recovery keeps the state
    /// before it.
    pub(super) fn begin_recovery(&mut self, now: Time) {
        self.save_cwnd();
        self.save_state_upon_loss(now);
        if !self.is_recovering {
            self.is_recovering = true;
            self.undo.recovery = self.undo.losses;
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self) {
        self.control.restore_cwnd();
        self.loss_round.is_lossy = false;
        self.full_pipe.restart(Rate::ZERO);
        let before = self.undo.recovery;
        self.short_term = ShortTerm {
            bw: greater(self.short_term.bw, before.short_term.bw),
            inflight: greater(self.short_term.inflight, before.short_term.inflight),
        };
        self.inflight_long_term = greater(self.inflight_long_term, before.inflight_long_term);
        let is_in_probe_rtt = matches!(self.state, State::ProbeRtt(_));
        match before.state {
            Some(Return::Startup) if !matches!(self.state, State::Startup) => {
                self.full_pipe.unset_reached();
                if !is_in_probe_rtt {
                    self.enter_startup();
                }
            }
            Some(Return::Up) if !matches!(self.state, State::Up) && !is_in_probe_rtt => {
                self.start_refill();
            }
            _ => {}
        }
        self.undo.recovery.state = None;
    }
}

/// The greater of two bounds, where `None` is infinite.
fn greater<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    Some(a?.max(b?))
}
