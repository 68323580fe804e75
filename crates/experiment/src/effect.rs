//! The difference between an arm and the first one, with its uncertainty.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::measure::Kind;
use crate::strata::{Cells, MIN_UNITS};
use crate::tally::{Level, Tally};

/// One less the confidence level of an interval.
pub const DOUBT: f64 = 0.05;

/// The anytime-valid interval is narrowest at this standard error of a mean logarithm, at which the interval for one
/// look reaches about 20 %. The value must not depend on the data.
const NARROWEST_LOGS: f64 = 0.1;

/// The same for a share. It is greater because shares of rare events have larger errors.
const NARROWEST_SHARES: f64 = 0.3;

/// The maximum half width in standard errors. Beyond it, the tail of the normal distribution is lost in rounding.
const MAX_STANDARD_ERRORS: f64 = 8.0;

/// An interval of relative changes of the first arm's value: 0.08 is 8 % more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of this half width around a logarithm.
    fn around(log: f64, half: f64) -> Interval {
        Interval {
            low: (log - half).exp_m1(),
            high: (log + half).exp_m1(),
        }
    }

    /// True if the interval contains the value.
    pub fn has(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The difference between an arm and another one, mostly the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// The ratio of the arm's value to the other arm's, less one.
    pub change: f64,
    /// The 95 % interval for a single look, at an end that was set in advance. With several arms, all intervals
    /// together have 95 % coverage.
    pub once: Interval,
    /// The anytime-valid 95 % interval: it holds at all times at once, however often one looks and whenever one stops.
    pub always: Interval,
    /// The p-value for a single look.
    pub p: f64,
    /// The anytime-valid p-value: the largest doubt at which the anytime-valid interval still contains 0.
    pub p_always: f64,
    /// The numbers of units of the other arm and of this one.
    pub units: [usize; 2],
    /// The numbers of connections of the other arm and of this one.
    pub connections: [u64; 2],
}

impl Effect {
    /// The effect of an arm against the first one. `None` with too few data.
    pub fn of(tally: &Tally, arm: usize, kind: Kind) -> Option<Effect> {
        Difference::of(tally, [0, arm], kind).map(|difference| difference.effect(DOUBT))
    }

    /// The valid interval: `once` if the study is over, otherwise `always`.
    pub fn interval(&self, is_over: bool) -> Interval {
        if is_over { self.once } else { self.always }
    }

    /// The valid p-value: `p` if the study is over, otherwise `p_always`.
    pub fn p(&self, is_over: bool) -> f64 {
        if is_over { self.p } else { self.p_always }
    }
}

/// The difference between the logarithms of two arms, and what intervals need.
#[derive(Debug)]
pub struct Difference {
    log: f64,
    error: f64,
    student: StudentsT,
    /// The time of the anytime-valid interval: the information, as a multiple of a value that was fixed in advance.
    time: f64,
    levels: [Level; 2],
}

impl Difference {
    /// The second of these arms against the first. `None` with too few data.
    pub fn of(tally: &Tally, [over, arm]: [usize; 2], kind: Kind) -> Option<Difference> {
        Difference::between([tally.level(over)?, tally.level(arm)?], kind)
    }

    /// The same, with the arms compared within strata: the effect over all strata at the shares that they have in both
    /// arms together. Also returns the number of strata.
    pub(crate) fn within(
        tally: &Tally,
        cells: &Cells,
        arms: [usize; 2],
        kind: Kind,
    ) -> Option<(Difference, usize)> {
        let strata = cells.strata(arms.map(|arm| tally.cells(arm)));
        match tally.levels(arms, &strata) {
            Some(levels) => Some((Difference::between(levels, kind)?, strata.count())),
            None => Some((Difference::of(tally, arms, kind)?, 1)),
        }
    }

