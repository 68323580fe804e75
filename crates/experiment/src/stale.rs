//! Whether the rules of a policy still hold: the client networks that explore say what the other controllers would do.
//!
//! A rule's connections are taken in windows. It is in doubt where another controller is, for certain, better than what the rule
//! was made for allows: half of the expected advantage, or none where nothing is expected. Certain is what the interval says that
//! holds at any time, so one may look as soon as there are explorers enough; with a doubt the window is over. A rule that two
//! windows in a row doubt for the same controller is stale. So that chance takes back a rule that stands just at this limit, it
//! must be wrong twice: once in 1,600 pairs of windows.

use units::Ratio;

use crate::effect::Effect;
use crate::measure::Measure;
use crate::observation::Observation;
use crate::tally::Tally;

/// A look is worth it each time that another controller has had so many more connections over 3 MB.
pub const EXPLORERS: u64 = 100;

/// A window is over without a doubt when there were so many altogether: a month ago says little of today.
pub const MOST: u64 = 200_000;

/// What a rule was made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// How many controllers it has, its own first.
    pub arms: usize,
    /// How much better its own was: 0.12 is 12 %.
    pub expect: f64,
}

impl Made {
    /// Of a rule with so many controllers, and what it says that it expects.
    pub fn of(arms: usize, expect: Option<Ratio>) -> Made {
        Made {
            arms,
            expect: expect.map_or(0.0, Ratio::as_f64),
        }
    }
}

/// A rule that is stale.
#[derive(Debug, Clone, PartialEq)]
pub struct Stale {
    /// Its place.
    pub rule: usize,
    /// The place of the controller that is the better one, or no worse.
    pub arm: usize,
    /// What that one changes against the rule's own, in the last window.
    pub effect: Effect,
}

/// The rules of a policy, while it is in force.
#[derive(Debug)]
pub struct Watch {
    rules: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    made: Made,
    tally: Tally,
    /// How many connections each arm has had.
    counts: Vec<u64>,
    /// The arm for which the window before doubted the rule.
    doubt: Option<usize>,
}

impl Window {
    fn new(made: Made, doubt: Option<usize>) -> Window {
        Window {
            made,
            tally: Tally::new(made.arms),
            counts: vec![0; made.arms],
            doubt,
        }
    }

    fn is_over(&self) -> bool {
        self.counts.iter().sum::<u64>() >= MOST
    }

    /// The arm for which the rule is in doubt, and what it changes.
    fn doubted(&self) -> Option<(usize, Effect)> {
        let all = 1..self.made.arms;
        let mut doubted = all.filter_map(|arm| {
            let effect = Effect::of(&self.tally, arm, Measure::Throughput.kind())?;
            // The rule's own is so much better at most.
            let most = 1.0 / (1.0 + effect.always.low) - 1.0;
            (most < self.made.expect / 2.0).then_some((arm, effect))
        });
        let first = doubted.next();
        // The one that was so before, if it still is.
        let again = doubted.find(|(arm, _)| Some(*arm) == self.doubt);
        match first {
            Some((arm, _)) if Some(arm) == self.doubt => first,
            _ => again.or(first),
        }
    }
}

impl Watch {
    /// Of these rules; nothing is known of them yet.
    pub fn new(rules: impl IntoIterator<Item = Made>) -> Watch {
        let window = |made| Window::new(made, None);
        Watch {
            rules: rules.into_iter().map(window).collect(),
        }
    }

    /// Takes in a connection of a rule. Says so if the rule is stale.
    pub fn add(&mut self, rule: usize, of: &Observation) -> Option<Stale> {
        let window = self.rules.get_mut(rule)?;
        let sample = Measure::Throughput.sample(of)?;
        let count = window.counts.get_mut(of.arm)?;
        *count += 1;
        let is_worth_it = of.arm > 0 && *count % EXPLORERS == 0;
        window.tally.add(of.arm, of.unit, sample);
        let doubted = if is_worth_it { window.doubted() } else { None };
        if doubted.is_none() && !window.is_over() {
            return None;
        }
        let before = window.doubt;
        *window = Window::new(window.made, doubted.map(|(arm, _)| arm));
        let (arm, effect) = doubted.filter(|(arm, _)| Some(*arm) == before)?;
        Some(Stale { rule, arm, effect })
    }

