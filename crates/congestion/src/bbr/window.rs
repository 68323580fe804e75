//! The congestion window (BBR draft, "Congestion Window"; Linux `bbr_set_cwnd`, `bbr_save_cwnd`).

use units::{Bytes, Duration, Rate, Ratio};

use super::control::Control;
use crate::controller::Ack;

/// The least window, in packets, except right after a timeout and during packet conservation. Four keep the pipe going
/// with a receiver that acknowledges every other packet (BBR draft, `BBR.MinPipeCwnd`; Linux `bbr_cwnd_min_target`; the
/// paper has four in ProbeRTT).
const MIN_CWND_PACKETS: u64 = 4;

impl Control {
    /// The least window.
    pub fn least_cwnd(&self) -> Bytes {
        self.mss * MIN_CWND_PACKETS
    }

    /// The estimated bandwidth-delay product times `gain`. The initial window before the first RTT.
    pub fn bdp(&self, bw: Rate, rtt: Option<Duration>, gain: Ratio) -> Bytes {
        match rtt {
            Some(rtt) => gain.of_bytes(bw.bytes_in(rtt)),
            None => self.initial_cwnd,
        }
    }

    /// Raises the window towards `target` by the bytes delivered. Before the pipe `is_full`, an estimate that still
    /// grows does not cut the window. Before the initial window is delivered there is no estimate to follow.
    pub fn approach(&mut self, target: Bytes, ack: &Ack, is_full: bool) {
        if is_full {
            self.cwnd = (self.cwnd + ack.newly_acked).min(target);
        } else if self.cwnd < target || ack.rate.total_delivered < self.initial_cwnd {
            self.cwnd += ack.newly_acked;
        }
        self.cwnd = self.cwnd.max(self.least_cwnd());
    }

    /// Saves the window before a cut. If it `is_cut` already, a greater saved one stays.
    pub fn save_cwnd(&mut self, is_cut: bool) {
        self.saved_cwnd = if is_cut {
            self.cwnd.max(self.saved_cwnd)
        } else {
            self.cwnd
        };
    }

    /// Restores the saved window, if that is greater.
    pub fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.saved_cwnd);
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::bbr::pacing;
    use crate::controller::Connection;
    use crate::sampling::RateSample;

    fn control(connection: &Connection) -> Control {
        let pacing = pacing::Config {
            margin: Ratio::ZERO,
            first_margin: Ratio::ZERO,
            startup_gain: Ratio::ONE,
            fewest: 1,
        };
        Control::new(connection, pacing)
    }

    /// Draft, "cwnd Adjustment Mechanism": `C.delivered < C.InitialCwnd`.
    #[test]
    fn a_target_below_the_window_counts_once_the_initial_window_is_delivered() {
        let bytes = Bytes::new;
        let connection = Connection::new(Time::ZERO, bytes(1), bytes(10));
        let window_after = |total_delivered, is_full| {
            let mut control = control(&connection);
            let rate = RateSample {
                total_delivered,
                ..RateSample::default()
            };
            let ack = Ack::new(Time::ZERO, bytes(2), bytes(2), Bytes::ZERO, rate);
            control.approach(bytes(5), &ack, is_full);
            control.cwnd
        };
        assert_eq!(window_after(bytes(9), false), bytes(12));
        assert_eq!(window_after(bytes(10), false), bytes(10));
        assert_eq!(window_after(bytes(9), true), bytes(5));
    }

    #[test]
    fn a_window_that_is_cut_does_not_replace_a_greater_one() {
        let bytes = Bytes::new;
        let connection = Connection::new(Time::ZERO, bytes(1), bytes(10));
        let mut control = control(&connection);
        control.save_cwnd(false);
        control.cwnd = bytes(4);
        control.save_cwnd(true);
        control.restore_cwnd();
        assert_eq!(control.cwnd, bytes(10));
        control.cwnd = bytes(12);
        control.restore_cwnd();
        assert_eq!(control.cwnd, bytes(12));
        control.cwnd = bytes(6);
        control.save_cwnd(false);
        control.cwnd = bytes(4);
        control.restore_cwnd();
        assert_eq!(control.cwnd, bytes(6));
    }
}
