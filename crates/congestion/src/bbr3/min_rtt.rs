//! The least RTT, on two clocks (BBR draft, "ProbeRTT Logic", `UpdateMinRTT`). The estimate lasts ten seconds, and
//! ProbeRTT searches after five. So an estimate found by ProbeRTT still holds at the next one.
//!
//! With [`Config::bbr1_min_rtt`](super::Config::bbr1_min_rtt) there is one clock of ten seconds, as in BBRv1.

use units::{Duration, Time};

use crate::bbr::least_rtt::LeastRtt;
use crate::controller::RttSample;

/// The time for which the estimate is remembered (`BBR.MinRTTFilterLen`).
const WINDOW: Duration = Duration::from_secs(10);
/// The time without a lower RTT after which ProbeRTT searches for one (`BBR.ProbeRTTInterval`).
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct MinRtt {
    /// Whether the RTT that ProbeRTT renews is also the estimate.
    has_one_clock: bool,
    /// `BBR.min_rtt`; `None` before the first RTT.
    least: Option<Duration>,
    least_at: Time,
    /// `BBR.probe_rtt_min_delay` and `BBR.probe_rtt_expired`.
    recent: LeastRtt,
}

impl MinRtt {
    pub fn new(now: Time, has_one_clock: bool) -> MinRtt {
        let interval = if has_one_clock {
            WINDOW
        } else {
            PROBE_INTERVAL
        };
        MinRtt {
            has_one_clock,
            least: None,
            least_at: now,
            recent: LeastRtt::new(now, interval),
        }
    }

    /// Takes the RTT that is known before the first ACK (`OnInit`: `C.srtt`). It does not set ProbeRTT's clock, unless that
    /// is the only one.
    pub fn start(&mut self, now: Time, srtt: Duration) {
        if self.least.is_none() {
            self.least = Some(srtt);
            self.least_at = now;
            if self.has_one_clock {
                self.recent.update(now, Some(RttSample::exact(srtt)));
            }
        }
    }

    /// `UpdateMinRTT`. The draft takes any RTT, that of a delayed ACK too. BBRv1 does not replace an old estimate by that.
    pub fn update(&mut self, now: Time, sample: Option<RttSample>) {
        if self.has_one_clock {
            self.recent.update(now, sample);
            self.least = self.recent.get();
            return;
        }
        let sample = sample.map(|sample| RttSample::exact(sample.rtt));
        self.recent.update(now, sample);
        let Some(recent) = self.recent.get() else {
            return;
        };
        let is_too_old = now > self.least_at + WINDOW;
        if is_too_old || self.least.is_none_or(|least| recent < least) {
            self.least = Some(recent);
            self.least_at = self.recent.last_seen();
        }
    }

    /// Notes the end of ProbeRTT. The next one is an interval from now.
    pub fn mark_probed(&mut self, now: Time) {
        self.recent.mark_seen(now);
    }

    /// Whether, before this ACK, no lower RTT was seen for the interval.
    pub fn is_expired(&self) -> bool {
        self.recent.is_expired()
    }

    pub fn get(&self) -> Option<Duration> {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt(ms: u64) -> Option<RttSample> {
        Some(RttSample::exact(Duration::from_millis(ms)))
    }

    fn two_clocks() -> MinRtt {
        MinRtt::new(at(0), false)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_estimate_outlives_the_interval_of_probes() {
        let mut min_rtt = two_clocks();
        min_rtt.update(at(40), rtt(40));
        min_rtt.update(at(5_040), rtt(60));
        assert!(!min_rtt.is_expired());
        min_rtt.update(at(5_041), rtt(60));
        assert!(min_rtt.is_expired());
        assert_eq!(min_rtt.get(), Some(Duration::from_millis(40)));
        // Lower than the 60 ms of this interval, but not than the estimate.
        min_rtt.update(at(6_000), rtt(50));
        assert!(!min_rtt.is_expired());
        min_rtt.update(at(10_041), rtt(55));
        assert_eq!(min_rtt.get(), Some(Duration::from_millis(50)));
    }

    #[test]
    fn the_first_ack_sets_the_clock_of_probe_rtt_though_the_handshake_was_shorter() {
        let mut min_rtt = two_clocks();
        min_rtt.start(at(40), Duration::from_millis(40));
        min_rtt.start(at(41), Duration::from_millis(30));
        assert_eq!(min_rtt.get(), Some(Duration::from_millis(40)));
        min_rtt.update(at(1_000), rtt(50));
        assert_eq!(min_rtt.get(), Some(Duration::from_millis(40)));
        min_rtt.update(at(6_000), rtt(50));
        assert!(!min_rtt.is_expired());
        min_rtt.update(at(6_001), rtt(50));
        assert!(min_rtt.is_expired());
    }

    #[test]
    fn a_delayed_ack_replaces_what_is_too_old() {
        let mut min_rtt = two_clocks();
        min_rtt.update(at(40), rtt(40));
        let delayed = RttSample {
            rtt: Duration::from_millis(80),
            is_ack_delayed: true,
        };
        min_rtt.update(at(10_041), Some(delayed));
        assert_eq!(min_rtt.get(), Some(delayed.rtt));
    }

    #[test]
    fn an_equal_rtt_does_not_put_off_probe_rtt() {
        let mut min_rtt = two_clocks();
        min_rtt.update(at(40), rtt(40));
        min_rtt.update(at(3_000), rtt(40));
        min_rtt.update(at(5_041), rtt(40));
        assert!(min_rtt.is_expired());
    }

    #[test]
    fn with_one_clock_the_estimate_ends_when_probe_rtt_is_due() {
        for (has_one_clock, due, estimate) in [(false, 5_041, 40), (true, 10_041, 60)] {
            let mut min_rtt = MinRtt::new(at(0), has_one_clock);
            min_rtt.start(at(40), Duration::from_millis(40));
            min_rtt.update(at(40), rtt(40));
            min_rtt.update(at(due - 1), rtt(60));
            assert!(!min_rtt.is_expired());
            assert_eq!(min_rtt.get(), Some(Duration::from_millis(40)));
            min_rtt.update(at(due), rtt(60));
            assert!(min_rtt.is_expired());
            assert_eq!(min_rtt.get(), Some(Duration::from_millis(estimate)));
        }
    }

    #[test]
    fn with_one_clock_the_handshake_sets_it() {
        let mut min_rtt = MinRtt::new(at(0), true);
        min_rtt.start(at(40), Duration::from_millis(40));
        min_rtt.update(at(1_000), rtt(50));
        min_rtt.update(at(10_040), rtt(50));
        assert!(!min_rtt.is_expired());
        min_rtt.update(at(10_041), rtt(50));
        assert!(min_rtt.is_expired());
    }

    #[test]
    fn with_one_clock_a_delayed_ack_does_not_replace_what_is_too_old() {
        let mut min_rtt = MinRtt::new(at(0), true);
        min_rtt.update(at(40), rtt(40));
        let delayed = RttSample {
            rtt: Duration::from_millis(80),
            is_ack_delayed: true,
        };
        min_rtt.update(at(10_041), Some(delayed));
        assert!(min_rtt.is_expired());
        assert_eq!(min_rtt.get(), Some(Duration::from_millis(40)));
    }
}
