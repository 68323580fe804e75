//! The proof of the statistics: the coverage of intervals in simulated studies whose truth is known.

use serde::Serialize;

use crate::effect::{DOUBT, Effect};
use crate::findings::{Gathered, Measured};
use crate::measure::Measure;
use crate::percentile::percentile;
use crate::simulated::Model;
use crate::tally::Tally;

/// The number of studies in which something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Count {
    /// The number of studies in which it happened.
    pub of: u32,
    /// The number of studies.
    pub studies: u32,
}

impl Count {
    fn note(&mut self, has_happened: bool) {
        self.of += u32::from(has_happened);
        self.studies += 1;
    }

    /// The share.
    pub fn share(self) -> f64 {
        f64::from(self.of) / f64::from(self.studies.max(1))
    }
}

/// The coverage of 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Coverage {
    /// The interval of throughput over 3 MB, for a single look.
    pub throughput: Count,
    /// The interval of its 5th percentile, for a single look.
    pub throughput_p5: Count,
    /// An interval of throughput that takes connections for independent.
    pub careless: Count,
}

/// Measures the coverage with one look at the end of each study.
pub fn coverage(model: &Model, seeds: impl Iterator<Item = u64>) -> Coverage {
    let mut all = Coverage::default();
    for seed in seeds {
        let study = model.study(seed);
        let mut gathered = Gathered::new(&["first", "second"], &[0.5, 0.5]);
        let mut careless = Tally::new(2);
        let mut large = [Vec::new(), Vec::new()];
        for (number, of) in study.iter().enumerate() {
            gathered.add(of);
            if let Some(sample) = Measure::Throughput.sample(of) {
                careless.add(of.arm, number as u64, sample);
                large[of.arm].push((of.unit, sample.value));
            }
        }
        let truth = model.truth(&study);
        let has_truth = |effect: &Effect| effect.once.has(truth);
        let kind = Measure::Throughput.kind();
        if let Some(effect) = gathered.effect(1, Measure::Throughput) {
            all.throughput.note(has_truth(&effect));
        }
        if let Some(effect) = Effect::of(&careless, 1, kind) {
            all.careless.note(has_truth(&effect));
        }
        if let Some((_, interval)) = percentile(&large[0], &large[1], 0.05, DOUBT, seed) {
            all.throughput_p5.note(interval.has(model.effect));
        }
    }
    all
}

/// The intervals of throughput over all networks, within strata and without.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Stratified {
    /// The studies whose interval within strata contains the truth.
    pub within: Count,
    /// The studies whose interval without strata contains it.
    pub without: Count,
    /// The mean ratio of the upper end to the lower end of the interval within strata, each as one more than a change.
    pub width_within: f64,
    /// The same of the interval without strata.
    pub width_without: f64,
}

/// Measures the coverage and the width within strata, with one look at the end of each study.
pub fn stratified(model: &Model, seeds: impl Iterator<Item = u64>) -> Stratified {
    let mut all = Stratified::default();
    let (mut within, mut without) = (0.0, 0.0);
    for seed in seeds {
        let study = model.study(seed);
        let truth = model.truth(&study);
        let mut measured = Measured::new(2);
        study.iter().for_each(|of| measured.add(of));
        let measure = Measure::Throughput;
        let (Some(one), Some(other)) =
            (measured.effect(1, measure), measured.unadjusted(1, measure))
        else {
            continue;
        };
        let width = |effect: &Effect| effect.once.high.ln_1p() - effect.once.low.ln_1p();
        all.within.note(one.once.has(truth));
        all.without.note(other.once.has(truth));
        within += width(&one);
        without += width(&other);
    }
    let mean = |sum: f64| (sum / f64::from(all.within.studies.max(1))).exp();
    (all.width_within, all.width_without) = (mean(within), mean(without));
    all
}

/// The studies in which at least one of many looks at a growing study excludes the true effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Peeking {
    /// The studies by the interval for a single look.
    pub once: Count,
    /// The studies by the anytime-valid interval.
    pub always: Count,
}

/// Takes this many looks at each study while it grows.
pub fn peeking(model: &Model, looks: usize, seeds: impl Iterator<Item = u64>) -> Peeking {
    let mut all = Peeking::default();
    for seed in seeds {
        let study = model.study(seed);
        let mut gathered = Gathered::new(&["first", "second"], &[0.5, 0.5]);
        let (mut once, mut always) = (false, false);
        for part in study.chunks(study.len().div_ceil(looks.max(1)).max(1)) {
            part.iter().for_each(|of| gathered.add(of));
            if let Some(effect) = gathered.effect(1, Measure::Throughput) {
                once |= !effect.once.has(model.effect);
                always |= !effect.always.has(model.effect);
            }
        }
        all.once.note(once);
        all.always.note(always);
    }
    all
}