    fn between(levels: [Level; 2], kind: Kind) -> Option<Difference> {
        if levels.iter().any(|level| level.units < MIN_UNITS) {
            return None;
        }
        let logs = match kind {
            Kind::Logs => levels.map(|level| (level.mean, level.error, level.effective)),
            Kind::Share => shares(levels)?,
        };
        let parts = logs.map(|(_, error, units)| (error.powi(2), units));
        let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
        let narrowest = match kind {
            Kind::Logs => NARROWEST_LOGS,
            Kind::Share => NARROWEST_SHARES,
        };
        Some(Difference {
            log: logs[1].0 - logs[0].0,
            error: variance.sqrt(),
            student: student(&parts)?,
            time: narrowest_time() * narrowest.powi(2) / variance,
            levels,
        })
    }

    /// The values of the two arms.
    pub fn values(&self, kind: Kind) -> [f64; 2] {
        self.levels.map(|level| match kind {
            Kind::Logs => level.mean.exp(),
            Kind::Share => level.mean,
        })
    }

    /// The effect, with intervals at this doubt.
    pub fn effect(&self, doubt: f64) -> Effect {
        let [first, this] = self.levels;
        let (p, p_always) = self.probabilities();
        Effect {
            change: self.log.exp_m1(),
            once: self.interval(true, doubt),
            always: self.interval(false, doubt),
            p,
            p_always,
            units: [first.units, this.units],
            connections: [first.connections, this.connections],
        }
    }

    /// The interval at this doubt: for a single look if the study is over, otherwise anytime-valid.
    pub fn interval(&self, is_over: bool, doubt: f64) -> Interval {
        if self.error == 0.0 {
            return Interval::around(self.log, 0.0);
        }
        let beyond = if is_over {
            doubt / 2.0
        } else {
            // With few units, the error is uncertain, too. So the tail probability of the boundary is carried over from
            // the normal distribution to Student's.
            standard().sf(boundary(self.time, doubt).min(MAX_STANDARD_ERRORS))
        };
        Interval::around(
            self.log,
            self.student.inverse_cdf(beyond).abs() * self.error,
        )
    }

    /// The p-values for a single look, and at any time.
    fn probabilities(&self) -> (f64, f64) {
        if self.error == 0.0 {
            let p = f64::from(u8::from(self.log == 0.0));
            return (p, p);
        }
        let beyond = self.student.sf((self.log / self.error).abs());
        // The doubt whose boundary is at this distance.
        let distance = standard().inverse_cdf(beyond).powi(2);
        let t = self.time;
        let always = (t + 1.0).sqrt() * (-distance * t / (t + 1.0) / 2.0).exp();
        (2.0 * beyond, always.min(1.0))
    }
}

/// The logarithms of two shares, their standard errors to the first order, and their effective numbers of units. `None`
/// if both shares are zero.
///
/// If one share is zero, half an event is added to both (Haldane and Anscombe), with the error of one observed event.
/// An event is the average amount in those units of the other arm that have any, because a burst is no more certain
/// than a single event. The error of an arm without events is fixed and not estimated from units.
fn shares(levels: [Level; 2]) -> Option<[(f64, f64, f64); 2]> {
    let some = levels.iter().find(|level| level.positive > 0)?;
    let half = if levels.iter().all(|level| level.positive > 0) {
        0.0
    } else {
        some.mean * some.weight / some.positive as f64 / 2.0
    };
    Some(levels.map(|level| {
        let added = half / level.weight;
        let share = level.mean + added;
        let units = if level.positive > 0 {
            level.effective
        } else {
            f64::INFINITY
        };
        (share.ln(), level.error.hypot(added) / share, units)
    }))
}

/// The standard normal distribution.
fn standard() -> Normal {
    Normal::standard()
}

/// Student's distribution with the degrees of freedom for a difference of two means with unequal variances (Welch and
/// Satterthwaite). Each part is a variance and a number of units.
fn student(parts: &[(f64, f64)]) -> Option<StudentsT> {
    let all: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let each = |(variance, units): &(f64, f64)| variance.powi(2) / (units - 1.0).max(1.0);
    let below: f64 = parts.iter().map(each).sum();
    // With a million degrees of freedom, it is the normal distribution. That also holds if no variance was estimated.
    let freedom = if below > 0.0 {
        (all.powi(2) / below).clamp(1.0, 1e6)
    } else {
        1e6
    };
    StudentsT::new(0.0, 1.0, freedom).ok()
}

