//! Changes of completion times by size, from the fastest to the slowest. Memory is bounded, so there are no intervals.

use serde::Serialize;

use crate::histogram::Histogram;
use crate::measure::Measure;
use crate::observation::Observation;

/// The percentiles of time that are compared, from fast to slow.
pub const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The measures of time, from small to large. For large objects, the time is per byte.
pub const SIZES: [Measure; 5] = [
    Measure::Time10k,
    Measure::Time100k,
    Measure::Time1m,
    Measure::Time3m,
    Measure::Throughput,
];

/// Completion times by arm and size.
#[derive(Debug, Clone)]
pub struct Heat {
    arms: Vec<[Histogram; SIZES.len()]>,
}

/// The changes of the times of a size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatRow {
    /// The size, given by its measure.
    pub measure: Measure,
    /// The relative change against the first arm at each of [`SHARES`]. `None` with too few times.
    pub changes: [Option<f64>; SHARES.len()],
}

impl Heat {
    /// An empty table for this many arms.
    pub fn new(arms: usize) -> Heat {
        Heat {
            arms: vec![Default::default(); arms],
        }
    }

    /// Adds an observation.
    pub fn add(&mut self, of: &Observation) {
        let Some(sizes) = self.arms.get_mut(of.arm) else {
            return;
        };
        for (measure, times) in SIZES.iter().zip(sizes) {
            if let Some(sample) = measure.sample(of) {
                let is_rate = *measure == Measure::Throughput;
                times.add(if is_rate { -sample.value } else { sample.value });
            }
        }
    }

    /// The changes of an arm's times against the first arm's.
    pub fn rows(&self, arm: usize) -> Vec<HeatRow> {
        let (Some(first), Some(this)) = (self.arms.first(), self.arms.get(arm)) else {
            return Vec::new();
        };
        let row = |(measure, (first, this)): (&Measure, (&Histogram, &Histogram))| HeatRow {
            measure: *measure,
            changes: SHARES.map(|share| {
                let log = this.percentile(share)? - first.percentile(share)?;
                Some(log.exp_m1())
            }),
        };
        SIZES.iter().zip(first.iter().zip(this)).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::observation::Scope;

    fn of(arm: usize, bytes: u64, millis: u64) -> Observation {
        Observation {
            scope: Scope::Object,
            unit: 0,
            arm,
            acknowledged: bytes,
            busy: Duration::from_millis(millis),
            packets: 0,
            resent: 0,
            rtt: None,
            groups: Vec::new(),
        }
    }

    #[test]
    fn a_slow_end_that_is_faster_shows_where_it_is() {
        let mut heat = Heat::new(2);
        for number in 1..=1000 {
            heat.add(&of(0, 50_000, number));
            // The slower half takes a fifth less time.
            let millis = if number > 500 { number * 4 / 5 } else { number };
            heat.add(&of(1, 50_000, millis));
            // Twice as fast.
            heat.add(&of(0, 4_000_000, 2 * number));
            heat.add(&of(1, 4_000_000, number));
        }
        let rows = heat.rows(1);
        let near = |row: &HeatRow, truth: [f64; 5]| {
            for (found, truth) in row.changes.iter().zip(truth) {
                assert!((found.unwrap() - truth).abs() < 0.02, "{row:?}");
            }
        };
        assert_eq!(rows[0].changes, [None; 5]);
        near(&rows[1], [0.0, 0.0, -0.1, -0.2, -0.2]);
        near(&rows[4], [-0.5; 5]);
    }
}
