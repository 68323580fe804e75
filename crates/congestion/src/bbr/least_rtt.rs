//! The least RTT, valid for a window: BBRv1's RTprop, and BBRv3's measure of the time since ProbeRTT.

use units::{Duration, Time};

use crate::controller::RttSample;
use crate::filter::WindowedMin;

/// The remembered RTTs.
#[derive(Debug, Clone)]
enum Memory {
    /// The least of the window (paper, "Characterizing the Bottleneck"), and the least since ProbeRTT began.
    Window {
        filter: WindowedMin<Duration, Time>,
        found: Option<Duration>,
    },
    /// The least, replaced by the current RTT when it was not seen for a window (Linux `bbr_update_min_rtt`; BBR draft
    /// 00, "BBRUpdateRTprop"). This matters where other flows fill the queue: the estimate becomes as long as what
    /// ProbeRTT finds, and the resulting window is large enough to keep a share.
    Latest(Option<Duration>),
}

impl Memory {
    fn get(&self) -> Option<Duration> {
        match self {
            Memory::Window { filter, .. } => filter.get(),
            Memory::Latest(least) => *least,
        }
    }
}

/// The least RTT, and the time since it was seen.
#[derive(Debug, Clone)]
pub struct LeastRtt {
    window: Duration,
    memory: Memory,
    /// Whether an RTT of the same microsecond renews the estimate.
    does_equal_renew: bool,
    /// The time at which it was last seen: a lower RTT, the first RTT after the window expired, or the end of ProbeRTT.
    last_seen: Time,
    /// Whether, before this ACK, it was not seen for a whole window.
    is_expired: bool,
}

impl LeastRtt {
    /// Starts without an RTT. When the least RTT was not seen for `window`, the current one replaces it.
    pub fn new(now: Time, window: Duration) -> LeastRtt {
        LeastRtt {
            window,
            memory: Memory::Latest(None),
            does_equal_renew: false,
            last_seen: now,
            is_expired: false,
        }
    }

    /// As [`new`](LeastRtt::new), but the least RTT within `window` replaces it.
    pub fn of_window(now: Time, window: Duration) -> LeastRtt {
        LeastRtt {
            memory: Memory::Window {
                filter: WindowedMin::new(window),
                found: None,
            },
            ..LeastRtt::new(now, window)
        }
    }

    /// Sets whether an equal RTT renews the estimate, too. Linux counts in microseconds.
    #[must_use]
    pub fn renewed_by_equal(self, does_equal_renew: bool) -> LeastRtt {
        LeastRtt {
            does_equal_renew,
            ..self
        }
    }

    /// Takes the RTT of an ACK, if it has one.
    #[inline]
    pub fn update(&mut self, now: Time, sample: Option<RttSample>) {
        self.is_expired = now.since(self.last_seen) > self.window;
        let Some(sample) = sample else { return };
        // An equal RTT does not count. Flows that share a bottleneck can empty its queue only together, so each must
        // probe in time, even if it sees the same standing queue all the time. (The paper speaks of a lower RTT in
        // "Behavior of Multiple BBR Flows Sharing a Bottleneck"; Linux has followed it since the change "tcp: only
        // postpone PROBE_RTT if RTT is < current min_rtt estimate" of November 2020.)
        let is_seen = self.get().is_none_or(|least| {
            let is_equal = || sample.rtt.as_nanos() / 1_000 == least.as_nanos() / 1_000;
            sample.rtt < least || (self.does_equal_renew && is_equal())
        });
        // A delayed ACK may lower the estimate, but must not replace it by its own delay.
        let is_renewal = self.is_expired && !sample.is_ack_delayed;
        if is_seen || is_renewal {
            self.last_seen = now;
        }
        match &mut self.memory {
            Memory::Window { filter, found } if is_seen || !sample.is_ack_delayed => {
                filter.update(now, sample.rtt);
                *found = Some(found.map_or(sample.rtt, |least| least.min(sample.rtt)));
            }
            Memory::Latest(least) if is_seen || is_renewal => *least = Some(sample.rtt),
            _ => {}
        }
    }

    /// Begins the search of ProbeRTT.
    pub fn start_search(&mut self) {
        if let Memory::Window { found, .. } = &mut self.memory {
            *found = None;
        }
    }

    /// Ends the search of ProbeRTT: the window begins again, so that the found RTT lasts until the next search (Linux
    /// `bbr_check_probe_rtt_done`). An RTT from before ProbeRTT keeps its time, since the path may have become longer.
    pub fn mark_seen(&mut self, now: Time) {
        if let Memory::Window { filter, found } = &mut self.memory
            && let Some(least) = *found
        {
            filter.update(now, least);
        }
        self.last_seen = now;
        self.is_expired = false;
    }

    /// The time at which it was last seen, or ProbeRTT last ended.
    pub fn last_seen(&self) -> Time {
        self.last_seen
    }

