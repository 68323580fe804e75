//! Whether the rules of a policy still hold: the client networks that explore say what the other controllers would do.
//!
//! A rule's connections are taken in windows. It is in doubt where another controller is, for certain, better than what the rule
//! was made for allows: half of the expected advantage, or none where nothing is expected. Certain is what the interval says that
//! holds at any time, so one may look as soon as there are explorers enough. A new window begins every so often, beside those that
//! there are: what was so before the reason of a rule went hides for no longer that it has gone. With a doubt all windows are over,
//! and others begin. A rule that these doubt, too, for the same controller, is stale.

use std::collections::VecDeque;

use units::Ratio;

use crate::effect::Effect;
use crate::measure::Measure;
use crate::observation::Observation;
use crate::tally::Tally;

/// A look is worth it each time that another controller has had so many more connections over 3 MB.
pub const EXPLORERS: u64 = 100;

/// A window begins each time that a rule has had so many connections over 3 MB.
pub const EVERY: u64 = 25_000;

/// A window is over without a doubt when there were so many: a month ago says little of today.
pub const MOST: u64 = 100_000;

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
    rules: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    made: Made,
    /// How many connections each arm has had.
    counts: Vec<u64>,
    /// The oldest first.
    windows: VecDeque<Window>,
    /// The arm for which the windows before these doubted the rule.
    doubt: Option<usize>,
}

#[derive(Debug)]
struct Window {
    tally: Tally,
    connections: u64,
}

impl Window {
    fn new(arms: usize) -> Window {
        Window {
            tally: Tally::new(arms),
            connections: 0,
        }
    }

    /// The arms for which a rule is in doubt, and what they change.
    fn doubted(&self, made: Made) -> impl Iterator<Item = (usize, Effect)> + '_ {
        (1..made.arms).filter_map(move |arm| {
            let effect = Effect::of(&self.tally, arm, Measure::Throughput.kind())?;
            // The rule's own is so much better at most.
            let most = 1.0 / (1.0 + effect.always.low) - 1.0;
            (most < made.expect / 2.0).then_some((arm, effect))
        })
    }
}

impl Watched {
    fn new(made: Made) -> Watched {
        Watched {
            made,
            counts: vec![0; made.arms],
            windows: VecDeque::from([Window::new(made.arms)]),
            doubt: None,
        }
    }

    /// The arm for which a window doubts the rule: the one that was doubted for before, if it is again.
    fn doubted(&self) -> Option<(usize, Effect)> {
        let all = || {
            self.windows
                .iter()
                .flat_map(|window| window.doubted(self.made))
        };
        let again = all().find(|(arm, _)| Some(*arm) == self.doubt);
        again.or_else(|| all().next())
    }

    fn add(&mut self, of: &Observation) -> Option<(usize, Effect)> {
        let sample = Measure::Throughput.sample(of)?;
        let count = self.counts.get_mut(of.arm)?;
        *count += 1;
        let is_worth_it = of.arm > 0 && *count % EXPLORERS == 0;
        for window in &mut self.windows {
            window.tally.add(of.arm, of.unit, sample);
            window.connections += 1;
        }
        if is_worth_it && let Some((arm, effect)) = self.doubted() {
            let before = self.doubt.replace(arm);
            self.windows = VecDeque::from([Window::new(self.made.arms)]);
            return (before == Some(arm)).then_some((arm, effect));
        }
        if self
            .windows
            .front()
            .is_some_and(|one| one.connections >= MOST)
        {
            self.windows.pop_front();
            // The one that was over had begun with the doubt, or later.
            self.doubt = None;
        }
        if self
            .windows
            .back()
            .is_none_or(|one| one.connections >= EVERY)
        {
            self.windows.push_back(Window::new(self.made.arms));
        }
        None
    }
}

impl Watch {
    /// Of these rules; nothing is known of them yet.
    pub fn new(rules: impl IntoIterator<Item = Made>) -> Watch {
        Watch {
            rules: rules.into_iter().map(Watched::new).collect(),
        }
    }

    /// Takes in a connection of a rule. Says so if the rule is stale.
    pub fn add(&mut self, rule: usize, of: &Observation) -> Option<Stale> {
        let (arm, effect) = self.rules.get_mut(rule)?.add(of)?;
        Some(Stale { rule, arm, effect })
    }