/// The half width of an anytime-valid interval in standard errors: the boundary of the normal mixture (Robbins, 1970;
/// for estimated errors, the asymptotic confidence sequences of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2021,
/// theorem
/// 2.2).
///
/// Its time is the information. Estimates from growing data behave as a Brownian motion in 1 / error² (Jennison and
/// Turnbull, 2000, chapter 11), whether units are added or units get more connections. The number of units does not
/// grow in the second case.
fn boundary(time: f64, doubt: f64) -> f64 {
    (2.0 * (time + 1.0) / time * ((time + 1.0).sqrt() / doubt).ln()).sqrt()
}

/// The time at which the boundary is lowest (the choice of ρ in that paper, to the first order).
fn narrowest_time() -> f64 {
    let doubt = -2.0 * DOUBT.ln();
    doubt + doubt.ln_1p()
}

/// Holm's correction: if corrected p-values below 5 % count as significant, the familywise error rate is at most 5 %.
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
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::measure::Sample;
    use crate::simulated::Draws;

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
        // Two samples of 20 with variances 35 and 140, means 10.5 and 21: t = 10.5 / √(175/20), with 27.94 degrees of
        // freedom.
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
        for unit in 0..MIN_UNITS as u64 * 2 - 1 {
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
        assert_eq!((same.change, same.p, same.p_always), (0.0, 1.0, 1.0));
    }

    #[test]
    fn a_share_of_nothing_against_a_fifth_is_certain_either_way() {
        for zero in [0, 1] {
            let tally = tally(|arm, _| if arm == zero { 0.0 } else { 0.2 });
            let effect = Effect::of(&tally, 1, Kind::Share).unwrap();
            // Half an event in a hundred units, against a hundred events and a half: a factor of 201.
            let change = if zero == 0 { 201.0_f64 } else { 1.0 / 201.0 };
            assert!((effect.change + 1.0 - change).abs() < 1e-9, "{effect:?}");
            assert!(effect.p < 0.001 && effect.p_always < 0.05, "{effect:?}");
            let sure = if zero == 0 {
                effect.always.low > 0.5
            } else {
                effect.always.high < 0.0
            };
            assert!(sure, "{effect:?}");
        }
    }

    #[test]
    fn what_is_rare_and_in_bursts_raises_no_false_alarm_where_one_arm_has_none() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut zeros, mut once, mut always) = (0, 0, 0);
        for _ in 0..1000 {
            // Two units in 100 have events, each from one to a hundred packets.
            let mut tally = Tally::new(2);
            for unit in 0..200 {
                let value = if random.next_u64() % 50 == 0 {
                    (1 + random.next_u64() % 100) as f64
                } else {
                    0.0
                };
                tally.add(
                    (unit % 2) as usize,
                    unit,
                    Sample {
                        value,
                        weight: 1000.0,
                    },
                );
            }
            let Some(effect) = Effect::of(&tally, 1, Kind::Share) else {
                continue;
            };
            // If both arms have events, nothing is added.
            if (0..2).all(|arm| tally.level(arm).unwrap().positive > 0) {
                continue;
            }
            zeros += 1;
            once += u32::from(!effect.once.has(0.0));
            always += u32::from(!effect.always.has(0.0));
        }
        assert!(
            zeros > 150 && once * 20 <= 1000 && always == 0,
            "{zeros}, {once}, {always}"
        );
    }

    #[test]
    fn the_boundary_is_wider_than_a_single_look_and_narrowest_where_it_should_be() {
        // By hand: √(2 · 1.126 · ln(√8.94 / 0.05)).
        let narrowest = boundary(narrowest_time(), DOUBT);
        assert!((narrowest - 3.035).abs() < 0.01, "{narrowest}");
        for time in [0.3, 80.0, 8000.0] {
            assert!(boundary(time, DOUBT) > narrowest);
        }
    }

    #[test]
    fn the_probability_for_any_time_is_the_doubt_of_its_boundary() {
        for effect in [0.08, 0.1, 0.15] {
            let tally = tally(|arm, unit| (unit / 2 % 7) as f64 * 0.1 + arm as f64 * effect);
            let difference = Difference::of(&tally, [0, 1], Kind::Logs).unwrap();
            let (once, always) = difference.probabilities();
            assert!(always >= once);
            if always < 1.0 {
                let low = difference.interval(false, always).low;
                assert!(low.abs() < 1e-6, "{effect}: {low}");
            }
        }
    }

    #[test]
    fn at_any_time_holds_for_units_that_stay_while_their_connections_go_on() {
        let (studies, looks, units) = (200, 100, 500_u64);
        let mut random = Draws(Xoshiro256PlusPlus::seed_from_u64(5));
        let mut wrong = 0;
        for _ in 0..studies {
            let mut sums = vec![0.0; units as usize];
            let mut connections = 0.0_f64;
            let mut is_wrong = false;
            for look in 0..=looks {
                // From one connection per unit to a hundred million.
                let now = 1e8_f64.powf(f64::from(look) / f64::from(looks));
                let mut tally = Tally::new(2);
                for (unit, sum) in (0..).zip(&mut sums) {
                    *sum += (now - connections).sqrt() * random.normal();
                    tally.add(
                        (unit % 2) as usize,
                        unit,
                        Sample {
                            value: *sum,
                            weight: now,
                        },
                    );
                }
                connections = now;
                is_wrong |= !Effect::of(&tally, 1, Kind::Logs).unwrap().always.has(0.0);
            }
            wrong += u32::from(is_wrong);
        }
        assert!(wrong * 20 <= studies, "{wrong} of {studies}");
    }

    #[test]
    fn holms_values() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// The half width of the anytime-valid interval in standard errors, and the standard error.
    fn width(tally: &Tally, kind: Kind) -> (f64, f64) {
        let difference = Difference::of(tally, [0, 1], kind).unwrap();
        let interval = difference.interval(false, DOUBT);
        let half = interval.high.ln_1p() - difference.log;
        (half / difference.error, difference.error)
    }

    #[test]
    fn the_interval_at_any_time_is_narrowest_where_it_was_said_in_advance() {
        let logs = |scale: f64| tally(|_, unit| (unit / 2 % 7) as f64 * scale);
        // One unit of `each` in an arm has an event.
        let shares = |each: u64| tally(|_, unit| f64::from(u8::from(unit / 2 % each == 0)));
        for (kind, all, error) in [
            (Kind::Logs, [0.18, 0.35, 0.7].map(logs), 0.1),
            (Kind::Share, [shares(2), shares(6), shares(20)], 0.3),
        ] {
            let [before, there, after] = all.map(|tally| width(&tally, kind));
            assert!((there.1 / error - 1.0).abs() < 0.1, "{there:?}");
            assert!(
                before.1 < 0.6 * error && after.1 > 1.8 * error,
                "{before:?} {after:?}"
            );
            assert!(
                there.0 < before.0 && there.0 < after.0,
                "{before:?} {there:?} {after:?}"
            );
        }
        // At one look, chance alone has at most one estimate in 400 beyond it.
        let least = boundary(narrowest_time(), DOUBT);
        assert!((least - 3.035).abs() < 1e-3, "{least}");
        assert!(2.0 * standard().sf(least) < 1.0 / 400.0);
    }

    #[test]
    fn an_interval_of_huge_errors_has_ends() {
        let (width, error) = width(&tally(|_, unit| (unit / 2 % 7) as f64 * 20.0), Kind::Logs);
        assert!(error > 5.0, "{error}");
        // Eight standard errors of the normal distribution, with Student's heavier tails.
        assert!((8.0..10.0).contains(&width), "{width}");
    }

    #[test]
    fn an_effect_takes_twenty_units_of_each_arm() {
        let known = |units: [u64; 2]| {
            let mut tally = Tally::new(2);
            for (arm, units) in units.into_iter().enumerate() {
                for unit in 0..units {
                    let value = unit as f64;
                    tally.add(arm, unit, Sample { value, weight: 1.0 });
                }
            }
            Effect::of(&tally, 1, Kind::Logs).is_some()
        };
        assert!(known([20, 20]) && !known([19, 200]) && !known([200, 19]));
    }
}