    /// Whether, before this ACK, it was not seen for a whole window.
    pub fn is_expired(&self) -> bool {
        self.is_expired
    }

    /// The least RTT, once there is one.
    pub fn get(&self) -> Option<Duration> {
        self.memory.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    fn rtt(ms: u64) -> Option<RttSample> {
        Some(RttSample::exact(Duration::from_millis(ms)))
    }

    fn latest() -> LeastRtt {
        LeastRtt::new(at(0), WINDOW)
    }

    fn of_window() -> LeastRtt {
        LeastRtt::of_window(at(0), WINDOW)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn what_probe_rtt_found_lasts_until_the_next() {
        for mut least in [latest(), of_window()] {
            least.start_search();
            least.update(at(100), rtt(40));
            least.update(at(250), rtt(70));
            least.mark_seen(at(300));
            least.update(at(10_200), rtt(80));
            assert_eq!(least.get(), Some(Duration::from_millis(40)));
            assert!(!least.is_expired());
        }
    }

    #[test]
    fn what_probe_rtt_did_not_find_again_keeps_its_date() {
        let mut least = of_window();
        least.update(at(100), rtt(40));
        least.start_search();
        least.update(at(8_000), rtt(120));
        least.mark_seen(at(8_200));
        least.update(at(10_000), rtt(130));
        assert_eq!(least.get(), Some(Duration::from_millis(40)));
        least.update(at(10_200), rtt(130));
        assert_eq!(least.get(), Some(Duration::from_millis(120)));
        least.update(at(18_100), rtt(130));
        assert_eq!(least.get(), Some(Duration::from_millis(120)));
    }

    #[test]
    fn the_least_rtt_until_the_window_has_passed() {
        let mut least = latest();
        assert_eq!(least.get(), None);
        least.update(at(40), rtt(40));
        least.update(at(100), rtt(60));
        assert_eq!(least.get(), Some(Duration::from_millis(40)));
        least.update(at(10_040), rtt(50));
        assert!(!least.is_expired());
        least.update(at(10_041), rtt(50));
        assert!(least.is_expired());
        assert_eq!(least.get(), Some(Duration::from_millis(50)));
        least.update(at(10_042), rtt(50));
        assert!(
            !least.is_expired(),
            "the first RTT after the window counts as seen"
        );
    }

    #[test]
    fn what_takes_the_place_of_an_rtt_that_is_too_old() {
        // 120 ms were seen within the window, and 250 ms are seen now.
        for (mut least, next) in [(of_window(), 120), (latest(), 250)] {
            least.update(at(40), rtt(40));
            least.update(at(3_000), rtt(120));
            least.update(at(10_041), rtt(250));
            assert_eq!(least.get(), Some(Duration::from_millis(next)));
        }
    }

    #[test]
    fn its_window_is_as_long_as_it_is_told() {
        let window = Duration::from_secs(2);
        for mut least in [
            LeastRtt::new(at(0), window),
            LeastRtt::of_window(at(0), window),
        ] {
            least.update(at(40), rtt(40));
            least.update(at(2_040), rtt(60));
            assert_eq!(least.get(), Some(Duration::from_millis(40)));
            least.update(at(2_041), rtt(60));
            assert!(least.is_expired());
            assert_eq!(least.get(), Some(Duration::from_millis(60)));
        }
    }

    #[test]
    fn an_equal_rtt_does_not_put_off_probe_rtt() {
        let mut least = latest();
        least.update(at(40), rtt(40));
        least.update(at(5_000), rtt(40));
        least.update(at(10_041), rtt(40));
        assert!(least.is_expired());
    }

    #[test]
    fn before_november_2020_an_equal_rtt_did() {
        let mut least = latest().renewed_by_equal(true);
        let micros = |us: u64| Some(RttSample::exact(Duration::from_nanos(us * 1_000 + 7)));
        least.update(at(40), rtt(40));
        least.update(at(5_000), micros(40_000));
        least.update(at(9_000), micros(40_001));
        least.update(at(15_000), rtt(50));
        assert!(!least.is_expired());
        assert_eq!(least.last_seen(), at(5_000));
        least.update(at(15_001), rtt(50));
        assert!(least.is_expired());
    }

    #[test]
    fn a_delayed_ack_lowers_but_does_not_replace() {
        let delayed = |ms| {
            Some(RttSample {
                rtt: Duration::from_millis(ms),
                is_ack_delayed: true,
            })
        };
        let mut least = latest();
        least.update(at(40), rtt(40));
        least.update(at(50), delayed(39));
        assert_eq!(least.get(), Some(Duration::from_millis(39)));
        least.update(at(20_000), delayed(80));
        assert!(least.is_expired());
        assert_eq!(least.get(), Some(Duration::from_millis(39)));
        least.update(at(20_001), rtt(50));
        assert!(least.is_expired(), "nor does it count as seen");
    }
}
