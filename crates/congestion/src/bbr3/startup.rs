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
        let is_too_much = if self.has_selective_acks {
            self.loss_round.has_just_started()
                && self.has_recovered_for_a_round(ack)
                && self.startup_losses.stretches >= FULL_PIPE_LOSS_RUNS
                && self.is_inflight_too_high(ack.rate.lost_since_send, ack.rate.inflight_at_send)
        } else {
            // "If any packet loss is detected during fast recovery"; the loss that begins it is one.
            self.fast_recovery_since.is_some() && self.startup_losses.stretches > 0
        };
        if is_too_much {
            self.undo.note_end_of(Return::Startup);
            self.set_pipe_full();
        }
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

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::bbr3::Config;
    use crate::controller::{Cause, Connection, Controller, Recovery};
    use crate::sampling::{Outstanding, RateSample, Sampler};

    const MSS: Bytes = Bytes::new(1_000);

    /// A Startup after one lost packet of a hundred, which a recovery or a timeout follows, and an ACK.
    fn after_one_loss(has_selective_acks: bool, follow: impl Fn(&mut Bbr3)) -> Bbr3 {
        let mut connection = Connection::new(Time::ZERO, MSS, MSS * 100);
        connection.has_selective_acks = has_selective_acks;
        let mut bbr3 = Bbr3::new(connection, Config::default());
        let mut sampler = Sampler::new(Time::ZERO);
        let mut packet = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Nothing);
        packet.inflight = MSS * 100;
        sampler.on_packet_lost(&packet);
        bbr3.on_packet_lost(&Lost::new(Time::ZERO, packet, MSS * 99, &sampler));
        follow(&mut bbr3);
        let rate = RateSample {
            total_delivered: MSS,
            ..RateSample::default()
        };
        bbr3.on_ack(&Ack::new(Time::ZERO, MSS, MSS * 99, MSS * 98, rate));
        bbr3
    }

    #[test]
    fn one_loss_of_a_fast_recovery_ends_startup_without_selective_acks() {
        let recover = |bbr3: &mut Bbr3| {
            bbr3.on_recovery(Time::ZERO, Recovery::Entered(Cause::Loss), MSS * 99);
        };
        let time_out = |bbr3: &mut Bbr3| bbr3.on_timeout(Time::ZERO, Bytes::ZERO);
        assert!(after_one_loss(false, recover).full_pipe.is_reached());
        assert!(!after_one_loss(true, recover).full_pipe.is_reached());
        assert!(!after_one_loss(false, time_out).full_pipe.is_reached());
    }
}
