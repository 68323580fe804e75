//! TCP's round-trip time: smoothed, with its variation, and the minimum.

use congestion::rtt::RttEstimator;
use congestion::{Duration, Time};

/// The time after which the minimum round-trip time expires (Linux `tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// RFC 6298's estimator, and the minimum round-trip time (RFC 8985, `RACK.min_RTT`).
#[derive(Debug, Clone, Default)]
pub struct Rtt {
    estimator: RttEstimator,
    min: Option<(Time, Duration)>,
}

impl Rtt {
    /// Updates from an ACK at `now` with the round-trip times of the newest and the oldest packet that it
    /// acknowledges: the minimum from the newest, the estimator from the oldest.
    #[inline]
    pub fn update(&mut self, now: Time, newest: Duration, oldest: Duration) {
        let is_least =
            |(since, least): (Time, Duration)| newest <= least || now.since(since) > MIN_RTT_WINDOW;
        if self.min.is_none_or(is_least) {
            self.min = Some((now, newest));
        }
        self.estimator.update(oldest);
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    #[inline]
    pub fn smoothed(&self) -> Option<Duration> {
        self.estimator.smoothed()
    }

    /// Four times the mean deviation.
    #[inline]
    pub fn margin(&self) -> Duration {
        self.estimator.margin()
    }

    /// The minimum round-trip time; zero before the first measurement.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min.map_or(Duration::ZERO, |(_, least)| least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = Rtt::default();
        assert_eq!((rtt.smoothed(), rtt.min()), (None, Duration::ZERO));
        rtt.update(Time::ZERO, ms(800), ms(800));
        assert_eq!((rtt.smoothed(), rtt.margin()), (Some(ms(800)), ms(1_600)));
        rtt.update(Time::ZERO, ms(1_600), ms(1_600));
        assert_eq!((rtt.smoothed(), rtt.margin()), (Some(ms(900)), ms(2_000)));
        assert_eq!(rtt.min(), ms(800));
    }

    #[test]
    fn the_least_is_forgotten_in_time() {
        let mut rtt = Rtt::default();
        rtt.update(Time::ZERO, ms(10), ms(10));
        rtt.update(Time::ZERO + MIN_RTT_WINDOW, ms(20), ms(20));
        assert_eq!(rtt.min(), ms(10));
        rtt.update(Time::ZERO + MIN_RTT_WINDOW + ms(1), ms(20), ms(20));
        assert_eq!(rtt.min(), ms(20));
    }
}
