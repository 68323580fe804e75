//! Checks that the arms have the planned shares of units, and that the units of all arms have equally many connections.
//! If not, some cause selects the connections, and the data cannot be trusted.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::effect::Effect;
use crate::measure::{Kind, Sample};
use crate::tally::Tally;

/// The significance level for deviations from the plan. It is small because many studies are checked.
pub const MAX_SUSPICIOUS_P: f64 = 0.001;

/// The units and connections of the arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Balance {
    /// The number of units of each arm.
    pub units: Vec<u64>,
    /// The planned share of each arm.
    pub shares: Vec<f64>,
    /// The p-value of the numbers of units (Pearson's chi-square test).
    pub p: f64,
    /// The number of connections of each arm.
    pub connections: Vec<u64>,
    /// The p-value of a difference between two arms in connections per unit. With several arms: the least p-value
    /// against the first arm, times the number of comparisons. `None` with too few units.
    pub p_connections: Option<f64>,
}

impl Balance {
    /// The balance of the arms, each given by the numbers of connections of its units. `None` without units. A unit
    /// with only objects has 0 connections.
    pub fn of<I: Iterator<Item = u64>>(
        arms: impl Iterator<Item = I>,
        shares: &[f64],
    ) -> Option<Balance> {
        let arms: Vec<Vec<u64>> = arms.map(Iterator::collect).collect();
        let units: Vec<u64> = arms.iter().map(|arm| arm.len() as u64).collect();
        let all: u64 = units.iter().sum();
        let expected: Vec<f64> = shares.iter().map(|share| share * all as f64).collect();
        if all == 0 || units.len() != shares.len() || expected.contains(&0.0) {
            return None;
        }
        let each = |(&units, expected): (&u64, &f64)| (units as f64 - expected).powi(2) / expected;
        let distance: f64 = units.iter().zip(&expected).map(each).sum();
        let p = match ChiSquared::new(units.len() as f64 - 1.0) {
            Ok(distribution) => distribution.sf(distance),
            // There is a single arm.
            Err(_) => 1.0,
        };
        Some(Balance {
            connections: arms.iter().map(|arm| arm.iter().sum()).collect(),
            p_connections: p_connections(&arms),
            units,
            shares: shares.to_vec(),
            p,
        })
    }

    /// True if the numbers of units agree with the plan.
    pub fn has_its_units(&self) -> bool {
        self.p >= MAX_SUSPICIOUS_P
    }

    /// True if the units of all arms have equally many connections.
    pub fn has_its_connections(&self) -> bool {
        self.p_connections.is_none_or(|p| p >= MAX_SUSPICIOUS_P)
    }
}

/// Welch's test of the logarithms of connections per unit. Each unit is one observation, so a few units with very many
/// connections cannot hide a loss in the others.
fn p_connections(arms: &[Vec<u64>]) -> Option<f64> {
    let mut tally = Tally::new(arms.len());
    for (arm, units) in arms.iter().enumerate() {
        let known = units.iter().filter(|connections| **connections > 0);
        for (unit, &connections) in (0..).zip(known) {
            let value = (connections as f64).ln();
            tally.add(arm, unit, Sample { value, weight: 1.0 });
        }
    }
    let others = 1..arms.len();
    let each = others.filter_map(|arm| Effect::of(&tally, arm, Kind::Logs));
    let least = each.map(|effect| effect.p).reduce(f64::min)?;
    Some((least * (arms.len() - 1) as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::assignment::Shares;
    use crate::simulated::{Model, Units};

    /// This many units with one connection each.
    fn units(counts: &[u64], shares: &[f64]) -> Option<Balance> {
        let arms = counts.iter().map(|&count| (0..count).map(|_| 1));
        Balance::of(arms, shares)
    }

    #[test]
    fn the_probability_is_that_of_tables() {
        // (60 − 50)² / 50, twice: 4.0 with one degree of freedom.
        let balance = units(&[60, 40], &[0.5, 0.5]).unwrap();
        assert!((balance.p - 0.0455).abs() < 1e-4, "{balance:?}");
        // 5.991 with two degrees of freedom is the 5 % point.
        assert!((ChiSquared::new(2.0).unwrap().sf(5.991) - 0.05).abs() < 1e-4);
    }

    #[test]
    fn units_that_are_lost_show() {
        let has = |counts: &[u64], shares: &[f64]| units(counts, shares).unwrap().has_its_units();
        assert!(has(&[5000, 5050], &[0.5, 0.5]) && !has(&[5000, 4600], &[0.5, 0.5]));
        assert!(!has(&[9000, 1300], &[0.9, 0.1]));
        assert_eq!(units(&[0, 0], &[0.5, 0.5]), None);
    }

    /// Units whose connections are kept with a probability: one for the first arm, and one for the others.
    fn drawn(units: Units, shares: &[f64], kept: [f64; 2], seed: u64) -> Balance {
        let mut arms = vec![BTreeMap::<u64, u64>::new(); shares.len()];
        let drawn = Shares::of(shares);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for of in Model::new(units, 0.0).study(seed) {
            let arm = drawn.arm(of.unit);
            let chance = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            if chance < kept[arm.min(1)] {
                *arms[arm].entry(of.unit).or_default() += 1;
            }
        }
        let arms = arms.iter().map(|units| units.values().copied());
        Balance::of(arms, shares).unwrap()
    }

    #[test]
    fn connections_that_are_lost_show_where_no_unit_is() {
        // 300 networks with ten connections each, and as many that have lost three.
        let arms = [10, 7].map(|connections| std::iter::repeat_n(connections, 300));
        let balance = Balance::of(arms.into_iter(), &[0.5, 0.5]).unwrap();
        assert_eq!((balance.p, balance.p_connections), (1.0, Some(0.0)));
        assert_eq!(balance.connections, [3000, 2100]);
        for seed in 0..10 {
            let of = |units| drawn(units, &[0.5, 0.5], [1.0, 0.7], seed);
            // Units with a dozen connections or more.
            let slots = of(Units::Slots(250));
            assert!(
                slots.has_its_units() && !slots.has_its_connections(),
                "{slots:?}"
            );
            // Most units have one to three connections, so some units are lost completely.
            let prefixes = of(Units::Prefixes(3000));
            let is_fine = prefixes.has_its_units() && prefixes.has_its_connections();
            assert!(!is_fine, "{prefixes:?}");
        }
    }

    #[test]
    fn studies_that_lack_nothing_are_believed() {
        for shares in [&[0.5, 0.5][..], &[0.9, 0.1], &[0.4, 0.3, 0.3]] {
            let each = |seed| drawn(Units::Prefixes(600), shares, [1.0, 1.0], seed).p_connections;
            let all: Vec<f64> = (0..200).filter_map(each).collect();
            let below = |most: f64| all.iter().filter(|p| **p < most).count();
            // Of 200 studies, one in a thousand, and one in twenty.
            assert!(
                below(MAX_SUSPICIOUS_P) <= 2,
                "{shares:?}: {}",
                below(MAX_SUSPICIOUS_P)
            );
            assert!(below(0.05) <= 18, "{shares:?}: {}", below(0.05));
        }
    }

    #[test]
    fn few_units_or_none_with_connections_say_nothing_of_them() {
        assert_eq!(units(&[19, 30], &[0.5, 0.5]).unwrap().p_connections, None);
        let none = [0, 0].map(|none: u64| std::iter::repeat_n(none, 100));
        let balance = Balance::of(none.into_iter(), &[0.5, 0.5]).unwrap();
        assert!(balance.has_its_units() && balance.has_its_connections());
    }
}
