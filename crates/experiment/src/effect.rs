//! How much an arm differs from the first one, and how sure that is.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::measure::Kind;
use crate::tally::{Level, Tally};

/// What an interval leaves to chance.
pub const DOUBT: f64 = 0.05;

/// An interval takes so many units in each arm: with fewer, what is assumed of their means is a guess.
pub const LEAST_UNITS: usize = 20;

/// The always-valid interval is narrowest at so many units, both arms together. It must not depend on the data.
const NARROWEST: f64 = 1000.0;

/// A range, as shares of the first arm's value: 0.08 is 8 % more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Around a logarithm.
    fn around(log: f64, half: f64) -> Interval {
        Interval {
            low: (log - half).exp_m1(),
            high: (log + half).exp_m1(),
        }
    }

    /// Whether the value is in it.
    pub fn has(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How much an arm differs from the first one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// The arm's value over the first one's, less one.
    pub change: f64,
    /// The 95 % interval, if it is looked at once: at an end that was set before.
    pub once: Interval,
    /// The 95 % interval that holds at all times at once: whoever looks often, and stops when he likes, may believe it.
    pub always: Interval,
    /// The probability of so much or more, either way, without any effect.
    pub p: f64,
    /// Units of the first arm and of this one.
    pub units: [usize; 2],
    /// Connections of the first arm and of this one.
    pub connections: [u64; 2],
}

impl Effect {
    /// The effect of an arm by a tally; nothing where there is too little to tell it by.
    pub fn of(tally: &Tally, arm: usize, kind: Kind) -> Option<Effect> {
        let (first, this) = (tally.level(0)?, tally.level(arm)?);
        if first.units.min(this.units) < LEAST_UNITS {
            return None;
        }
        let logs = |level: Level| match kind {
            Kind::Logs => Some((level.mean, level.error)),
            // The logarithm of a share, and its error to the first order.
            Kind::Share if level.mean > 0.0 => Some((level.mean.ln(), level.error / level.mean)),
            Kind::Share => None,
        };
        let ((first_log, first_error), (this_log, this_error)) = (logs(first)?, logs(this)?);
        let log = this_log - first_log;
        let parts = [
            (first_error.powi(2), first.effective),
            (this_error.powi(2), this.effective),
        ];
        let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
        let error = variance.sqrt();
        let student = student(&parts)?;
        let quantile = student.inverse_cdf(1.0 - DOUBT / 2.0);
        let p = if error > 0.0 {
            2.0 * student.sf((log / error).abs())
        } else {
            f64::from(u8::from(log == 0.0))
        };
        Some(Effect {
            change: log.exp_m1(),
            once: Interval::around(log, quantile * error),
            always: Interval::around(log, boundary(first.effective + this.effective) * error),
            p,
            units: [first.units, this.units],
            connections: [first.connections, this.connections],
        })
    }
}

/// Student's distribution with the degrees of freedom of a difference of two means with variances of their own (Welch and
/// Satterthwaite); each is of so many units.
fn student(parts: &[(f64, f64)]) -> Option<StudentsT> {
    let all: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let each = |(variance, units): &(f64, f64)| variance.powi(2) / (units - 1.0).max(1.0);
    let below: f64 = parts.iter().map(each).sum();
    let freedom = if below > 0.0 {
        all.powi(2) / below
    } else {
        1.0
    };
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()
}

/// How many standard errors an interval reaches that holds at all times: the normal mixture's boundary of asymptotic
/// confidence sequences (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2021, theorem 2.2 and its choice of ρ).
fn boundary(units: f64) -> f64 {
    let doubt = -2.0 * DOUBT.ln();
    let rho_squared = (doubt + doubt.ln_1p()) / NARROWEST;
    let t = units * rho_squared;
    (2.0 * (t + 1.0) / t * ((t + 1.0).sqrt() / DOUBT).ln()).sqrt()
}

/// Holm's correction: the values of many tests such that with any of them below 5 %, the chance of a single false alarm among
/// all is below 5 %.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut adjusted = vec![0.0; values.len()];
    let mut most: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        most = most.max(values[place] * (values.len() - rank) as f64);
        adjusted[place] = most.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Sample;

    fn tally(of: impl Fn(usize, u64) -> f64) -> Tally {
        let mut tally = Tally::new(2);
        for unit in 0..200 {
            let arm = (unit % 2) as usize;
            let value = of(arm, unit);
            tally.add(arm, unit, Sample { value, weight: 1.0 });
        }
        tally
    }

    #[test]
    fn an_effect_is_the_ratio_of_geometric_means() {
        // Pairs of units that differ by 8 %.
        let tally = tally(|arm, unit| (unit / 2 % 7) as f64 * 0.1 + arm as f64 * 1.08_f64.ln());
        let effect = Effect::of(&tally, 1, Kind::Logs).unwrap();
        assert!((effect.change - 0.08).abs() < 1e-9, "{effect:?}");
        assert!(effect.once.has(0.08) && effect.once.low > 0.0);
        assert!(effect.always.low < effect.once.low && effect.always.high > effect.once.high);
        assert_eq!(effect.units, [100, 100]);
    }

    #[test]
    fn an_interval_is_that_of_welch() {
        // Two samples of 20: variances 35 and 140, means 10.5 and 21: t = 10.5 / √(175/20), and 27.94 degrees of freedom.
        let mut tally = Tally::new(2);
        for unit in 0..20_u64 {
            let value = (unit + 1) as f64;
            tally.add(0, unit, Sample { value, weight: 1.0 });
            let value = 2.0 * value;
            tally.add(1, unit, Sample { value, weight: 1.0 });
        }
        let effect = Effect::of(&tally, 1, Kind::Logs).unwrap();
        let half = 2.048_6 * (175.0_f64 / 20.0).sqrt();
        let high = effect.once.high.ln_1p();
        assert!((high - 10.5 - half).abs() < 0.001, "{high}");
    }

    #[test]
    fn with_few_units_nothing_is_told() {
        let mut tally = Tally::new(2);
        for unit in 0..LEAST_UNITS as u64 * 2 - 1 {
            let sample = Sample {
                value: unit as f64,
                weight: 1.0,
            };
            tally.add((unit % 2) as usize, unit, sample);
        }
        assert_eq!(Effect::of(&tally, 1, Kind::Logs), None);
    }

    #[test]
    fn shares_of_nothing_have_no_ratio() {
        assert_eq!(Effect::of(&tally(|_, _| 0.0), 1, Kind::Share), None);
        let same = Effect::of(&tally(|_, _| 1.0), 1, Kind::Share).unwrap();
        assert_eq!((same.change, same.p), (0.0, 1.0));
    }

    #[test]
    fn the_boundary_is_wider_than_a_single_look_and_narrowest_where_it_should_be() {
        // By hand from the theorem: at 1000 units √(2 · 1.126 · ln(√8.93 / 0.05)).
        assert!(
            (boundary(NARROWEST) - 3.035).abs() < 0.01,
            "{}",
            boundary(NARROWEST)
        );
        for units in [40.0, 1e4, 1e6] {
            assert!(boundary(units) > boundary(NARROWEST));
        }
    }

    #[test]
    fn holms_values() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
