//! ProbeRTT: empties the pipe for a moment, to see RTprop without the queue that this or other flows keep.
//!
//! Entered when RTprop has not been seen for a whole window. As long as few packets are in flight the flow adds nothing
//! to the queue, and other BBR flows that see the lower RTT have their own windows begin there: so all soon go through
//! ProbeRTT together, and find the queue empty.

use units::{Ratio, Time};

use super::{Bbr1, State};
use crate::controller::Ack;

pub const PACING_GAIN: Ratio = Ratio::ONE;
pub const CWND_GAIN: Ratio = Ratio::ONE;

/// How far ProbeRTT has got.
#[derive(Debug, Clone)]
pub struct ProbeRtt {
    stay: Stay,
}

#[derive(Debug, Clone)]
enum Stay {
    /// More than the least window is still in flight.
    Draining,
    /// It has been reached: until that time, and until a round has passed.
    Until { end: Time, has_round_passed: bool },
}

impl Bbr1 {
    /// Enters if RTprop has not been seen for too long, and leaves when it had its chance.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        // After the silence of the application the queue was empty anyway: the ACK that ends it renews RTprop.
        let is_due = self.rt_prop.is_expired() && !self.is_restarting_from_idle;
        if is_due && !self.is_in_probe_rtt() {
            self.enter_probe_rtt(ack);
        }
        self.stay_in_probe_rtt(ack);
    }

    fn enter_probe_rtt(&mut self, ack: &Ack) {
        self.save_cwnd();
        self.state = State::ProbeRtt(ProbeRtt {
            stay: Stay::Draining,
        });
        self.slow_stretch.begin(ack.rate.total_delivered);
    }

    fn stay_in_probe_rtt(&mut self, ack: &Ack) {
        let least = self.min_cwnd();
        let State::ProbeRtt(probe) = &mut self.state else {
            return;
        };
        self.slow_stretch
            .extend(ack.rate.total_delivered, ack.inflight);
        match &mut probe.stay {
            Stay::Draining if ack.inflight <= least => {
                probe.stay = Stay::Until {
                    end: ack.now + self.config.probe_rtt_duration,
                    has_round_passed: false,
                };
                self.round.restart(ack.rate.total_delivered);
            }
            Stay::Draining => {}
            Stay::Until {
                has_round_passed, ..
            } => {
                *has_round_passed |= self.round.has_just_started();
                if *has_round_passed {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
    }

    /// Leaves if the time at the least window is over. By itself this is enough after an idle period, in which nothing
    /// was in flight and no round could pass.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        let State::ProbeRtt(ProbeRtt {
            stay: Stay::Until { end, .. },
        }) = self.state
        else {
            return;
        };
        if now <= end {
            return;
        }
        self.rt_prop.mark_seen(now);
        if self.full_pipe.is_reached() {
            self.enter_probe_bw(now);
        } else {
            self.enter_startup();
        }
        self.restore_cwnd();
    }

    pub(super) fn is_in_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }
}
