//! The proof of the statistics: how often intervals are right in studies of which the truth is known.

use serde::Serialize;

use crate::effect::{DOUBT, Effect};
use crate::findings::Gathered;
use crate::measure::Measure;
use crate::percentile::percentile;
use crate::simulated::Model;
use crate::tally::Tally;

/// How often something happened in many studies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Count {
    /// So often it did.
    pub of: u32,
    /// In so many studies.
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

/// How often a 95 % interval had the truth in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Coverage {
    /// Of throughput over 3 MB, looked at once.
    pub throughput: Count,
    /// Of its 5th percentile, looked at once.
    pub throughput_p5: Count,
    /// What throughput's would be, if connections were taken for independent.
    pub careless: Count,
}

/// Looks at many studies, each once, at its end.
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
        let has_truth = |effect: &Effect| effect.once.has(model.effect);
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

/// How often at least one of many looks at a growing study shows an effect other than the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Peeking {
    /// By the interval that is for one look.
    pub once: Count,
    /// By the interval that holds at all times.
    pub always: Count,
}

/// Looks at many studies so many times each, while they grow.
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
