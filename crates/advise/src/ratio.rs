//! The ratio of two outcomes that were measured in pairs, and its confidence interval.

use serde::{Deserialize, Serialize};
use tables::statistics::{deviation, mean};

use super::student;

/// The probability that all intervals together contain their true values.
const CONFIDENCE: f64 = 0.95;

/// The geometric mean of ratios. Each is of two runs with the same path and seed, so common effects cancel out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The geometric mean.
    pub mean: f64,
    /// The lower end of the interval with 95 % confidence, for all comparisons together. Nothing for a single pair.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

impl Ratio {
    /// Computes the mean and the interval, by Student's t distribution of the logarithms. Several comparisons share the
    /// error probability (Bonferroni). Returns nothing without ratios.
    pub fn of(ratios: impl IntoIterator<Item = f64>, comparisons: usize) -> Option<Ratio> {
        let logs: Vec<f64> = ratios.into_iter().map(libm::log).collect();
        let centre = mean(&logs)?;
        let half = half_width(&logs, comparisons);
        Some(Ratio {
            mean: libm::exp(centre),
            low: half.map(|half| libm::exp(centre - half)),
            high: half.map(|half| libm::exp(centre + half)),
        })
    }
}

fn half_width(logs: &[f64], comparisons: usize) -> Option<f64> {
    let deviation = deviation(logs)?;
    let count = logs.len() as f64;
    let doubt = (1.0 - CONFIDENCE) / comparisons.max(1) as f64;
    let within = student::within(1.0 - doubt, logs.len() - 1);
    Some(within * deviation / count.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students_as_in_tables() {
        for (comparisons, count, t) in [
            (1, 2, 12.706),
            (5, 3, 9.925),
            (1, 12, 2.201),
            (5, 8, 3.4995),
        ] {
            let logs: Vec<f64> = (0..count).map(f64::from).collect();
            let found = half_width(&logs, comparisons).unwrap();
            let expected = t * deviation(&logs).unwrap() / f64::from(count).sqrt();
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        }
    }
}
