//! Checks whether the rules of a policy still hold, by the client networks that explore other controllers.
//!
//! The objects of a rule over 3 MB are collected in windows. A connection whose objects are unknown counts as one
//! object. A rule is in doubt if its own controller's advantage is certainly below half of what was expected. If
//! nothing was expected, a rule is in doubt if another controller is certainly better. "Certainly" refers to the
//! anytime-valid interval, so one may look as soon as there are enough explorers. New windows begin at regular
//! distances, beside the present ones. So old data do not hide a change for long. A doubt ends all windows, and new
//! ones begin. If these doubt the rule for the same controller again, the rule is stale.

use std::collections::VecDeque;

use units::Ratio;

use crate::effect::Effect;
use crate::measure::{LARGE_BYTES, Measure};
use crate::observation::Observation;
use crate::tally::Tally;

/// The number of further objects over 3 MB with another controller until the next check.
pub const OBJECTS_PER_CHECK: u64 = 100;

/// The number of objects over 3 MB of a rule until the next window begins.
pub const OBJECTS_PER_WINDOW: u64 = 25_000;

/// The maximum number of objects of a window without a doubt, because old data say little about the present.
pub const MAX_WINDOW_OBJECTS: u64 = 100_000;

/// The minimum size of a collected object in bytes.
pub const MIN_OBJECT_BYTES: u64 = LARGE_BYTES;

/// The evidence that a rule was made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// The number of its controllers, its own first.
    pub arms: usize,
    /// The expected advantage of its own controller: 0.12 is 12 %.
    pub expect: f64,
}

impl Made {
    /// A rule with this many controllers, and this `expect`.
    pub fn of(arms: usize, expect: Option<Ratio>) -> Made {
        Made {
            arms,
            expect: expect.map_or(0.0, Ratio::as_f64),
        }
    }
}

/// A stale rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Stale {
    /// The index of the rule.
    pub rule: usize,
    /// The index of the controller that is better, or no worse than expected.
    pub arm: usize,
    /// The effect of that controller against the rule's own, in the last window.
    pub effect: Effect,
}

/// The rules of a policy in force.
#[derive(Debug)]
pub struct Watch {
    rules: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    made: Made,
    /// The number of objects of each arm.
    counts: Vec<u64>,
    /// The windows, oldest first.
    windows: VecDeque<Window>,
    /// The arm for which earlier windows doubted the rule.
    doubt: Option<usize>,
}

#[derive(Debug)]
struct Window {
    tally: Tally,
    objects: u64,
}

impl Window {
    fn new(arms: usize) -> Window {
        Window {
            tally: Tally::new(arms),
            objects: 0,
        }
    }

    /// The arms for which the rule is in doubt, with their effects.
    fn doubted(&self, made: Made) -> impl Iterator<Item = (usize, Effect)> + '_ {
        (1..made.arms).filter_map(move |arm| {
            let effect = Effect::of(&self.tally, arm, Measure::Throughput.kind())?;
            // The greatest advantage of the rule's own controller.
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

    /// The arm for which a window doubts the rule. The arm of the earlier doubt is preferred.
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
        let is_worth_it = of.arm > 0 && *count % OBJECTS_PER_CHECK == 0;
        for window in &mut self.windows {
            window.tally.add(of.arm, of.unit, sample);
            window.objects += 1;
        }
        if is_worth_it && let Some((arm, effect)) = self.doubted() {
            let before = self.doubt.replace(arm);
            self.windows = VecDeque::from([Window::new(self.made.arms)]);
            return (before == Some(arm)).then_some((arm, effect));
        }
        if self
            .windows
            .front()
            .is_some_and(|one| one.objects >= MAX_WINDOW_OBJECTS)
        {
            self.windows.pop_front();
            // The window that ended had begun with the doubt, or later.
            self.doubt = None;
        }
        if self
            .windows
            .back()
            .is_none_or(|one| one.objects >= OBJECTS_PER_WINDOW)
        {
            self.windows.push_back(Window::new(self.made.arms));
        }
        None
    }
}

impl Watch {
    /// Watches these rules. Nothing is known about them yet.
    pub fn new(rules: impl IntoIterator<Item = Made>) -> Watch {
        Watch {
            rules: rules.into_iter().map(Watched::new).collect(),
        }
    }

