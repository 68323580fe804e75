//! Startup: finds the bandwidth by doubling the sending rate every round (BBR draft, "Startup").

use units::{Bytes, Ratio};

use super::undo::Return;
use super::{Bbr3, State};
use crate::controller::{Ack, Lost};

/// 4 ln 2, the least gain at which the rate can double each round ("Startup Dynamics"; `BBR.StartupPacingGain`).
pub const PACING_GAIN: Ratio = Ratio::new(277, 100);

/// The separate runs of lost packets in a round that show a full pipe ("Exiting Startup Based on Packet Loss",
/// `BBRStartupFullLossCnt`).
const FULL_PIPE_LOSS_RUNS: u32 = 6;

/// The losses of a round in Startup.
#[derive(Debug, Clone, Copy, Default)]
pub struct StartupLosses {
    /// The number of runs of lost packets that were sent one after the other.
    stretches: u32,
    /// The latest lost packet, in the order of sending.
    latest: u64,
}

impl StartupLosses {
    pub fn note(&mut self, lost: &Lost) {
        let sequence = lost.packet.sequence;
        if self.stretches == 0 || sequence != self.latest.wrapping_add(1) {
            self.stretches = self.stretches.saturating_add(1);
        }
        self.latest = sequence;
    }
}

impl Bbr3 {
    /// `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, ack: &Ack) {
        if matches!(self.state, State::Startup) {
            self.check_startup_high_loss(ack);
            if self.full_pipe.is_reached() {
                self.enter_drain();
            }
        }
        if self.loss_round.has_just_started() {
            self.startup_losses = StartupLosses::default();
        }
    }

    /// `CheckStartupHighLoss`, which the draft gives only in words ("Exiting Startup Based on Packet Loss").
    ///
    /// The loss rate is that of the round trip of the newest packet that the ACK acknowledges.
    fn check_startup_high_loss(&mut self, ack: &Ack) {
        let is_due = self.loss_round.has_just_started() && self.has_recovered_for_a_round(ack);
        if !is_due
            || self.startup_losses.stretches < FULL_PIPE_LOSS_RUNS
            || !Bbr3::is_inflight_too_high(ack.rate.lost_since_send, ack.rate.inflight_at_send)
        {
            return;
        }
        self.undo.note_end_of(Return::Startup);
        self.set_pipe_full();
    }

    /// "The connection has been in fast recovery for at least one full packet-timed round trip": until this ACK, which
    /// may have ended it, as in QUIC.
    fn has_recovered_for_a_round(&self, ack: &Ack) -> bool {
        self.fast_recovery_since
            .is_some_and(|since| ack.rate.prior_delivered >= since)
    }

    /// Losses or marks show that the pipe is full.
    pub(super) fn set_pipe_full(&mut self) {
        self.full_pipe.set_reached();
        let bdp: Bytes = self.bdp(self.bw, Ratio::ONE);
        self.inflight_long_term = Some(bdp.max(self.latest_inflight()));
    }
}
