//! ProbeRTT: has less in flight for a moment, to see the least RTT without the queue that this or other flows keep (BBR draft,
//! "ProbeRTT").

use units::{Duration, Ratio, Time};

use super::probe_bw::AckPhase;
use super::{Bbr3, State};
use crate::controller::Ack;

/// How long (`BBR.ProbeRTTDuration`).
const DURATION: Duration = Duration::from_millis(200);

pub const PACING_GAIN: Ratio = Ratio::ONE;
/// Half a BDP, so that a flow that does it every five seconds loses no more than about 2 % (`BBR.ProbeRTTCwndGain`).
pub const CWND_GAIN: Ratio = Ratio::new(1, 2);

/// How far ProbeRTT has got.
#[derive(Debug, Clone)]
pub enum ProbeRtt {
    /// More is still in flight.
    Draining,
    /// Until that time, and until a round has passed.
    Until { end: Time, has_round_passed: bool },
}

impl Bbr3 {
    /// `CheckProbeRTT` ("ProbeRTT Logic").
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        let is_in = matches!(self.state, State::ProbeRtt(_));
        if !is_in && self.min_rtt.is_expired() && !self.is_restarting_from_idle {
            self.save_cwnd();
            self.state = State::ProbeRtt(ProbeRtt::Draining);
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
        let State::ProbeRtt(probe) = &mut self.state else {
            return;
        };
        self.slow_stretch.extend(self.delivered, ack.inflight);
        match probe {
            ProbeRtt::Draining if ack.inflight <= most => {
                *probe = ProbeRtt::Until {
                    end: ack.now + DURATION,
                    has_round_passed: false,
                };
                self.round.restart(self.delivered);
            }
            ProbeRtt::Draining => {}
            ProbeRtt::Until {
                has_round_passed, ..
            } => {
                *has_round_passed |= self.round.has_just_started();
                if *has_round_passed {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
    }

    /// `CheckProbeRTTDone`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if let State::ProbeRtt(ProbeRtt::Until { end, .. }) = self.state
            && now > end
        {
            self.min_rtt.mark_probed(now);
            self.restore_cwnd();
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