    /// Adds an object or a connection of a rule. Returns the rule if it is stale.
    pub fn add(&mut self, rule: usize, of: &Observation) -> Option<Stale> {
        let (arm, effect) = self.rules.get_mut(rule)?.add(of)?;
        Some(Stale { rule, arm, effect })
    }

    /// The number of objects over 3 MB of a rule: with its own controller, and with all others.
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

    /// The limit that the documentation promises, in connections over 3 MB. Each connection here is one object.
    const MAX_STALE_CONNECTIONS: u64 = 100_000;

    /// The share of client networks that explore in each slot. A network has 1 to 300 connections in a slot.
    const EXPLORE: f64 = 0.02;

    /// A rule with this expectation, and the true effects.
    struct Case {
        networks: usize,
        /// The other controller's effect on throughput at first, and for how many connections over 3 MB.
        first: (f64, u64),
        /// The effect after that.
        then: f64,
        expect: f64,
        explore: f64,
    }

    impl Case {
        fn constant(networks: usize, effect: f64, expect: f64) -> Case {
            Case {
                networks,
                first: (effect, 0),
                then: effect,
                expect,
                explore: EXPLORE,
            }
        }

        /// The number of connections over 3 MB from the change until the rule is stale; negative before the change.
        /// `None` if it is not stale within `limit` connections after the change.
        fn taken_back(&self, seed: u64, limit: u64) -> Option<i64> {
            let (first, before) = self.first;
            let expect = self.expect;
            let mut watch = Watch::new([Made { arms: 2, expect }]);
            let mut large = 0;
            for slot in 0.. {
                let effect = if large < before { first } else { self.then };
                let model = Model::new(Units::Prefixes(self.networks), effect);
                for of in model.explored(seed, slot, self.explore) {
                    large += u64::from(Measure::Throughput.sample(&of).is_some());
                    if watch.add(0, &of).is_some() {
                        return Some(large.cast_signed() - before.cast_signed());
                    }
                    if large >= before + limit {
                        return None;
                    }
                    if large == before && before > 0 && first != self.then {
                        // The rest of this slot belongs to the time after the change.
                        break;
                    }
                }
            }
            None
        }

        /// The number of policies whose rule became stale, and the most connections that it took.
        fn all(&self, seeds: std::ops::Range<u64>, limit: u64) -> (usize, i64) {
            let found: Vec<i64> = seeds
                .filter_map(|seed| self.taken_back(seed, limit))
                .collect();
            (found.len(), found.iter().copied().max().unwrap_or(0))
        }
    }

    #[test]
    fn a_rule_that_holds_stays() {
        for (networks, limit) in [(1500, 300_000), (20_000, MAX_STALE_CONNECTIONS)] {
            // The other controller is as much worse as the rule says.
            let holds = Case::constant(networks, 1.0 / 1.5 - 1.0, 0.5);
            assert_eq!(holds.all(0..4, limit), (0, 0));
            // Nothing is expected, and there is no effect.
            let nothing = Case::constant(networks, 0.0, 0.0);
            assert_eq!(nothing.all(10..14, limit), (0, 0));
        }
    }

    #[test]
    fn a_rule_whose_reason_is_gone_is_taken_back_within_so_many_connections() {
        // The rule expects twice the throughput, and the other controller is as good.
        for networks in [1500, 20_000] {
            let (taken, most) =
                Case::constant(networks, 0.0, 1.0).all(100..108, MAX_STALE_CONNECTIONS);
            assert_eq!(taken, 8, "{networks}: {most}");
        }
    }

