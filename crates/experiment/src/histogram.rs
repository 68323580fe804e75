//! The distribution of logarithms in bounded memory.

use std::collections::BTreeMap;

/// The width of a class. Percentiles are accurate to half of it.
const WIDTH: f64 = 0.01;

/// The minimum number of values for a percentile: the 5th percentile then has five values below it.
const MIN_VALUES: u64 = 100;

/// The number of values in each class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    classes: BTreeMap<i64, u64>,
    all: u64,
}

impl Histogram {
    pub fn add(&mut self, logarithm: f64) {
        let class = (logarithm / WIDTH).floor();
        #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
        let class = class as i64;
        *self.classes.entry(class).or_default() += 1;
        self.all += 1;
    }

    /// The logarithm of a percentile. `None` with too few values.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        if self.all < MIN_VALUES {
            return None;
        }
        let rank = (self.all as f64 * share).ceil().max(1.0);
        let mut seen = 0;
        let class = self.classes.iter().find(|(_, count)| {
            seen += **count;
            seen as f64 >= rank
        });
        class.map(|(class, _)| (*class as f64 + 0.5) * WIDTH)
    }

    /// Adds the values of another one.
    pub fn merge(&mut self, other: Histogram) {
        for (class, count) in other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        self.all += other.all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_does_not_grow_with_what_is_added() {
        let mut histogram = Histogram::default();
        for number in 1..100_000 {
            histogram.add(f64::from(number % 9000 + 1).ln());
        }
        assert!(histogram.classes.len() < 1500);
    }

    #[test]
    fn two_that_are_merged_are_one_of_all_values() {
        let of = |values: std::ops::Range<u32>| {
            let mut histogram = Histogram::default();
            values.for_each(|value| histogram.add(f64::from(value)));
            histogram
        };
        let mut merged = of(0..60);
        assert_eq!(merged.percentile(0.5), None);
        merged.merge(of(60..200));
        assert_eq!(merged.percentile(0.05), of(0..200).percentile(0.05));
        assert!((merged.percentile(0.5).unwrap() - 99.0).abs() < WIDTH);
    }
}