    /// How many connections over 3 MB a rule's window has, of its own controller and of all others.
    pub fn counts(&self, rule: usize) -> [u64; 2] {
        let counts = self
            .rules
            .get(rule)
            .map_or(&[][..], |window| &window.counts);
        let own = counts.first().copied().unwrap_or_default();
        [own, counts.iter().skip(1).sum()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Model, Units};

    /// The documentation's promise for 2 % that explore.
    const WITHIN: u64 = 100_000;

    /// One in so many client networks with the other controller is left, so that 2 % of all explore.
    const EXPLORING: u64 = 49;

    /// After how many connections over 3 MB a rule is taken back for a controller that changes throughput by so much; not
    /// within `limit` of them.
    fn taken_back(effect: f64, expect: f64, seed: u64, limit: u64) -> Option<u64> {
        let model = Model {
            units: Units::Prefixes(4000),
            effect,
            spread: 0.0,
        };
        let mut watch = Watch::new([Made { arms: 2, expect }]);
        let mut large = 0;
        for part in 0.. {
            for of in model.study(seed * 1000 + part) {
                if of.arm == 1 && of.unit % EXPLORING != 0 {
                    continue;
                }
                large += u64::from(Measure::Throughput.sample(&of).is_some());
                if watch.add(0, &of).is_some() {
                    return Some(large);
                }
                if large >= limit {
                    return None;
                }
            }
        }
        None
    }

    /// How many of so many policies, and the most connections that one took.
    fn all(effect: f64, expect: f64, seeds: std::ops::Range<u64>, limit: u64) -> (usize, u64) {
        let found: Vec<u64> = seeds
            .filter_map(|seed| taken_back(effect, expect, seed, limit))
            .collect();
        (found.len(), found.iter().copied().max().unwrap_or(0))
    }

    #[test]
    fn a_rule_that_holds_stays() {
        // The other is as much worse as the rule says.
        assert_eq!(all(1.0 / 1.5 - 1.0, 0.5, 0..4, 300_000), (0, 0));
        // Nothing is expected, and nothing is there.
        assert_eq!(all(0.0, 0.0, 10..14, 300_000), (0, 0));
    }

    #[test]
    fn a_rule_whose_reason_is_gone_is_taken_back_within_so_many_connections() {
        // It was made for twice as much, and the other one is as good.
        let (taken, most) = all(0.0, 1.0, 100..108, WITHIN);
        assert_eq!(taken, 8, "{most}");
    }

    #[test]
    fn a_rule_that_has_become_wrong_is_taken_back_within_so_many_connections() {
        // The other one is faster by half.
        let (taken, most) = all(0.5, 0.0, 200..208, WITHIN);
        assert_eq!(taken, 8, "{most}");
    }

    #[test]
    fn a_rule_without_another_controller_is_never_in_doubt_and_nothing_grows() {
        let mut watch = Watch::new([Made {
            arms: 1,
            expect: 0.5,
        }]);
        let model = Model {
            units: Units::Prefixes(500),
            effect: 0.0,
            spread: 0.0,
        };
        for of in model.study(1) {
            assert_eq!(
                watch.add(
                    0,
                    &Observation {
                        arm: 0,
                        ..of.clone()
                    }
                ),
                None
            );
            // Neither is there such an arm, nor such a rule.
            assert_eq!(
                watch.add(
                    0,
                    &Observation {
                        arm: 1,
                        ..of.clone()
                    }
                ),
                None
            );
            assert_eq!(watch.add(7, &of), None);
        }
        assert!(watch.counts(0)[0] > 0 && watch.counts(0)[1] == 0);
        assert_eq!(watch.counts(7), [0, 0]);
    }
}
