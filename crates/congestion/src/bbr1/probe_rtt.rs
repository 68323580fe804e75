//! ProbeRTT: empties the pipe for a moment, to see RTprop without the queue that this or other flows keep.
//!
//! Entered when RTprop was not seen for a whole window. While few packets are in flight, the flow adds nothing to the
//! queue. Other BBR flows that see the lower RTT restart their windows then. So all flows soon enter ProbeRTT together,
//! and find the queue empty.

use units::{Ratio, Time};

use super::{Bbr1, State};
use crate::bbr::probe_rtt::Stay;
use crate::controller::Ack;

pub const PACING_GAIN: Ratio = Ratio::ONE;
pub const CWND_GAIN: Ratio = Ratio::ONE;

impl Bbr1 {
    /// Enters if RTprop was not seen for too long, and leaves after the search.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        // While the application was silent, the queue was empty anyway. The ACK that ends the silence renews RTprop.
        let is_due = self.rtprop.is_expired() && !self.is_restarting_from_idle;
        if is_due && !self.is_in_probe_rtt() {
            self.enter_probe_rtt(ack);
        }
        self.stay_in_probe_rtt(ack);
    }

    fn enter_probe_rtt(&mut self, ack: &Ack) {
        self.save_cwnd();
        self.rtprop.start_search();
        self.state = State::ProbeRtt(Stay::Draining);
        self.slow_stretch.begin(ack.rate.total_delivered);
    }

    fn stay_in_probe_rtt(&mut self, ack: &Ack) {
        let State::ProbeRtt(stay) = &mut self.state else {
            return;
        };
        let delivered = ack.rate.total_delivered;
        self.slow_stretch.extend(delivered, ack.inflight);
        let is_low = ack.inflight <= self.control.least_cwnd();
        let end = ack.now + self.config.probe_rtt_duration;
        if stay.on_ack(is_low, end, &mut self.round, delivered) {
            self.check_probe_rtt_done(ack.now);
        }
    }

    /// Leaves if the time at the least window is over.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if matches!(&self.state, State::ProbeRtt(stay) if stay.is_time_over(now)) {
            self.rtprop.mark_seen(now);
            if self.full_pipe.is_reached() {
                self.enter_probe_bw(now);
            } else {
                self.enter_startup();
            }
            self.control.restore_cwnd();
        }
    }

    pub(super) fn is_in_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }
}
