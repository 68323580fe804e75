//! Sums of samples by arm and unit of randomisation, in bounded memory.

use std::collections::BTreeMap;

use crate::measure::Sample;

/// Units are identified by this many lower bits of their draw; the upper bits decide the arm. Units with the same bits are
/// taken for one larger unit of their arm, which keeps intervals valid.
const BITS: u32 = 16;

/// The sums of one unit.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    weight: f64,
    connections: u64,
}

/// Sums by arm and unit.
#[derive(Debug, Clone)]
pub struct Tally {
    arms: Vec<BTreeMap<u32, Sum>>,
}

/// The statistics of one arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The sum of values over the sum of weights.
    pub mean: f64,
    /// The standard error of the mean, between units.
    pub error: f64,
    /// The number of units.
    pub units: usize,
    /// The effective number of units: the number of equal units with the same information. It is lower if some units are
    /// much larger than others.
    pub effective: f64,
    /// The number of connections.
    pub connections: u64,
    /// The sum of weights.
    pub weight: f64,
    /// The number of units with a value above zero.
    pub positive: usize,
}

impl Tally {
    /// No samples yet, for this many arms.
    pub fn new(arms: usize) -> Tally {
        Tally {
            arms: vec![BTreeMap::new(); arms],
        }
    }

    /// Adds a sample.
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
    pub fn add(&mut self, arm: usize, unit: u64, sample: Sample) {
        let Some(units) = self.arms.get_mut(arm) else {
            return;
        };
        let sum = units.entry(unit as u32 & ((1 << BITS) - 1)).or_default();
        sum.value += sample.value;
        sum.weight += sample.weight;
        sum.connections += 1;
    }

    /// The statistics of an arm. `None` with fewer than two units.
    ///
    /// The error is the jackknife over independent clusters, which leaves out each unit in turn (the "CR3" of Bell and
    /// McCaffrey, 2002, for a mean). So it is not too small if one unit has most of an arm. Such a unit draws the mean to
    /// itself, and its residual from the overall mean is almost zero.
    pub fn level(&self, arm: usize) -> Option<Level> {
        let units = self.arms.get(arm)?;
        let weight: f64 = units.values().map(|sum| sum.weight).sum();
        if units.len() < 2 || weight <= 0.0 {
            return None;
        }
        let mean = units.values().map(|sum| sum.value).sum::<f64>() / weight;
        let (mut variance, mut squares) = (0.0, 0.0);
        for sum in units.values() {
            let share = sum.weight / weight;
            let others = (1.0 - share).max(f64::EPSILON);
            let residual = (sum.value - mean * sum.weight) / weight / others;
            variance += residual * residual;
            squares += share * share;
        }
        let count = units.len() as f64;
        Some(Level {
            mean,
            error: (variance * (count - 1.0) / count).sqrt(),
            units: units.len(),
            effective: 1.0 / squares,
            connections: units.values().map(|sum| sum.connections).sum(),
            weight,
            positive: units.values().filter(|sum| sum.value > 0.0).count(),
        })
    }

    /// The number of units of an arm.
    pub fn units(&self, arm: usize) -> usize {
        self.arms.get(arm).map_or(0, BTreeMap::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(value: f64) -> Sample {
        Sample { value, weight: 1.0 }
    }

    #[test]
    fn of_units_of_one_it_is_the_mean_and_its_standard_error() {
        let mut tally = Tally::new(1);
        for (unit, value) in [1.0, 2.0, 3.0, 6.0].into_iter().enumerate() {
            tally.add(0, unit as u64, one(value));
        }
        let level = tally.level(0).unwrap();
        // The standard deviation is √(14/3), of four values.
        assert!((level.error - (14.0_f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
        assert_eq!((level.mean, level.units, level.effective), (3.0, 4, 4.0));
    }

    #[test]
    fn connections_of_one_unit_are_one_observation() {
        let (mut apart, mut together) = (Tally::new(1), Tally::new(1));
        for (unit, value) in [1.0, 2.0, 3.0, 6.0].into_iter().enumerate() {
            apart.add(0, unit as u64, one(value));
            for _ in 0..100 {
                together.add(0, unit as u64, one(value));
            }
        }
        let (apart, together) = (apart.level(0).unwrap(), together.level(0).unwrap());
        assert!((apart.error - together.error).abs() < 1e-12);
        assert_eq!(together.connections, 400);
    }

    #[test]
    fn one_huge_unit_counts_for_little_more_than_one() {
        let mut tally = Tally::new(1);
        for unit in 0..1000 {
            let (value, weight) = if unit == 0 { (1e6, 1e6) } else { (1.0, 1.0) };
            tally.add(0, unit, Sample { value, weight });
        }
        assert!(tally.level(0).unwrap().effective < 1.01);
    }

    #[test]
    fn one_huge_unit_is_not_believed() {
        let mut tally = Tally::new(1);
        for unit in 0..30 {
            tally.add(0, unit, one(1.0));
        }
        for _ in 0..3_000 {
            tally.add(0, 30, one(2.0));
        }
        // Without this unit, the mean is lower by one.
        let error = tally.level(0).unwrap().error;
        assert!((0.9..1.1).contains(&error), "{error}");
    }

    #[test]
    fn one_unit_tells_nothing() {
        let mut tally = Tally::new(2);
        tally.add(0, 1, one(1.0));
        tally.add(0, 1, one(2.0));
        tally.add(7, 1, one(2.0));
        assert_eq!(tally.level(0), None);
        assert_eq!(tally.level(7), None);
        assert_eq!((tally.units(0), tally.units(1)), (1, 0));
    }
}
