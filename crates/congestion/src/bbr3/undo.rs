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

/// The model before losses (`BBR.undo_*`).
#[derive(Debug, Clone, Copy)]
struct Before {
    state: Option<Return>,
    short_term: ShortTerm,
    inflight_long_term: Option<Bytes>,
}

/// The model to restore after a spurious recovery.
#[derive(Debug, Clone, Copy)]
pub struct Undo {
    saved: Before,
    /// What entering a recovery saves, if the latest losses begin one, and the time of these losses. The draft does not
    /// say which comes first. Here the recovery does: otherwise no loss that ends a probe could be undone, as the
    /// draft's test cases want it. A transport reports the recovery after the losses that begin it.
    at_entry: Before,
    losses_at: Option<Time>,
}

impl Undo {
    /// `OnInit`.
    pub fn new() -> Undo {
        let nothing = Before {
            state: None,
            short_term: ShortTerm {
                bw: Some(Rate::ZERO),
                inflight: Some(Bytes::ZERO),
            },
            inflight_long_term: Some(Bytes::ZERO),
        };
        Undo {
            saved: nothing,
            at_entry: nothing,
            losses_at: None,
        }
    }

    /// Notes that the losses in progress end `state`.
    pub fn note_end_of(&mut self, state: Return) {
        self.saved.state = Some(state);
        self.at_entry.state = Some(state);
    }
}

impl Bbr3 {
    /// `SaveStateUponLoss`, at the first loss of a round.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo.at_entry = self.before_losses();
        self.undo.saved = self.undo.at_entry;
    }

    /// Keeps the model before the first of the losses that are found `now`.
    pub(super) fn note_losses(&mut self, now: Time) {
        if self.undo.losses_at != Some(now) {
            self.undo.losses_at = Some(now);
            self.undo.at_entry = self.before_losses();
        }
    }

    /// `SaveCwnd` and `SaveStateUponLoss` of `OnEnterFastRecovery` and `OnEnterRTO`, with the losses that are found
    /// `now`.
    pub(super) fn begin_recovery(&mut self, now: Time) {
        self.save_cwnd();
        self.note_losses(now);
        self.undo.saved = self.undo.at_entry;
        self.is_recovering = true;
    }

    fn before_losses(&self) -> Before {
        Before {
            state: None,
            short_term: self.short_term,
            inflight_long_term: self.inflight_long_term,
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self) {
        self.control.restore_cwnd();
        self.loss_round.is_lossy = false;
        self.full_pipe.restart(Rate::ZERO);
        let before = self.undo.saved;
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
        self.undo.saved.state = None;
    }
}

/// The greater of two bounds, where `None` is infinite.
fn greater<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    Some(a?.max(b?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr3::Config;
    use crate::controller::{Cause, Connection, Controller, Lost, Recovery};
    use crate::sampling::{Outstanding, Sampler};

    const MSS: Bytes = Bytes::new(1_000);

    /// A probe, in a round with a loss, which so many further losses end at once. They begin a recovery, and all of it
    /// was spurious.
    fn probe_undone_after(losses: usize) -> Bbr3 {
        let connection = Connection::new(Time::ZERO, MSS, MSS * 10);
        let mut bbr3 = Bbr3::new(connection, Config::default());
        bbr3.full_pipe.set_reached();
        bbr3.state = State::Up;
        bbr3.is_probe_sample = true;
        bbr3.loss_round.is_lossy = true;
        let mut sampler = Sampler::new(Time::ZERO);
        for _ in 0..losses {
            let packet = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Nothing);
            sampler.on_packet_lost(&packet);
            bbr3.on_packet_lost(&Lost::new(Time::ZERO, packet, Bytes::ZERO, &sampler));
        }
        assert!(matches!(bbr3.state, State::Down));
        assert!(bbr3.inflight_long_term.is_some());
        let entered = Recovery::Entered(Cause::Loss);
        bbr3.on_recovery(Time::ZERO, entered, Bytes::ZERO);
        bbr3.on_recovery(Time::ZERO, Recovery::Undone, Bytes::ZERO);
        bbr3
    }

    #[test]
    fn a_recovery_saves_what_was_before_the_losses_that_begin_it() {
        let bbr3 = probe_undone_after(1);
        assert!(matches!(bbr3.state, State::Refill));
        assert_eq!(bbr3.inflight_long_term, None);
    }

    #[test]
    fn the_loss_after_the_one_that_ends_a_probe_saves_what_that_one_has_left() {
        let bbr3 = probe_undone_after(2);
        assert!(matches!(bbr3.state, State::Down));
        assert!(bbr3.inflight_long_term.is_some());
    }
}
