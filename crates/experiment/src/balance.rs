//! Whether the arms got the units that they should: if not, something decides who is seen, and nothing can be believed.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Below this probability, shares are not those of the plan. Many studies look at it, so it is small.
pub const SUSPICIOUS: f64 = 0.001;

/// How many units each arm got.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Balance {
    /// How many each arm got.
    pub units: Vec<u64>,
    /// The share that it should have got.
    pub shares: Vec<f64>,
    /// The probability of such a deviation or more, if all is as planned (Pearson's chi-square).
    pub p: f64,
}

impl Balance {
    /// Of these counts; nothing if there are none.
    pub fn of(units: &[u64], shares: &[f64]) -> Option<Balance> {
        let all: u64 = units.iter().sum();
        let expected: Vec<f64> = shares.iter().map(|share| share * all as f64).collect();
        if all == 0 || units.len() != shares.len() || expected.contains(&0.0) {
            return None;
        }
        let each = |(&units, expected): (&u64, &f64)| (units as f64 - expected).powi(2) / expected;
        let distance: f64 = units.iter().zip(&expected).map(each).sum();
        let p = match ChiSquared::new(units.len() as f64 - 1.0) {
            Ok(distribution) => distribution.sf(distance),
            // A single arm.
            Err(_) => 1.0,
        };
        Some(Balance {
            units: units.to_vec(),
            shares: shares.to_vec(),
            p,
        })
    }

    /// Whether they are those of the plan, as far as one can tell.
    pub fn is_fine(&self) -> bool {
        self.p >= SUSPICIOUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_that_of_tables() {
        // (60 − 50)² / 50 twice: 4.0 with one degree of freedom.
        let balance = Balance::of(&[60, 40], &[0.5, 0.5]).unwrap();
        assert!((balance.p - 0.0455).abs() < 1e-4, "{balance:?}");
        // 5.991 with two is 5 %.
        assert!((ChiSquared::new(2.0).unwrap().sf(5.991) - 0.05).abs() < 1e-4);
    }

    #[test]
    fn what_is_lost_shows() {
        assert!(Balance::of(&[5000, 5050], &[0.5, 0.5]).unwrap().is_fine());
        assert!(!Balance::of(&[5000, 4600], &[0.5, 0.5]).unwrap().is_fine());
        assert!(!Balance::of(&[9000, 1300], &[0.9, 0.1]).unwrap().is_fine());
        assert_eq!(Balance::of(&[0, 0], &[0.5, 0.5]), None);
    }
}
