//! Sums of samples by arm and unit of randomisation, in bounded memory.

use std::collections::BTreeMap;

use crate::measure::Sample;
use crate::strata::{NO_CELL, Strata};

/// Units are identified by this many lower bits of their draw; the upper bits decide the arm. Units with the same bits
/// are taken for one larger unit of their arm, which keeps intervals valid.
const UNIT_BITS: u32 = 16;

/// The maximum number of sums of an arm. A unit may be in several cells. As soon as an arm would have more, no arm has
/// cells any more: if only the full arm lost them, the arm would decide the stratum.
const MAX_SUMS: usize = 1 << 17;

/// The sums of one unit.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    weight: f64,
    connections: u64,
}

impl Sum {
    fn merge(&mut self, other: Sum) {
        self.value += other.value;
        self.weight += other.weight;
        self.connections += other.connections;
    }
}

/// Sums by arm and unit, and by the combination of groups that an observation is in.
#[derive(Debug, Clone)]
pub struct Tally {
    arms: Vec<BTreeMap<(u32, u32), Sum>>,
    is_full: bool,
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
    /// The effective number of units: the number of equal units with the same information. It is lower if some units
    /// are much larger than others.
    pub effective: f64,
    /// The number of connections.
    pub connections: u64,
    /// The sum of weights.
    pub weight: f64,
    /// The number of units with a value above zero.
    pub positive: usize,
}

impl Tally {
    /// An empty tally for this many arms.
    pub fn new(arms: usize) -> Tally {
        Tally {
            arms: vec![BTreeMap::new(); arms],
            is_full: false,
        }
    }

    /// Adds a sample of no group.
    pub fn add(&mut self, arm: usize, unit: u64, sample: Sample) {
        self.add_in(arm, unit, NO_CELL, sample);
    }

    /// Adds a sample of a cell.
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
    pub(crate) fn add_in(&mut self, arm: usize, unit: u64, cell: u32, sample: Sample) {
        let unit = unit as u32 & ((1 << UNIT_BITS) - 1);
        let Some(sums) = self.arms.get(arm) else {
            return;
        };
        if !self.is_full && sums.len() >= MAX_SUMS && !sums.contains_key(&(unit, cell)) {
            self.drop_cells();
        }
        let cell = if self.is_full { NO_CELL } else { cell };
        self.arms[arm].entry((unit, cell)).or_default().merge(Sum {
            value: sample.value,
            weight: sample.weight,
            connections: 1,
        });
    }

    /// Merges the cells of each unit, in all arms alike.
    fn drop_cells(&mut self) {
        self.is_full = true;
        for sums in &mut self.arms {
            for ((unit, _), sum) in std::mem::take(sums) {
                sums.entry((unit, NO_CELL)).or_default().merge(sum);
            }
        }
    }

    /// True if there were too many sums for cells, so that all is in one stratum.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The sums of each unit of an arm in each stratum, in the order of units.
    fn sums(&self, arm: usize, strata: &Strata) -> Vec<(u32, usize, Sum)> {
        let mut all: Vec<(u32, usize, Sum)> = Vec::new();
        for (&(unit, cell), sum) in self.arms.get(arm).into_iter().flatten() {
            let stratum = strata.of(cell);
            // The cells of a unit are adjacent, and there are few.
            let mut known = all.iter_mut().rev().take_while(|(one, ..)| *one == unit);
            match known.find(|(_, one, _)| *one == stratum) {
                Some((.., known)) => known.merge(*sum),
                None => all.push((unit, stratum, *sum)),
            }
        }
        all
    }

    /// The cells of each unit of an arm, in the order of units.
    pub(crate) fn cells(&self, arm: usize) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.arms
            .get(arm)
            .into_iter()
            .flat_map(BTreeMap::keys)
            .copied()
    }

    /// The statistics of an arm. `None` with fewer than two units.
    pub fn level(&self, arm: usize) -> Option<Level> {
        let sums = Sums::of(self.sums(arm, &Strata::ONE), 1);
        let whole = [1.0];
        sums.level(&whole)
    }

    /// The statistics of two arms, as if both had the strata's shares of both together. `None` if an arm has no sample
    /// in a stratum, or fewer than two units in it.
    pub(crate) fn levels(&self, arms: [usize; 2], strata: &Strata) -> Option<[Level; 2]> {
        let sums = arms.map(|arm| Sums::of(self.sums(arm, strata), strata.count()));
        let weight = |stratum: usize| sums.iter().map(|arm| arm.strata[stratum].weight).sum();
        let weights: Vec<f64> = (0..strata.count()).map(weight).collect();
        let all: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
        let [one, other] = sums.map(|arm| arm.level(&shares));
        Some([one?, other?])
    }

    /// The number of units of an arm.
    pub fn units(&self, arm: usize) -> usize {
        let mut last = None;
        let units = self.cells(arm).map(|(unit, _)| unit);
        units
            .filter(|unit| last.replace(*unit) != Some(*unit))
            .count()
    }
}

