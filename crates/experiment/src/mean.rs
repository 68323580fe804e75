//! A value of a group of observations, without an error.

use crate::measure::{Kind, Sample};

/// The sums of samples.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean {
    value: f64,
    weight: f64,
    /// The number of samples.
    pub count: u64,
}

impl Mean {
    pub fn add(&mut self, sample: Sample) {
        self.merge(Mean {
            value: sample.value,
            weight: sample.weight,
            count: 1,
        });
    }

    /// Adds the samples of another one.
    pub fn merge(&mut self, other: Mean) {
        self.value += other.value;
        self.weight += other.weight;
        self.count += other.count;
    }

    /// The geometric mean, or the share. `None` without samples.
    pub fn value(&self, kind: Kind) -> Option<f64> {
        let mean = (self.weight > 0.0).then(|| self.value / self.weight)?;
        Some(match kind {
            Kind::Logs => mean.exp(),
            Kind::Share => mean,
        })
    }
}
