//! ProbeRTT: keeps less in flight for a moment, to measure the least RTT without the queue of this and other flows (BBR
//! draft, "ProbeRTT").

use units::{Duration, Ratio, Time};

use super::probe_bw::AckPhase;
use super::{Bbr3, State};
use crate::bbr::probe_rtt::Stay;
use crate::controller::Ack;

/// The duration with little in flight (`BBR.ProbeRTTDuration`).
const DURATION: Duration = Duration::from_millis(200);

pub const PACING_GAIN: Ratio = Ratio::ONE;
/// Half a BDP, so that ProbeRTT every five seconds costs no more than about 2 % (`BBR.ProbeRTTCwndGain`).
pub const CWND_GAIN: Ratio = Ratio::new(1, 2);

impl Bbr3 {
    /// `CheckProbeRTT` ("ProbeRTT Logic").
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        let is_in = matches!(self.state, State::ProbeRtt(_));
        if !is_in && self.min_rtt.is_expired() && !self.is_restarting_from_idle {
            // The state changes first, so `SaveCwnd` keeps a greater window of before (see `docs/bbr3.md`).
            self.state = State::ProbeRtt(Stay::Draining);
            self.save_cwnd();
            self.ack_phase = AckPhase::ProbeStopping;
            self.round.restart(self.delivered);
            self.slow_stretch.begin(self.delivered);
        }
        self.stay_in_probe_rtt(ack);
        if !ack.rate.delivered.is_zero() {
            self.is_restarting_from_idle = false;
        }
    }

    /// `HandleProbeRTT`.
    fn stay_in_probe_rtt(&mut self, ack: &Ack) {
        let most = self.probe_rtt_cwnd();
        let State::ProbeRtt(stay) = &mut self.state else {
            return;
        };
        self.slow_stretch.extend(self.delivered, ack.inflight);
        let (is_low, end) = (ack.inflight <= most, ack.now + DURATION);
        if stay.on_ack(is_low, end, &mut self.round, self.delivered) {
            self.check_probe_rtt_done(ack.now);
        }
    }

    /// `CheckProbeRTTDone`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if matches!(&self.state, State::ProbeRtt(stay) if stay.is_time_over(now)) {
            self.min_rtt.mark_probed(now);
            self.control.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// `ExitProbeRTT` ("Exiting ProbeRTT").
    fn exit_probe_rtt(&mut self, now: Time) {
        self.short_term.reset();
        if self.full_pipe.is_reached() {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