/// The sums of an arm.
struct Sums {
    units: Vec<(u32, usize, Sum)>,
    strata: Vec<OfStratum>,
}

/// The sums of an arm in a stratum.
#[derive(Debug, Clone, Copy, Default)]
struct OfStratum {
    value: f64,
    weight: f64,
    units: usize,
}

impl Sums {
    fn of(units: Vec<(u32, usize, Sum)>, strata: usize) -> Sums {
        let mut of_strata = vec![OfStratum::default(); strata];
        for (_, stratum, sum) in &units {
            let of = &mut of_strata[*stratum];
            of.value += sum.value;
            of.weight += sum.weight;
            of.units += 1;
        }
        Sums {
            units,
            strata: of_strata,
        }
    }

    /// The statistics with these shares of the strata: the mean is the mean of the strata's means, weighted by the
    /// shares (post-stratification, or direct standardisation). The shares count as known.
    ///
    /// The error is the jackknife over independent clusters, which leaves out each unit in turn (the "CR3" of Bell and
    /// McCaffrey, 2002, for a mean). So it is not too small if one unit has most of an arm. Such a unit draws the mean
    /// to itself, and its residual from the overall mean is almost zero. A unit that is in several strata, as a slot
    /// may be, is one cluster in all of them.
    fn level(&self, shares: &[f64]) -> Option<Level> {
        if self
            .strata
            .iter()
            .any(|of| of.units < 2 || of.weight <= 0.0)
        {
            return None;
        }
        let parts = || self.strata.iter().zip(shares);
        let mean = parts()
            .map(|(of, share)| share * of.value / of.weight)
            .sum();
        let weight: f64 = self.strata.iter().map(|of| of.weight).sum();
        let (mut variance, mut squares, mut count, mut positive) = (0.0, 0.0, 0, 0);
        // Of each stratum: its part of the variance, and the sum of the squares of its units' shares.
        let mut of_strata = vec![(0.0, 0.0); self.strata.len()];
        for of_unit in self.units.chunk_by(|(one, ..), (other, ..)| one == other) {
            let mut residual = 0.0;
            let mut of_this = Sum::default();
            for (_, stratum, sum) in of_unit {
                let of = &self.strata[*stratum];
                let share = sum.weight / of.weight;
                let others = (1.0 - share).max(f64::EPSILON);
                let small = (of.units as f64 - 1.0) / of.units as f64;
                let own = (sum.value - of.value / of.weight * sum.weight) / of.weight / others;
                let own = shares[*stratum] * own * small.sqrt();
                residual += own;
                of_strata[*stratum].0 += own * own;
                of_strata[*stratum].1 += share * share;
                of_this.merge(*sum);
            }
            variance += residual * residual;
            squares += (of_this.weight / weight).powi(2);
            count += 1;
            positive += usize::from(of_this.value > 0.0);
        }
        let connections = self.units.iter().map(|(.., sum)| sum.connections).sum();
        let is_across = self.units.len() > count;
        Some(Level {
            mean,
            error: variance.sqrt(),
            units: count,
            effective: match self.strata.len() {
                1 => 1.0 / squares,
                _ if is_across => effective(&of_strata).min(1.0 / squares),
                _ => effective(&of_strata),
            },
            connections,
            weight,
            positive,
        })
    }
}

/// The effective number of units of several strata, each with its part of the variance and the sum of the squares of
/// its units' shares: one more than the degrees of freedom of the sum (Satterthwaite).
fn effective(strata: &[(f64, f64)]) -> f64 {
    let all: f64 = strata.iter().map(|(variance, _)| variance).sum();
    let each = |(variance, squares): &(f64, f64)| variance.powi(2) / (1.0 / squares - 1.0).max(1.0);
    let below: f64 = strata.iter().map(each).sum();
    if below > 0.0 {
        1.0 + all.powi(2) / below
    } else {
        // Nothing varies.
        f64::INFINITY
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
