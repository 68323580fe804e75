//! The smoothed round-trip time (RFC 6298).

use units::Duration;

/// RFC 6298's estimator: an exponentially weighted mean of the round-trip times and of their deviation.
#[derive(Debug, Clone, Copy, Default)]
pub struct RttEstimator {
    smoothed: Option<Duration>,
    variation: Duration,
}

/// The retransmission timeout before the first measurement (RFC 6298, section 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// The least margin of a timeout beyond the smoothed time (Linux `tcp_rto_min`). RFC 6298 has a second as the least
/// timeout (section 2.4).
const MIN_MARGIN: Duration = Duration::from_millis(200);

impl RttEstimator {
    /// Takes a measurement, with RFC 6298's weights: 1/8 for the mean, 1/4 for the deviation.
    pub fn update(&mut self, rtt: Duration) {
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(rtt);
            self.variation = rtt / 2;
            return;
        };
        let deviation = rtt
            .saturating_sub(smoothed)
            .max(smoothed.saturating_sub(rtt));
        self.variation = mean(self.variation, deviation, 2);
        self.smoothed = Some(mean(smoothed, rtt, 3));
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The margin of a timeout beyond the smoothed time: four mean deviations.
    pub fn margin(&self) -> Duration {
        self.variation * 4
    }

    /// The retransmission timeout without backoff (RFC 6298, section 2, with Linux's least margin).
    pub fn rto(&self) -> Duration {
        self.smoothed.map_or(INITIAL_RTO, |smoothed| {
            smoothed + self.margin().max(MIN_MARGIN)
        })
    }
}

/// The mean of `old` and `new`, in which `new` weighs 1/2^`shift`.
fn mean(old: Duration, new: Duration, shift: u32) -> Duration {
    let (old, new) = (old.as_nanos(), new.as_nanos());
    Duration::from_nanos(old - (old >> shift) + (new >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.smoothed(), None);
        assert_eq!(rtt.rto(), INITIAL_RTO);
        rtt.update(Duration::from_millis(800));
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(800)));
        assert_eq!(rtt.rto(), Duration::from_millis(800 + 4 * 400));
        rtt.update(Duration::from_millis(1600));
        // 7/8 × 800 + 1/8 × 1600, and 3/4 × 400 + 1/4 × 800.
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(900)));
        assert_eq!(rtt.rto(), Duration::from_millis(900 + 4 * 500));
    }

    #[test]
    fn settles_on_a_constant_and_survives_extremes() {
        let mut rtt = RttEstimator::default();
        rtt.update(Duration::MAX);
        rtt.update(Duration::MAX);
        assert_eq!(rtt.rto(), Duration::MAX);
        for _ in 0..1000 {
            rtt.update(Duration::from_millis(40));
        }
        let smoothed = rtt.smoothed().unwrap();
        assert!(smoothed.saturating_sub(Duration::from_millis(40)) < Duration::from_micros(1));
        assert_eq!(rtt.rto(), smoothed + MIN_MARGIN);
    }
}