    /// How many connections over 3 MB a rule has had, of its own controller and of all others.
    pub fn counts(&self, rule: usize) -> [u64; 2] {
        let counts = self
            .rules
            .get(rule)
            .map_or(&[][..], |watched| &watched.counts);
        let own = counts.first().copied().unwrap_or_default();
        [own, counts.iter().skip(1).sum()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Model, Units};

    /// The documentation's promise, in connections over 3 MB.
    const WITHIN: u64 = 100_000;

    /// This share of the client networks explores in each slot, in which each of them has one to 300 connections.
    const EXPLORE: f64 = 0.02;

    /// A rule that was made for so much.
    struct Case {
        networks: usize,
        /// By how much the other controller changes throughput at first, and for how many connections over 3 MB.
        first: (f64, u64),
        /// And from there on.
        then: f64,
        expect: f64,
    }

    impl Case {
        fn constant(networks: usize, effect: f64, expect: f64) -> Case {
            Case {
                networks,
                first: (effect, 0),
                then: effect,
                expect,
            }
        }

        /// After how many connections over 3 MB since the change the rule is taken back, or after how many less of those before.
        /// Not within `limit` of them.
        fn taken_back(&self, seed: u64, limit: u64) -> Option<i64> {
            let (first, before) = self.first;
            let expect = self.expect;
            let mut watch = Watch::new([Made { arms: 2, expect }]);
            let mut large = 0;
            for slot in 0.. {
                let effect = if large < before { first } else { self.then };
                let model = Model::new(Units::Prefixes(self.networks), effect);
                for of in model.explored(seed, slot, EXPLORE) {
                    large += u64::from(Measure::Throughput.sample(&of).is_some());
                    if watch.add(0, &of).is_some() {
                        return Some(large.cast_signed() - before.cast_signed());
                    }
                    if large >= before + limit {
                        return None;
                    }
                    if large == before && before > 0 && first != self.then {
                        // The rest of this slot is of another one.
                        break;
                    }
                }
            }
            None
        }

        /// How many of so many policies, and the most connections that one took.
        fn all(&self, seeds: std::ops::Range<u64>, limit: u64) -> (usize, i64) {
            let found: Vec<i64> = seeds
                .filter_map(|seed| self.taken_back(seed, limit))
                .collect();
            (found.len(), found.iter().copied().max().unwrap_or(0))
        }
    }

    #[test]
    fn a_rule_that_holds_stays() {
        for (networks, limit) in [(1500, 300_000), (20_000, WITHIN)] {
            // The other is as much worse as the rule says.
            let holds = Case::constant(networks, 1.0 / 1.5 - 1.0, 0.5);
            assert_eq!(holds.all(0..4, limit), (0, 0));
            // Nothing is expected, and nothing is there.
            let nothing = Case::constant(networks, 0.0, 0.0);
            assert_eq!(nothing.all(10..14, limit), (0, 0));
        }
    }

    #[test]
    fn a_rule_whose_reason_is_gone_is_taken_back_within_so_many_connections() {
        // It was made for twice as much, and the other one is as good.
        for networks in [1500, 20_000] {
            let (taken, most) = Case::constant(networks, 0.0, 1.0).all(100..108, WITHIN);
            assert_eq!(taken, 8, "{networks}: {most}");
        }
    }

    #[test]
    fn a_reason_that_goes_after_a_long_time_shows_as_soon() {
        // The other one was half as fast, as the rule says, and is as good from then on.
        for (place, before) in [10_000, 60_000, 99_000, 140_000].into_iter().enumerate() {
            for seed in 0..2 {
                let seed = 300 + 2 * place as u64 + seed;
                let goes = Case {
                    first: (-0.5, before),
                    ..Case::constant(4000, 0.0, 1.0)
                };
                let after = goes.taken_back(seed, WITHIN);
                assert!(after.is_some_and(|after| after > 0), "{before}: {after:?}");
            }
        }
    }

    #[test]
    fn a_rule_that_has_become_wrong_is_taken_back_within_so_many_connections() {
        // The other one is faster by half.
        for networks in [1500, 20_000] {
            let (taken, most) = Case::constant(networks, 0.5, 0.0).all(200..208, WITHIN);
            assert_eq!(taken, 8, "{networks}: {most}");
        }
    }

    #[test]
    fn a_rule_without_another_controller_is_never_in_doubt_and_nothing_grows() {
        let mut watch = Watch::new([Made {
            arms: 1,
            expect: 0.5,
        }]);
        let model = Model::new(Units::Prefixes(500), 0.0);
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
