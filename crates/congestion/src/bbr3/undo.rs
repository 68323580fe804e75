//! What losses did, to be undone if there were none (BBR draft, "Updating the Model Upon Detecting a Spurious Loss Recovery").

use units::{Bytes, Rate, Time};

use super::short_term::ShortTerm;
use super::{Bbr3, State};

/// The state that losses ended (`BBR.undo_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    Startup,
    Up,
}

/// The model before a recovery.
#[derive(Debug, Clone, Copy, Default)]
pub struct Undo {
    pub state: Option<Return>,
    short_term: ShortTerm,
    inflight_long_term: Option<Bytes>,
    saved_at: Option<Time>,
}

impl Bbr3 {
    /// `SaveStateUponLoss`, once a recovery: when its first loss is noted, or when the transport tells of it.
    ///
    /// In the draft's pseudocode it is saved again at the first loss of each round, and when the transport enters recovery,
    /// after those losses. What these losses did would then be taken for the state before them, and no probe that they ended
    /// could go on. The draft's words are "when a loss recovery episode starts".
    pub(super) fn save_state_upon_loss(&mut self, now: Time) {
        if self.is_recovering || self.undo.saved_at == Some(now) {
            return;
        }
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            short_term: self.short_term,
            inflight_long_term: self.inflight_long_term,
            saved_at: Some(now),
        };
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self) {
        self.control.restore_cwnd();
        self.loss_round.is_lossy = false;
        self.full_pipe.restart(Rate::ZERO);
        let before = self.undo;
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
        self.undo.state = None;
    }
}

/// The greater of two bounds, of which `None` is the greatest.
fn greater<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    Some(a?.max(b?))
}
