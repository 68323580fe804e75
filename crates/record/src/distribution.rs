//! Percentiles of times, in bounded memory.

use hdrhistogram::Histogram;
use units::Duration;

/// The longest distinguishable time, in microseconds: an hour.
const MAX_MICROS: u64 = 3_600_000_000;

/// The distribution of a time, such as the RTT over all ACKs. Smallest, largest and mean are exact; percentiles are
/// good to a microsecond or three significant digits, whichever is coarser.
///
/// It takes some 45 kB for times below a second, however many there are, and 90 kB at most. A
/// [coarse](Distribution::coarse) one has two significant digits, and takes an eighth of that.
#[derive(Debug, Clone)]
pub struct Distribution {
    micros: Histogram<u32>,
    min: Duration,
    max: Duration,
    sum_nanos: u128,
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution::with_digits(3)
    }
}

impl Distribution {
    /// Creates a distribution whose percentiles are good to two significant digits, for use in large numbers.
    pub fn coarse() -> Distribution {
        Distribution::with_digits(2)
    }

    fn with_digits(digits: u8) -> Distribution {
        Distribution {
            micros: Histogram::new(digits)
                .expect("the number of digits is within the histogram's bounds"),
            min: Duration::MAX,
            max: Duration::ZERO,
            sum_nanos: 0,
        }
    }

    /// Adds one observation.
    pub fn record(&mut self, span: Duration) {
        let micros = span.as_nanos().div_ceil(1000).min(MAX_MICROS);
        let recorded = self.micros.record(micros);
        debug_assert!(recorded.is_ok(), "the histogram grows as far as the limit");
        self.min = self.min.min(span);
        self.max = self.max.max(span);
        self.sum_nanos = self.sum_nanos.saturating_add(span.as_nanos().into());
    }

    /// The number of observations.
    pub fn count(&self) -> u64 {
        self.micros.len()
    }

    /// The smallest observation, in milliseconds.
    pub fn min_ms(&self) -> Option<f64> {
        self.observed(self.min.as_millis_f64())
    }

    /// The largest observation, in milliseconds.
    pub fn max_ms(&self) -> Option<f64> {
        self.observed(self.max.as_millis_f64())
    }

    /// The mean, in milliseconds.
    pub fn mean_ms(&self) -> Option<f64> {
        self.observed(self.sum_nanos as f64 / self.micros.len() as f64 / 1e6)
    }

    /// The value that the share `quantile` of the observations does not exceed, in milliseconds.
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        let millis = self.micros.value_at_quantile(quantile) as f64 / 1e3;
        // The histogram answers with the upper end of a bucket, which may lie above the largest observation.
        self.observed(millis.clamp(
            self.min.as_millis_f64(),
            self.max.as_millis_f64().max(self.min.as_millis_f64()),
        ))
    }

    fn observed(&self, value: f64) -> Option<f64> {
        (!self.micros.is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_known_values() {
        for (mut rtts, error) in [
            (Distribution::default(), 0.001),
            (Distribution::coarse(), 0.01),
        ] {
            for millis in 1..=1000 {
                rtts.record(Duration::from_millis(millis));
            }
            assert_eq!(rtts.min_ms(), Some(1.0));
            assert_eq!(rtts.max_ms(), Some(1000.0));
            assert_eq!(rtts.mean_ms(), Some(500.5));
            for (quantile, expected) in [(0.5, 500.0), (0.95, 950.0), (1.0, 1000.0)] {
                let found = rtts.quantile_ms(quantile).unwrap();
                assert!(
                    (found / expected - 1.0).abs() < error,
                    "{found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn a_coarse_one_takes_an_eighth_of_the_room() {
        let counters = |mut rtts: Distribution| {
            rtts.record(Duration::from_millis(900));
            rtts.micros.distinct_values()
        };
        let (fine, coarse) = (Distribution::default(), Distribution::coarse());
        let (fine, coarse) = (counters(fine), counters(coarse));
        assert!(fine * 4 < 46_000, "{fine}");
        assert!(coarse * 4 < 8_000, "{coarse}");
    }

    #[test]
    fn nothing_observed_is_nothing_known() {
        let rtts = Distribution::default();
        assert_eq!(rtts.min_ms(), None);
        assert_eq!(rtts.mean_ms(), None);
        assert_eq!(rtts.quantile_ms(0.5), None);
    }

    #[test]
    fn extremes_are_counted() {
        let mut rtts = Distribution::default();
        rtts.record(Duration::ZERO);
        rtts.record(Duration::MAX);
        assert_eq!(rtts.min_ms(), Some(0.0));
        assert_eq!(rtts.quantile_ms(0.0), Some(0.0));
        assert!(rtts.quantile_ms(1.0).unwrap() >= 3_599_000.0);
    }
}