    #[test]
    fn with_the_fewest_explorers_a_strong_rule_whose_reason_is_gone_is_taken_back_too() {
        // A quarter of the usual explorers, as `learn` writes for gains that surely are 200 % or more.
        for networks in [1500, 20_000] {
            let few = Case {
                explore: EXPLORE / 4.0,
                ..Case::constant(networks, 0.0, 1.0)
            };
            let (taken, most) = few.all(400..408, 3 * MAX_STALE_CONNECTIONS);
            assert_eq!(taken, 8, "{networks}: {most}");
            println!("{networks}: {most}");
        }
    }

    #[test]
    fn a_reason_that_goes_after_a_long_time_shows_as_soon() {
        // The other controller had half the throughput, as the rule says, and then becomes as good.
        for (place, before) in [10_000, 60_000, 99_000, 140_000].into_iter().enumerate() {
            for seed in 0..2 {
                let seed = 300 + 2 * place as u64 + seed;
                let goes = Case {
                    first: (-0.5, before),
                    ..Case::constant(4000, 0.0, 1.0)
                };
                let after = goes.taken_back(seed, MAX_STALE_CONNECTIONS);
                assert!(after.is_some_and(|after| after > 0), "{before}: {after:?}");
            }
        }
    }

    #[test]
    fn a_rule_that_has_become_wrong_is_taken_back_within_so_many_connections() {
        // The other controller is faster by half.
        for networks in [1500, 20_000] {
            let (taken, most) =
                Case::constant(networks, 0.5, 0.0).all(200..208, MAX_STALE_CONNECTIONS);
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
            // There is no such arm, and no such rule.
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

    /// The rule's connections one by one, from ever new networks. One in ten explores.
    struct Stream {
        watch: Watch,
        number: u64,
    }

    impl Stream {
        /// Adds this many connections. Explorers' throughput is `by` times the others'. True if the rule becomes stale.
        fn go(&mut self, connections: u64, by: u64) -> bool {
            (0..connections).any(|_| {
                self.number += 1;
                let arm = usize::from(self.number.is_multiple_of(10));
                let more = if arm == 1 { by } else { 1 };
                let of = Observation {
                    scope: crate::observation::Scope::Object,
                    unit: self.number,
                    arm,
                    acknowledged: 4_000_000 * more,
                    busy: units::Duration::from_millis(1000 + self.number / 10 % 7 * 100),
                    packets: 3000,
                    resent: 0,
                    rtt: None,
                    groups: Vec::new(),
                };
                self.watch.add(0, &of).is_some()
            })
        }

        fn rule(&self) -> &Watched {
            &self.watch.rules[0]
        }
    }

    fn stream() -> Stream {
        let made = Made {
            arms: 2,
            expect: 0.0,
        };
        Stream {
            watch: Watch::new([made]),
            number: 0,
        }
    }

    #[test]
    fn one_doubt_is_not_enough() {
        let mut stream = stream();
        // The first hundred explorers, and the second.
        assert!(!stream.go(999, 2) && stream.rule().doubt.is_none());
        assert!(!stream.go(1, 2) && stream.rule().doubt == Some(1));
        assert!(!stream.go(999, 2));
        assert!(stream.go(1, 2));
    }

    #[test]
    fn a_doubt_is_forgotten_when_a_window_ends_without_another() {
        let mut stream = stream();
        assert!(!stream.go(1000, 2));
        assert!(!stream.go(MAX_WINDOW_OBJECTS - 1, 1) && stream.rule().doubt == Some(1));
        assert!(!stream.go(1, 1) && stream.rule().doubt.is_none());
        // The next doubt is a first one.
        while stream.rule().doubt.is_none() {
            assert!(!stream.go(1000, 2));
        }
        assert!(stream.go(1000, 2));
    }

    #[test]
    fn old_windows_end() {
        let mut stream = stream();
        for _ in 0..20 {
            assert!(!stream.go(12_500, 1));
            let windows = &stream.rule().windows;
            let sizes: Vec<u64> = windows.iter().map(|window| window.objects).collect();
            assert!(
                sizes.len() <= 5 && sizes.iter().all(|size| *size < 100_000),
                "{sizes:?}"
            );
        }
    }
}
