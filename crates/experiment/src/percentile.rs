//! The difference of a percentile between arms, with an interval from the cluster bootstrap.

use std::collections::HashMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use tables::statistics::Sorted;

use crate::effect::Interval;

/// The minimum number of units in each arm: three of 60 are below the 5th percentile. With fewer, the bootstrap has too
/// few values around the percentile.
const MIN_UNITS: usize = 60;

/// The number of bootstrap samples.
const DRAWS: usize = 1000;

/// The values of an arm's connections in ascending order, each with the index of its unit.
struct Arm {
    values: Vec<(f64, usize)>,
    /// The number of connections of each unit.
    counts: Vec<u64>,
}

impl Arm {
    fn of(connections: &[(u64, f64)]) -> Arm {
        let mut places = HashMap::new();
        let mut counts = Vec::new();
        let mut values: Vec<(f64, usize)> = connections
            .iter()
            .map(|&(unit, value)| {
                let place = *places.entry(unit).or_insert_with(|| {
                    counts.push(0);
                    counts.len() - 1
                });
                counts[place] += 1;
                (value, place)
            })
            .collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        Arm { values, counts }
    }

    /// The percentile if each unit is drawn this many times.
    fn percentile(&self, share: f64, times: &[u64]) -> Option<f64> {
        let counted = self.counts.iter().zip(times);
        let all: u64 = counted.map(|(count, times)| count * times).sum();
        let rank = (all as f64 * share).ceil().max(1.0);
        let mut seen = 0;
        let found = self.values.iter().find(|(_, place)| {
            seen += times[*place];
            seen as f64 >= rank
        });
        found.map(|(value, _)| *value)
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus, times: &mut Vec<u64>) {
        times.clear();
        times.resize(self.counts.len(), 0);
        for _ in 0..self.counts.len() {
            times[below(random, self.counts.len())] += 1;
        }
    }
}

/// A random number below `end`, uniform up to 2⁻³² of `end`.
fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    ((u128::from(random.next_u64()) * end as u128) >> 64) as usize
}

/// The relative difference of the percentile `share` between an arm and the first one, with an interval at this
/// `doubt`. A connection is given as its unit and a logarithm. `None` with too few units.
pub fn percentile(
    first: &[(u64, f64)],
    this: &[(u64, f64)],
    share: f64,
    doubt: f64,
    seed: u64,
) -> Option<(f64, Interval)> {
    let arms = [Arm::of(first), Arm::of(this)];
    if arms.iter().any(|arm| arm.counts.len() < MIN_UNITS) {
        return None;
    }
    let once = |arm: &Arm| arm.percentile(share, &vec![1; arm.counts.len()]);
    let change = once(&arms[1])? - once(&arms[0])?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut times = Vec::new();
    let mut drawn = |arm: &Arm| {
        arm.draw(&mut random, &mut times);
        arm.percentile(share, &times)
    };
    let changes: Option<Sorted> = (0..DRAWS)
        .map(|_| Some(drawn(&arms[1])? - drawn(&arms[0])?))
        .collect();
    let changes = changes?;
    let end = |share: f64| changes.quantile(share).map(f64::exp_m1);
    let interval = Interval {
        low: end(doubt / 2.0)?,
        high: end(1.0 - doubt / 2.0)?,
    };
    Some((change.exp_m1(), interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::DOUBT;
    use crate::simulated::Draws;

    fn arm(factor: f64) -> Vec<(u64, f64)> {
        let each = |connection: u64| {
            (
                connection / 10,
                ((connection % 97 + 1) as f64 * factor).ln(),
            )
        };
        (0..1000).map(each).collect()
    }

    #[test]
    fn a_percentile_that_is_larger_shows() {
        let (change, interval) = percentile(&arm(1.0), &arm(4.0), 0.05, DOUBT, 1).unwrap();
        assert!((change - 3.0).abs() < 1e-9, "{change}");
        assert!(interval.has(3.0) && interval.low > 0.0, "{interval:?}");
        assert_eq!(
            percentile(&arm(1.0), &arm(4.0), 0.05, DOUBT, 1).unwrap().1,
            interval
        );
    }

    #[test]
    fn few_units_tell_nothing() {
        assert!(percentile(&arm(1.0), &arm(1.0)[..150], 0.05, DOUBT, 1).is_none());
        assert!(percentile(&[], &arm(1.0), 0.05, DOUBT, 1).is_none());
        let units = |units: u64| {
            (0..units)
                .map(|unit| (unit, unit as f64))
                .collect::<Vec<_>>()
        };
        let is_told = |count| percentile(&units(count), &units(count), 0.05, DOUBT, 1).is_some();
        assert!(!is_told(59) && is_told(60));
    }

    #[test]
    fn of_the_fewest_units_the_truth_is_in_19_of_20_intervals() {
        let mut random = Draws(Xoshiro256PlusPlus::seed_from_u64(60));
        let mut arm = || {
            (0..MIN_UNITS as u64)
                .map(|unit| (unit, random.normal()))
                .collect::<Vec<_>>()
        };
        let has = |_: &u64| {
            percentile(&arm(), &arm(), 0.05, DOUBT, 1)
                .unwrap()
                .1
                .has(0.0)
        };
        let covered = (0..200).filter(has).count();
        // 190, less two standard deviations of 3.1.
        assert!(covered >= 184, "{covered} of 200");
    }
}
